"""Raw files: finding them below a folder, and their text as lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from xharness.errors import InputError

LANGUAGE = re.compile(r"(?:[a-z]{2,3}(?:-[a-z]+)*|simple)")
"""A language code as treebanks and Wikipedia editions spell it: ``en``, ``be-x-old``, ``simple``."""


def find_files(raw: Path, wanted: Callable[[Path], bool]) -> list[Path]:
    """The files at or below ``raw`` that are wanted, in the order of their names.

    The order is by file name, not by path, as the official scripts pool treebanks; equal names
    go by path. Hidden files (``._train`` of a Mac archive) are never taken.

    Raises:
        InputError: ``raw`` does not exist or cannot be listed.
    """
    try:
        if raw.is_file():
            found: Iterable[Path] = [raw]
        elif raw.is_dir():
            found = [path for path in raw.rglob("*") if path.is_file()]
        else:
            raise InputError("no such file or folder", where=raw, mend="check --from")
    except OSError as problem:
        raise InputError(f"cannot read: {problem.strerror or problem}", where=raw) from problem
    kept = (path for path in found if not path.name.startswith(".") and wanted(path))
    return sorted(kept, key=lambda path: (path.name, path.as_posix()))


def unique_names(paths: Iterable[Path]) -> list[Path]:
    """The same paths; refused where two bear one file name.

    Raises:
        InputError: Two folders hold a file of one name, so that it would be counted twice.
    """
    seen: dict[str, Path] = {}
    for path in paths:
        if path.name in seen:
            raise InputError(
                f"a second file of this name, after {seen[path.name]}",
                where=path,
                mend="leave one of them, or point --from at one folder",
            )
        seen[path.name] = path
    return list(seen.values())


def read_bytes(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        InputError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as problem:
        raise InputError(f"cannot read: {problem.strerror or problem}", where=path) from problem


def decode(data: bytes, where: str | Path, counts: Counter[str]) -> str:
    """The text of UTF-8 bytes, without a byte order mark (counted as ``byte_order_marks``).

    Raises:
        InputError: The bytes are not UTF-8; file and line are named.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise InputError(
            f"not UTF-8 (byte 0x{data[problem.start]:02x})",
            where=f"{where}:{line}",
            mend="save the file as UTF-8",
        ) from problem
    if text.startswith("\ufeff"):
        counts["byte_order_marks"] += 1
        return text[1:]
    return text


def split_lines(text: str, counts: Counter[str]) -> list[str]:
    r"""The lines of a text, split on ``\n`` only, each without its line end.

    Cells of these data hold U+001C, U+001D and U+2028, at which ``str.splitlines`` would cut.
    A ``\r`` at the end of a line is taken off and counted as ``crlf_lines``. The last line needs
    no line end.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if "\r" in text:
        for index, line in enumerate(lines):
            if line.endswith("\r"):
                lines[index] = line[:-1]
                counts["crlf_lines"] += 1
    return lines


def read_lines(path: Path, counts: Counter[str]) -> list[str]:
    """The lines of a UTF-8 file: ``split_lines`` of ``decode`` of ``read_bytes``."""
    return split_lines(decode(read_bytes(path), path, counts), counts)
