"""Folders that must be writable, what they hold, and the space that is left."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from xharness.doctor.findings import Finding, size_text

#: Below this much free space the report says what a checkpoint takes.
_LITTLE_ROOM = 5 * 1024**3


def cache_folders() -> dict[str, Path]:
    """Return the cache folders in use: encodings, the hub's files, and tables of data sets."""
    from huggingface_hub import constants

    from xharness.models.encoding_cache import cache_folder

    tables = os.environ.get("HF_DATASETS_CACHE") or Path(constants.HF_HOME) / "datasets"
    return {
        "encodings": cache_folder(),
        "hub cache": Path(constants.HF_HUB_CACHE),
        "datasets cache": Path(tables),
    }


def examine_folders(caches: Mapping[str, Path]) -> Iterator[Finding]:
    """Examine cache folders and the working folder, and the space where they lie."""
    for name, folder in caches.items():
        reason = _unwritable(folder)
        if reason is not None:
            mend = "make it writable, or set XHARNESS_CACHE or HF_HOME to a folder that is"
            yield Finding("folders", name, f"{folder}: not writable: {reason}", mend, fault=True)
            continue
        files, size = _content(folder)
        held = f"{files} files, {size_text(size)}" if folder.is_dir() else "not there yet"
        yield Finding("folders", name, f"{folder}: writable, {held}")
    here = Path.cwd()
    reason = _unwritable(here)
    yield Finding(
        "folders",
        "working folder",
        f"{here}: {'writable' if reason is None else f'not writable: {reason}'}",
        None if reason is None else "give an --output elsewhere",
    )
    for name, folder in {"working folder": here, **caches}.items():
        usage = shutil.disk_usage(_nearest(folder))
        little = usage.free < _LITTLE_ROOM
        yield Finding(
            "disk space",
            name,
            f"{size_text(usage.free)} free of {size_text(usage.total)}",
            "a fine-tuned model of 278 M parameters takes 1.1 GB" if little else None,
        )


def _nearest(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that exists."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def _unwritable(folder: Path) -> str | None:
    """Return why no file can be made in a folder; one that is not there yet would be made in the one above.

    Permission bits are not asked: they say nothing of read-only mounts, quotas and the superuser.
    """
    place = _nearest(folder)
    if not place.is_dir():
        return f"{place} is no folder"
    try:
        with tempfile.TemporaryFile(dir=place):
            return None
    except OSError as error:
        return error.strerror or str(error)


def _content(folder: Path) -> tuple[int, int]:
    """Return the number of files below a folder and their size in bytes; links count for nothing."""
    files = size = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                status = os.lstat(Path(path, name))
            except FileNotFoundError:  # another process tidies up
                continue
            if not Path(path, name).is_symlink():
                files, size = files + 1, size + status.st_size
    return files, size
