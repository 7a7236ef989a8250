"""Parallel text: line i of one file translates line i of the other."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xharness.data.lines import decode, digest
from xharness.errors import InputError
from xharness.translation.config import TranslationConfig

#: Bytes of text that one file may hold: a damaged or hostile archive unfolds to more than any memory holds.
MAX_BYTES = 2**30


@dataclass(frozen=True)
class ParallelText:
    """Sentences and their translations, of equal number.

    Attributes:
        source: Sentences.
        target: Their translations.
        origin: SHA-256 of each file by name.
        counts: What was mended, by name: byte order marks and carriage returns taken off.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    origin: dict[str, str]
    counts: dict[str, int]

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True)
class TranslationData:
    """The three splits of a translation task."""

    train: ParallelText
    dev: ParallelText
    test: ParallelText


def read_translation_data(folder: Path, config: TranslationConfig) -> TranslationData:
    """Read the splits that a configuration names.

    Raises:
        InputError: The folder or a file is absent, cannot be read, or is not parallel.
    """
    if not folder.is_dir():
        raise InputError("no such data folder", where=folder, mend="give one with --data DIR")
    names = config.splits
    train, dev, test = (
        read_parallel(
            find_side(folder, name, config.source), find_side(folder, name, config.target)
        )
        for name in (names.train, names.dev, names.test)
    )
    return TranslationData(train, dev, test)


def find_side(folder: Path, split: str, language: str) -> Path:
    """Return the file of one language of a split, plain or compressed.

    Raises:
        InputError: There is neither.
    """
    plain = folder / f"{split}.{language}"
    for path in (plain, plain.with_name(f"{plain.name}.gz")):
        if path.is_file():
            return path
    raise InputError("no such file", where=plain, mend=f"nor is there {plain.name}.gz")


def read_parallel(source: Path, target: Path) -> ParallelText:
    """Read two files of one sentence a line; a ``.gz`` is decompressed.

    Raises:
        InputError: A file is absent, damaged or not UTF-8, the files differ in their number of lines, or a line of
            one has no text.
    """
    counts: Counter[str] = Counter()
    sides = [_read_side(path, counts) for path in (source, target)]
    if len(sides[0]) != len(sides[1]):
        raise InputError(
            f"{len(sides[0])} lines, but {target} has {len(sides[1])}",
            where=source,
            mend="parallel files have as many lines",
        )
    for path, lines in zip((source, target), sides, strict=True):
        _check_lines(path, lines)
    origin = {path.name: digest(path) for path in (source, target)}
    return ParallelText(tuple(sides[0]), tuple(sides[1]), origin, dict(counts))


def _read_side(path: Path, counts: Counter[str]) -> list[str]:
    lines = decode(_read_bytes(path), path, counts).split("\n")
    if lines[-1] == "":
        lines.pop()
    counts["carriage_returns"] += sum(line.endswith("\r") for line in lines)
    return [line.removesuffix("\r") for line in lines]


def _read_bytes(path: Path) -> bytes:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"not a whole .gz archive: {error}", where=path, mend="fetch or compress it again"
        ) from error
    except FileNotFoundError as error:
        raise InputError("no such file", where=path) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=path) from error
    if len(content) > MAX_BYTES:
        raise InputError(f"holds more than {MAX_BYTES} bytes of text", where=path, mend="split it")
    return content


def _check_lines(path: Path, lines: Sequence[str]) -> None:
    if not lines:
        raise InputError("no sentence", where=path)
    for number, line in enumerate(lines, start=1):
        if not line or line.isspace():
            raise InputError(
                "the line has no text",
                where=f"{path}:{number}",
                mend="leave the line out of both files",
            )
