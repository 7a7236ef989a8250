"""Writing a leaderboard: every file of it, or none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from xharness.errors import InputError


def write_all(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their path below a folder; all are written aside before the first is renamed.

    Raises:
        InputError: One cannot be written; then none was changed, unless the renaming itself fails.
    """
    asides: list[tuple[Path, Path]] = []
    path = folder
    try:
        for name, content in files.items():
            path = folder / name
            aside = path.with_name(f".{path.name}.partial")
            path.parent.mkdir(parents=True, exist_ok=True)
            asides.append((aside, path))
            aside.write_bytes(content)
        for aside, path in asides:
            aside.replace(path)
    except OSError as error:
        for aside, _ in asides:
            aside.unlink(missing_ok=True)
        raise InputError(f"cannot be written: {error.strerror}", where=path) from error


def differing(folder: Path, files: Mapping[str, bytes], kept: frozenset[str]) -> list[str]:
    """Compare a folder with what it should hold.

    Args:
        folder: The folder.
        files: What it should hold, by path below it.
        kept: Names at its top that are none of its files.

    Returns:
        One line for each file that differs, is absent, or should not be there.
    """
    found = []
    for name, content in sorted(files.items()):
        path = folder / name
        if not path.is_file():
            found.append(f"{path}: is absent")
        elif path.read_bytes() != content:
            found.append(f"{path}: is stale")
    return found + [f"{folder / name}: is left over" for name in leftovers(folder, files, kept)]


def leftovers(folder: Path, files: Mapping[str, bytes], kept: frozenset[str]) -> list[str]:
    """Return the files below a folder that it should not hold, by path below it."""
    present = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(
        path.as_posix()
        for path in present
        if path.parts[0] not in kept and path.as_posix() not in files
    )
