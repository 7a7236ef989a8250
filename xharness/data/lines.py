"""Reading a text file into lines, the same way everywhere."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xharness.errors import InputError

_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line begins: its number from 1, and the number of bytes before it."""

    line: int
    offset: int


BEGINNING = Place(1, 0)


class LineFile:
    """A file whose lines are read one after the other, so that it needs no memory of its size.

    Args:
        path: The file.
        counts: Where byte order marks and carriage returns are counted.
        start: The line to begin with.

    Attributes:
        path: The file.
        counts: Where more may be counted.
        next: Where the line begins that will be read next.
    """

    def __init__(self, path: Path, counts: Counter[str], start: Place = BEGINNING):
        self.path, self.counts, self.next = path, counts, start

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Yield each line's number and text, by the rules of ``read_lines``.

        Raises:
            InputError: The file cannot be read, or the line is not UTF-8.
        """
        try:
            with self.path.open("rb") as file:
                file.seek(self.next.offset)
                for raw in file:  # bytes are cut at line feeds only
                    here = self.next
                    self.next = Place(here.line + 1, here.offset + len(raw))
                    yield here.line, self._text(raw.removesuffix(b"\n"), here)
        except OSError as error:
            raise _unreadable(self.path, error) from error

    def _text(self, raw: bytes, here: Place) -> str:
        if not here.offset and raw.startswith(_MARK):
            self.counts["byte_order_marks"] += 1
            raw = raw[len(_MARK) :]
        if raw.endswith(b"\r"):
            self.counts["carriage_returns"] += 1
            raw = raw[:-1]
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _not_utf8(raw[error.start], self.path, here.line) from error


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes.

    Raises:
        InputError: The file is absent or cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError("no such file", where=path)
    return InputError(f"cannot be read: {error.strerror}", where=path)


def _not_utf8(byte: int, path: Path, line: int) -> InputError:
    return InputError(
        f"byte 0x{byte:02x} is not UTF-8", where=f"{path}:{line}", mend="convert the file to UTF-8"
    )


def decode(content: bytes, path: Path, counts: Counter[str]) -> str:
    """Decode UTF-8; a byte order mark is taken off and counted.

    Raises:
        InputError: The bytes are not UTF-8; the message names the line.
    """
    if content.startswith(_MARK):
        counts["byte_order_marks"] += 1
        content = content[len(_MARK) :]
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _not_utf8(content[error.start], path, line) from error


def read_lines(path: Path, counts: Counter[str]) -> list[str]:
    r"""Return a file's lines without their ends.

    Lines end at ``\n`` only: U+001C, U+001D, U+0085 and U+2028 occur inside official files. A byte order
    mark and carriage returns before ``\n`` are taken off and counted.
    """
    text = decode(read_bytes(path), path, counts)
    if text.endswith("\n"):
        text = text[:-1]
    elif not text:
        return []
    lines = text.split("\n")
    if "\r" in text:
        carriage_returns = sum(line.endswith("\r") for line in lines)
        if carriage_returns:
            counts["carriage_returns"] += carriage_returns
            lines = [line.removesuffix("\r") for line in lines]
    return lines


def digest(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=path) from error
