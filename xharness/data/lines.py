"""Reading a text file into lines, the same way everywhere."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xharness.errors import InputError

_MARK = b"\xef\xbb\xbf"

_BLOCK_BYTES = 1 << 18


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line begins: its number from 1, and the number of bytes before it."""

    line: int
    offset: int


BEGINNING = Place(1, 0)


class LineFile:
    """A file whose lines are read a block at a time, so that it needs no memory of its size.

    Args:
        path: The file.
        counts: Where byte order marks and carriage returns are counted.
        start: The line to begin with.

    Attributes:
        path: The file.
        counts: Where more may be counted.
    """

    def __init__(self, path: Path, counts: Counter[str], start: Place = BEGINNING):
        self.path, self.counts = path, counts
        self._place, self._block, self._taken = start, [""], 0

    @property
    def next(self) -> Place:
        """Where the line begins that will be read next."""
        taken = self._block[: self._taken]
        size = sum(map(len, map(str.encode, taken))) + self._taken
        return Place(self._place.line + self._taken, self._place.offset + size)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Yield each line's number and text, by the rules of ``read_lines``.

        Raises:
            InputError: The file cannot be read, or its next lines are not UTF-8.
        """
        try:
            with self.path.open("rb") as file:
                start = self._place
                file.seek(start.offset)
                while content := file.read(_BLOCK_BYTES):
                    content += file.readline()
                    yield from self._lines(content, start)
                    start = Place(start.line + len(self._block), start.offset + len(content))
        except OSError as error:
            raise _unreadable(self.path, error) from error

    def _lines(self, content: bytes, start: Place) -> Iterator[tuple[int, str]]:
        if not start.offset and content.startswith(_MARK):
            self.counts["byte_order_marks"] += 1
            content = content[len(_MARK) :]
            start = Place(start.line, len(_MARK))
        text = _decode_from(content, self.path, start.line)
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        self._place, self._block = start, lines
        carriage_returns = "\r" in text
        for number, line in enumerate(lines, start=start.line):
            self._taken = number + 1 - start.line
            if carriage_returns and line.endswith("\r"):
                self.counts["carriage_returns"] += 1
                line = line[:-1]
            yield number, line


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


def decode(content: bytes, path: Path, counts: Counter[str]) -> str:
    """Decode UTF-8; a byte order mark is taken off and counted.

    Raises:
        InputError: The bytes are not UTF-8; the message names the line.
    """
    if content.startswith(_MARK):
        counts["byte_order_marks"] += 1
        content = content[len(_MARK) :]
    return _decode_from(content, path, 1)


def _decode_from(content: bytes, path: Path, line: int) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        number = line + content.count(b"\n", 0, error.start)
        raise InputError(
            f"byte 0x{content[error.start]:02x} is not UTF-8",
            where=f"{path}:{number}",
            mend="convert the file to UTF-8",
        ) from error


def read_lines(path: Path, counts: Counter[str]) -> list[str]:
    r"""Return a file's lines without their ends.

    Lines end at ``\n`` only: U+001C, U+001D, U+0085 and U+2028 occur inside official files. A byte order
    mark and carriage returns before ``\n`` are taken off and counted.

    Raises:
        InputError: The file cannot be read, or is not UTF-8; the message names the line.
    """
    return [line for _, line in LineFile(path, counts)]


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
