"""Which files of a data folder belong to a task: those that the protocol reads, and others in the same layout."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from xharness.data.checks.findings import FileReport, Finding
from xharness.data.examples import SplitName
from xharness.data.readers import OPTIONAL_PARTS
from xharness.specs.languages import language_table
from xharness.specs.task import FileSource, PathPattern, TaskSpec, placeholders

_SPLITS: tuple[SplitName, ...] = ("train", "dev", "test")

#: ``en`` as a word of its own in a file name such as ``train-en.tsv``.
_ENGLISH = re.compile(r"(?<![A-Za-z])en(?![A-Za-z])")


@dataclass(frozen=True)
class DataFile:
    """The files of one split in one language, as far as they are there.

    Attributes:
        task: The task.
        split: Split name.
        language: Language code.
        paths: Path of each part that exists.
        needed: Whether a run reads it.
    """

    task: TaskSpec
    split: SplitName
    language: str
    paths: dict[str, Path]
    needed: bool


@dataclass(frozen=True)
class _Hole:
    """A language's absent file; ``partly`` where other parts of the same split are there."""

    language: str
    path: Path
    partly: bool


def data_files(
    root: Path, task: TaskSpec, files: FileSource, languages: Collection[str] | None
) -> tuple[list[DataFile], list[Finding]]:
    """Find a task's files.

    Beside the files that a run reads, those of other languages are found, dev and training files among them: where a
    pattern names English alone, any language may stand in its place.

    Args:
        root: The data folder.
        task: The task.
        files: Its file source.
        languages: Languages to look for; all where absent. English training and dev files always belong.

    Returns:
        The files, and findings for those that are needed but absent.
    """
    found: list[DataFile] = []
    optional = OPTIONAL_PARTS.get(files.format, frozenset())
    absent: dict[SplitName, list[_Hole]] = {}
    taken: set[tuple[Path, ...]] = set()
    for split in _SPLITS:
        pattern: PathPattern | None = getattr(files, split)
        if pattern is None:
            continue
        for language, paths in _candidates(root, pattern, files, task):
            needed = language in (task.languages if _by_language(pattern) else ("en",))
            english = not _by_language(pattern) and language == "en"
            if languages is not None and language not in languages and not english:
                continue
            there = {part: path for part, path in paths.items() if path.is_file()}
            missing = [p for part, p in paths.items() if part not in optional and part not in there]
            # A part that all languages share says nothing about one of them.
            own = tuple(there[part] for part in _parts_by_language(pattern) if part in there)
            if missing:
                # Where one side of a bitext is there, it is the other that is missing.
                if needed or own:
                    absent.setdefault(split, []).append(_Hole(language, missing[0], bool(own)))
            elif own not in taken or not own:
                taken.add(own)
                found.append(DataFile(task, split, language, there, needed))
    return found, _missing(task, files, found, absent)


def _by_language(pattern: PathPattern) -> bool:
    return any("{" in part for part in _parts(pattern).values())


def _parts_by_language(pattern: PathPattern) -> list[str]:
    """Return the parts whose path depends on the language."""
    parts = _parts(pattern)
    general = parts if _by_language(pattern) else {p: _any_language(t) for p, t in parts.items()}
    return [part for part, template in general.items() if "{" in template]


def _parts(pattern: PathPattern) -> dict[str, str]:
    return {"file": pattern} if isinstance(pattern, str) else pattern


def _candidates(
    root: Path, pattern: PathPattern, files: FileSource, task: TaskSpec
) -> Iterator[tuple[str, dict[str, Path]]]:
    """Yield a language and the paths that its files would have, the task's languages first."""
    parts = _parts(pattern)
    if not _by_language(pattern):
        general = {part: _any_language(p) for part, p in parts.items()}
        if general == parts:
            yield "en", {part: root / p for part, p in parts.items()}
            return
        parts = general
    for language in dict.fromkeys(("en", *task.languages, *language_table())):
        values = placeholders(language, files.names)
        yield language, {part: root / p.format_map(values) for part, p in parts.items()}


def _any_language(pattern: str) -> str:
    folder, slash, name = pattern.rpartition("/")
    return folder + slash + _ENGLISH.sub("{language}", name)


def _missing(
    task: TaskSpec,
    files: FileSource,
    found: Sequence[DataFile],
    absent: dict[SplitName, list[_Hole]],
) -> list[Finding]:
    """Return findings for absent files; one for a whole test split of which nothing is there."""
    findings: list[Finding] = []
    there = {(file.split, file.language) for file in found}
    for split, holes in absent.items():
        stand_in = {"test": files.test_stand_in, "train": files.train_stand_in}.get(split)
        stood_in = [hole.language for hole in holes if (stand_in, hole.language) in there]
        whole = [hole for hole in holes if not hole.partly]
        nothing = all(other != split for other, _ in there) and not stood_in
        if split == "test" and nothing and len(whole) > 1:
            languages = ", ".join(hole.language for hole in whole)
            report = FileReport(task.name, split, None, whole[0].path)
            report.hit("missing_file", about=f"{languages}:", count=len(whole))
            findings += report.findings()
            holes = [hole for hole in holes if hole.partly]
        for hole in holes:
            language = hole.language
            report = FileReport(task.name, split, language, hole.path)
            if language in stood_in:
                report.hit("stand_in", example=stand_in)
            elif split == "dev" and task.method == "mining":
                # Without the test files, they are what is missing; with them, no threshold can be set.
                if ("test", language) in there:
                    report.hit("missing_file")
            elif split == "dev":
                report.hit("missing_dev")
            else:
                report.hit("missing_file")
            findings += report.findings()
    return findings


def stray_files(root: Path, found: Sequence[DataFile]) -> list[Finding]:
    """Return a note for each folder of a task that holds files which no pattern names."""
    read = {path for file in found for path in file.paths.values()}
    folders: dict[Path, DataFile] = {}
    for file in found:
        for path in file.paths.values():
            folders.setdefault(path.parent, file)
    findings: list[Finding] = []
    for folder, file in folders.items():
        others = [
            path
            for path in sorted(folder.iterdir())
            if path.is_file() and path not in read and not path.name.startswith(".")
        ]
        if others and folder != root:
            report = FileReport(file.task.name, None, None, folder)
            report.hit("files_not_read", example=others[0].name, count=len(others))
            findings += report.findings()
    return findings
