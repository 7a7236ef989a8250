"""Where splits come from: a data folder, or the hub (``xharness.data.hub``)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol

from xharness.data.examples import Bitext, Sentences, Split, SplitName
from xharness.data.lines import digest
from xharness.data.readers import OPTIONAL_PARTS, PARTIAL_NOTES, READERS
from xharness.errors import InputError
from xharness.specs.task import FileSource, PathPattern, TaskSpec, placeholders


class DataSource(Protocol):
    """What a run reads its splits from."""

    def has(self, task: TaskSpec, split: SplitName, language: str) -> bool:
        """Return whether the split can be read, a stand-in included."""
        ...

    def read(self, task: TaskSpec, split: SplitName, language: str, limit: int | None) -> Split:
        """Read a split, at most ``limit`` examples of it.

        Raises:
            InputError: It is absent or does not read.
        """
        ...

    def describe(self) -> dict[str, str]:
        """Return what a record says of the source as a whole."""
        ...


@dataclass(frozen=True)
class _Located:
    """Where a split lies: in which layout, each part's path, what is needed but absent, and as which split."""

    files: FileSource
    paths: dict[str, Path]
    absent: tuple[Path, ...]
    stand_in: SplitName | None


class FileDataSource:
    """Splits below a folder, found by the patterns of each task's ``sources.files``.

    Args:
        root: The data folder.

    Raises:
        InputError: ``root`` is no folder.
    """

    def __init__(self, root: Path):
        if not root.is_dir():
            raise InputError("no such data folder", where=root, mend="give one with --data DIR")
        self.root = root

    def describe(self) -> dict[str, str]:
        """Name the kind of source; digests are in each split's ``origin``."""
        return {"source": "files", "folder": self.root.name}

    def has(self, task: TaskSpec, split: SplitName, language: str) -> bool:
        """Return whether every file that the split needs is there, in any of the layouts, or its stand-in's."""
        return self._locate(task, split, language).absent == ()

    def read(self, task: TaskSpec, split: SplitName, language: str, limit: int | None) -> Split:
        """Read a split; its origin holds the SHA-256 of each file."""
        located = self._locate(task, split, language)
        files, paths, stand_in = located.files, located.paths, located.stand_in
        if not paths:
            raise InputError(f"task {task.name} has no {split} split")
        if located.absent:
            raise InputError(
                f"no such file, needed for {task.name} {split} {language}",
                where=located.absent[0],
                mend=_nearest(located.absent[0]),
            )
        lacking = [part for part, path in paths.items() if not path.is_file()]
        paths = {part: path for part, path in paths.items() if path.is_file()}
        origin = {str(path.relative_to(self.root)): digest(path) for path in paths.values()}
        for name, found in origin.items():
            expected = files.sha256.get(name, found)
            if expected != found:
                raise InputError(
                    f"SHA-256 is {found}, the specification expects {expected}",
                    where=self.root / name,
                    mend="fetch the file again",
                )
        if split == "train" and stand_in is not None:
            origin["note"] = f"{task.name} trained on {stand_in}, the train files are absent"
        if lacking and files.format in PARTIAL_NOTES:
            origin["note"] = PARTIAL_NOTES[files.format].format(parts=", ".join(lacking))
        counts: Counter[str] = Counter()
        reader = READERS[files.format]
        examples = reader(paths, task, stand_in or split, files.options, counts)
        if not examples:
            raise InputError(
                "no example in the file",
                where=next(iter(paths.values())),
                mend="an empty file would end as a score of nothing",
            )
        result = Split(
            task.name, split, language, examples, +counts, origin, stand_in, len(examples)
        )
        return limited(result, limit)

    def paths(self, files: FileSource, split: SplitName, language: str) -> dict[str, Path]:
        """Return the path of each part of a split in one layout; empty where it has no such split."""
        pattern: PathPattern | None = getattr(files, split)
        if pattern is None:
            return {}
        parts = {"file": pattern} if isinstance(pattern, str) else pattern
        values = placeholders(language, files.names)
        return {part: self.root / p.format_map(values) for part, p in parts.items()}

    def _locate(self, task: TaskSpec, split: SplitName, language: str) -> _Located:
        """Find a split: in each layout as it is, then as its stand-in. Nothing found is the first layout's."""
        layouts = _layouts(task)
        candidates = [_Located(layouts[0], {}, (), None)]
        for files in layouts:
            stand_ins = {"test": files.test_stand_in, "train": files.train_stand_in}
            for name in (split, stand_ins.get(split)):
                if name is None:
                    continue
                paths = self.paths(files, name, language)
                optional = OPTIONAL_PARTS.get(files.format, frozenset())
                absent = (
                    p for part, p in paths.items() if part not in optional and not p.is_file()
                )
                found = _Located(files, paths, tuple(absent), None if name == split else name)
                if paths and not found.absent:
                    return found
                candidates.append(found)
        first = next((c for c in candidates if c.paths), candidates[0])
        # A split that no layout has is absent too, though no path of it can be named.
        return first if first.paths else replace(first, absent=(self.root,))


def limited(split: Split, limit: int | None) -> Split:
    """Return the split cut to its first ``limit`` examples.

    In a bitext the source sentences of the first ``limit`` gold pairs stay and all targets do, so that the
    search is as hard as before; a corpus to mine (gold pairs fewer than sentences) is never cut.
    """
    if len(split.examples) == 1 and isinstance(split.examples[0], Bitext):
        bitext = split.examples[0]
        split = replace(split, available=len(bitext.source.ids))
        cuttable = bitext.gold is None or len(bitext.gold) == len(bitext.source.ids)
        if limit is None or not cuttable or limit >= len(bitext.source.ids):
            return split
        source = Sentences(bitext.source.ids[:limit], bitext.source.texts[:limit])
        gold = None if bitext.gold is None else bitext.gold[:limit]
        return replace(split, examples=[Bitext(source, bitext.target, gold)])
    if limit is None or limit >= len(split.examples):
        return split
    return replace(split, examples=split.examples[:limit])


def _layouts(task: TaskSpec) -> tuple[FileSource, ...]:
    """Return the task's file source and its alternatives.

    Raises:
        InputError: It has none, or one of an unknown format.
    """
    files = task.sources.files
    if files is None:
        raise InputError(f"task {task.name} has no files source", mend="use --data hub")
    layouts = (files, *files.alternatives)
    for layout in layouts:
        if layout.format not in READERS:
            near = get_close_matches(layout.format, READERS, n=1)
            raise InputError(
                f"unknown format {layout.format!r}",
                where=f"task {task.name}, sources.files.format",
                mend=f"did you mean {near[0]!r}?" if near else f"formats: {', '.join(READERS)}",
            )
    return layouts


def _nearest(path: Path) -> str:
    folder = path.parent
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    names = sorted(entry.name for entry in folder.iterdir())
    near = get_close_matches(path.name, names, n=1)
    if folder != path.parent:
        return f"{folder} has no {path.relative_to(folder).parts[0]}"
    return f"nearest there: {near[0]}" if near else f"{folder} holds {len(names)} other files"
