"""Reading a text file into lines, the same way everywhere."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

from xharness.errors import InputError


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes.

    Raises:
        InputError: The file is absent or cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise InputError("no such file", where=path) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=path) from error


def decode(content: bytes, path: Path, counts: Counter[str]) -> str:
    """Decode UTF-8; a byte order mark is taken off and counted.

    Raises:
        InputError: The bytes are not UTF-8; the message names the line.
    """
    if content.startswith(b"\xef\xbb\xbf"):
        counts["byte_order_marks"] += 1
        content = content[3:]
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"byte 0x{content[error.start]:02x} is not UTF-8",
            where=f"{path}:{line}",
            mend="convert the file to UTF-8",
        ) from error


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
