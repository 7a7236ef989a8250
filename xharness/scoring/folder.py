"""Finding the files of a submission: ``<task>/test-<language>`` and the suffix that the task's format has."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from xharness.errors import InputError
from xharness.specs.task import TaskSpec


def file_name(task: TaskSpec, language: str) -> str:
    """Return the file's place below a predictions or labels folder, such as ``xnli/test-en.tsv``."""
    return f"{task.name}/{task.file_name(language)}"


def check_folder(folder: Path, option: str) -> None:
    """Refuse a folder that does not exist.

    Raises:
        InputError: ``folder`` is no folder; ``option`` is what the user gave it with.
    """
    if not folder.is_dir():
        raise InputError(
            "no such folder", where=folder, mend=f"give {option} the folder that holds <task>/"
        )


def find_file(folder: Path, name: str) -> Path | None:
    """Return the regular file of that name, or None where there is none.

    Raises:
        InputError: The path leads out of the folder (a submission may come from anyone, and a link could
            read any file of this machine), is a broken link, or is no regular file.
    """
    path = folder / name
    linked = path.is_symlink() or path.parent.is_symlink()
    if not path.exists():
        if linked:
            raise InputError("broken symbolic link", where=path, mend="put the file in its place")
        return None
    if linked and not path.resolve().is_relative_to(folder.resolve()):
        raise InputError(
            "symbolic link that leads out of the folder",
            where=path,
            mend="copy the file into the folder",
        )
    if not path.is_file():
        raise InputError("not a regular file", where=path)
    return path


def ignored_entries(folder: Path, tasks: Iterable[str], read: Collection[str]) -> list[str]:
    """Name what a folder holds beside the files that were read, relative to it, sorted.

    Args:
        folder: The predictions folder.
        tasks: Names of the task folders, which are looked into; others are named whole, as ``other/``.
        read: Names of the files that were scored.
    """
    entries: list[str] = []
    known = set(tasks)
    for entry in folder.iterdir():
        if entry.name in known and entry.is_dir():
            entries.extend(
                f"{entry.name}/{inner.name}" + "/" * inner.is_dir() for inner in entry.iterdir()
            )
        else:
            entries.append(entry.name + "/" * entry.is_dir())
    return sorted(set(entries).difference(read))


def check_layout(folder: Path, names: Collection[str], read: Collection[str]) -> None:
    """Refuse a predictions folder with none of the expected files: it is likely the wrong one.

    Raises:
        InputError: ``read`` is empty; a folder further down that does hold such files is suggested.
    """
    if read:
        return
    if not any(folder.iterdir()):
        raise InputError("empty folder", where=folder, mend="give a folder that holds <task>/")
    wanted = set(names)
    for inner in sorted(path for path in folder.iterdir() if path.is_dir()):
        if any((inner / name).is_file() for name in wanted):
            raise InputError("no prediction file here", where=folder, mend=f"did you mean {inner}?")
    example = min(wanted)
    raise InputError(
        "no prediction file here", where=folder, mend=f"files are named like {example}"
    )
