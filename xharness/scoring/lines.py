r"""Reading text files line by line: UTF-8, lines end with ``\n`` only, nothing dropped uncounted.

Data hold U+001C, U+0085 and U+2028, at which ``str.splitlines`` would cut. As the official script does, every line is
stripped of white space at both ends; what it mistakes is mended and counted: a byte order mark stays no part of the
first label, and blank lines at the end are no examples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xharness.errors import InputError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class Lines:
    """The lines of a file with one label or pair a line.

    Attributes:
        path: The file.
        values: Every line up to the last that is not blank, stripped.
        counts: How often something about the file needed mending.
    """

    path: Path
    values: list[str]
    counts: Counter[str]


def read_bytes(path: Path) -> tuple[bytes, Counter[str]]:
    """Return the content of a file without its byte order mark, and the count of such marks.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(error.strerror or "cannot be read", where=path) from error
    counts: Counter[str] = Counter()
    if data.startswith(BYTE_ORDER_MARK):
        data = data[len(BYTE_ORDER_MARK) :]
        counts["byte_order_marks"] = 1
    return data, counts


def byte_blocks(path: Path, counts: Counter[str]) -> Iterator[bytes]:
    """Yield a file's content in blocks of whole lines, without its byte order mark, which is counted.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        with path.open("rb") as file:
            first = True
            while block := file.read(_BLOCK_BYTES):
                block += file.readline()
                if first and block.startswith(BYTE_ORDER_MARK):
                    block = block[len(BYTE_ORDER_MARK) :]
                    counts["byte_order_marks"] = 1
                first = False
                yield block
    except OSError as error:
        raise InputError(error.strerror or "cannot be read", where=path) from error


def decode(data: bytes, path: Path, first_line: int = 1) -> str:
    """Decode UTF-8.

    Args:
        data: The bytes, without a byte order mark.
        path: The file, for the message.
        first_line: Number of the line that ``data`` begins with.

    Raises:
        InputError: The bytes are not UTF-8; the message names the line.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        raise InputError(
            f"not UTF-8 (byte 0x{data[error.start]:02x})",
            where=f"{path}:{line}",
            mend="save the file as UTF-8",
        ) from error


def refuse_carriage_return(where: str) -> InputError:
    """Return the error for a carriage return inside a line, where it is unclear how many lines were meant."""
    return InputError("carriage return inside a line", where=where, mend="end lines with LF")


class LineBlocks:
    """The lines of a file with one label or pair a line, read a block at a time.

    Args:
        path: The file.

    Attributes:
        path: The file.
        counts: How often something about the file needed mending; complete when all was read.
    """

    def __init__(self, path: Path):
        self.path = path
        self.counts: Counter[str] = Counter()

    def __iter__(self) -> Iterator[list[str]]:
        """Yield lines, stripped; blank ones are empty strings, those at the end included.

        Raises:
            InputError: The file cannot be read, is not UTF-8, or has a carriage return inside a line.
        """
        before = 0
        for block in byte_blocks(self.path, self.counts):
            text = decode(block, self.path, before + 1)
            raw = text.split("\n")
            if not raw[-1]:
                raw.pop()
            if "\r" in text:
                self.counts["crlf_lines"] += sum(line.endswith("\r") for line in raw)
                raw = [line.removesuffix("\r") for line in raw]
                for number, line in enumerate(raw, start=before + 1):
                    if "\r" in line:
                        raise refuse_carriage_return(f"{self.path}:{number}")
            stripped = [line.strip() for line in raw]
            if sum(map(len, raw)) != sum(map(len, stripped)):
                self.counts["padded_lines"] += sum(map(str.__ne__, raw, stripped))
            before += len(raw)
            yield stripped


def read_lines(path: Path) -> Lines:
    """Read a file with one label or pair a line.

    Raises:
        InputError: The file cannot be read, is not UTF-8, or has a carriage return inside a line.
    """
    blocks = LineBlocks(path)
    values = [line for block in blocks for line in block]
    end = filled(values)
    blocks.counts["trailing_blank_lines"] = len(values) - end
    return Lines(path, values[:end], blocks.counts)


def filled(values: list[str]) -> int:
    """Return the number of lines up to the last that is not blank."""
    end = len(values)
    while end and not values[end - 1]:
        end -= 1
    return end
