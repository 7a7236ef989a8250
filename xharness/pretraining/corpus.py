"""Text to pre-train on: one file a language or numbered parts of it, plain or compressed, read as a stream."""

from __future__ import annotations

import gzip
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import zstandard

from xharness.errors import InputError

_NAME = re.compile(
    r"(?P<language>[A-Za-z0-9][A-Za-z0-9_-]*)(?P<kind>\.dev|\.[0-9]+)?\.txt(?:\.(?:gz|xz|zst))?"
)

#: Bytes taken from a file at one time.
_CHUNK = 1 << 20

#: A longer line is no sentence or paragraph; reading it would take memory without bound.
_LONGEST_LINE = 1 << 28

#: ``zstd --long=31`` needs this window.
_ZSTD_WINDOW = 1 << 31


@dataclass(frozen=True)
class CorpusFiles:
    """The text of one language.

    Attributes:
        language: Its code, as the file names give it.
        train: Training text, in order: one file, or its numbered parts.
        dev: Held-out text.
    """

    language: str
    train: tuple[Path, ...]
    dev: Path | None


def find_corpus(folder: Path, languages: Sequence[str] | None = None) -> dict[str, CorpusFiles]:
    """Find the text of each language in a folder.

    Training text is ``<language>.txt``, or parts ``<language>.1.txt``, ``<language>.2.txt`` and so on in the order
    of their numbers; held-out text is ``<language>.dev.txt``; each may end in ``.gz``, ``.xz`` or ``.zst``. Other
    files are no part of a corpus.

    Args:
        folder: Where the files are.
        languages: Those wanted; every language with training text where ``None``.

    Returns:
        The files by language, sorted by language.

    Raises:
        InputError: The folder cannot be read or holds no text, a wanted language has none, or two files hold the
            same text, as ``de.txt`` and ``de.txt.gz`` do.
    """
    found: dict[str, dict[int | None, Path]] = {}
    held_out: dict[str, Path] = {}
    for path in _files(folder):
        match = _NAME.fullmatch(path.name)
        if match is None:
            continue
        language, kind = match["language"], match["kind"]
        if kind == ".dev":
            _only(path, held_out.setdefault(language, path))
        else:
            part = None if kind is None else int(kind[1:])
            parts = found.setdefault(language, {})
            _only(path, parts.setdefault(part, path))
            if None in parts and len(parts) > 1:
                _only(parts[None], next(p for number, p in parts.items() if number is not None))
    if not found:
        raise InputError(
            "no text",
            where=folder,
            mend="name the files <language>.txt, .txt.gz, .txt.xz or .txt.zst",
        )
    wanted = sorted(found) if languages is None else sorted(set(languages))
    absent = [language for language in wanted if language not in found]
    if absent:
        raise InputError(
            f"no text for {', '.join(absent)}",
            where=folder,
            mend=f"add {absent[0]}.txt or leave the language out; there are {', '.join(sorted(found))}",
        )
    return {
        language: CorpusFiles(
            language,
            tuple(
                path for _, path in sorted(found[language].items(), key=lambda item: item[0] or 0)
            ),
            held_out.get(language),
        )
        for language in wanted
    }


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=folder) from error


def _only(path: Path, other: Path) -> None:
    if path != other:
        raise InputError(
            f"{other.name} and {path.name} are the same text twice",
            where=path.parent,
            mend="keep one of them",
        )


def read_lines(path: Path, counts: Counter[str]) -> Iterator[str]:
    r"""Yield a text file's lines that are not blank, without their ends.

    Lines end at ``\n`` only. A byte order mark and carriage returns before ``\n`` are taken off.

    Args:
        path: A plain or compressed file; its ending decides.
        counts: Raised while reading: ``lines`` (yielded), ``blank_lines``, ``byte_order_marks``,
            ``carriage_returns``, ``bytes`` (of text), ``file_bytes`` (of the file as it lies on disk).

    Raises:
        InputError: The file cannot be read, is no whole archive, is not UTF-8 (the message names the line), or
            holds nothing but blank lines.
    """
    number = 1
    yielded = False
    rest = b""
    for chunk in _chunks(path, counts):
        if number == 1 and not rest and chunk.startswith(b"\xef\xbb\xbf"):
            counts["byte_order_marks"] += 1
            chunk = chunk[3:]
        whole, newline, tail = chunk.rpartition(b"\n")
        if not newline:
            rest += tail
            if len(rest) > _LONGEST_LINE:
                raise InputError(
                    f"line of more than {_LONGEST_LINE} bytes",
                    where=f"{path}:{number}",
                    mend="put one sentence or paragraph on a line",
                )
            continue
        block = rest + whole
        rest = tail
        for line in _clean_lines(block, path, number, counts):
            yielded = True
            yield line
        number += block.count(b"\n") + 1
    if rest:
        for line in _clean_lines(rest, path, number, counts):
            yielded = True
            yield line
    if not yielded:
        raise InputError(
            "holds no text", where=path, mend="add text or leave the language or the file out"
        )


def _clean_lines(block: bytes, path: Path, number: int, counts: Counter[str]) -> Iterator[str]:
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError as error:
        place = number + block.count(b"\n", 0, error.start)
        raise InputError(
            f"byte 0x{block[error.start]:02x} is not UTF-8",
            where=f"{path}:{place}",
            mend="convert the file to UTF-8",
        ) from error
    for line in text.split("\n"):
        if line.endswith("\r"):
            counts["carriage_returns"] += 1
            line = line[:-1]
        if not line or line.isspace():
            counts["blank_lines"] += 1
        else:
            counts["lines"] += 1
            yield line


def _chunks(path: Path, counts: Counter[str]) -> Iterator[bytes]:
    """Yield a file's decompressed bytes."""
    before = counts["file_bytes"]
    try:
        with path.open("rb") as file:
            for chunk in _decompressed(path, file):
                counts["bytes"] += len(chunk)
                counts["file_bytes"] = before + file.tell()
                yield chunk
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zstandard.ZstdError) as error:
        reason = str(error) or "damaged"
        raise InputError(
            f"not a whole {path.suffix} archive: {reason}",
            where=path,
            mend="fetch or compress it again",
        ) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=path) from error


def _decompressed(path: Path, file: BinaryIO) -> Iterator[bytes]:
    if path.suffix == ".zst":
        yield from _zstd_chunks(file)
        return
    with _opened(path, file) as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


def _opened(path: Path, file: BinaryIO) -> BinaryIO | gzip.GzipFile | lzma.LZMAFile:
    if path.suffix == ".gz":
        return gzip.GzipFile(fileobj=file)
    return lzma.LZMAFile(file) if path.suffix == ".xz" else file


def _zstd_chunks(file: BinaryIO) -> Iterator[bytes]:
    """Yield all frames' bytes; the library's own readers take a file cut short for a whole one."""
    context = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    frame = context.decompressobj()
    inside = False
    while data := file.read(_CHUNK):
        while data:
            inside = True
            if chunk := frame.decompress(data):
                yield chunk
            if not frame.eof:
                break
            data, inside = frame.unused_data, False
            frame = context.decompressobj()
    if inside:
        raise EOFError("the last frame is cut short")
