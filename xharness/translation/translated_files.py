"""Finding translated data files and the originals that they can be held against.

The names are those of the translations that XTREME publishes for its translate-train and translate-test rows, and of
data folders laid out like the originals:

    XNLI/translate-test/test-de-en-translated.tsv   five cells: sentence pair, its translation, label
    xnli/translate-test/test-de.tsv                 translated into English, in the original's own format
    xnli/translate-train/test-sw.tsv                translated from English
    XQuAD/xquad.translate.test.de-en.json           SQuAD format, ids kept
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from xharness.data.examples import SplitName
from xharness.data.sources import FileDataSource
from xharness.errors import InputError
from xharness.specs.registry import Benchmark
from xharness.specs.task import FileSource, TaskSpec

#: The formats whose rows can be told apart and matched.
FORMATS = ("pair_tsv", "squad_json")

_SPLIT = r"(?P<split>train|dev|test)"
_PAIR = r"(?P<source>[a-z]{2,3})-(?P<target>[a-z]{2,3})"
_NAMES = (
    re.compile(rf"(?:{_SPLIT}[-_.])?{_PAIR}-translated\.tsv"),
    re.compile(rf"(?:.*\.)?translate[-_.]{_SPLIT}[-_.]{_PAIR}\.json"),
    re.compile(rf"{_SPLIT}-(?P<language>[a-z]{{2,3}})\.tsv"),
    re.compile(r"(?:.*\.)?(?P<language>[a-z]{2,3})\.json"),
)
_FOLDER = re.compile(rf"translate[-_]?{_SPLIT}", re.IGNORECASE)


@dataclass(frozen=True)
class TranslatedFile:
    """A file of translated examples.

    Attributes:
        path: Where it lies.
        task: What its examples are of.
        files: The task's layout in which the original lies.
        split: Which split was translated.
        source: Language it was translated from.
        target: Language it was translated into.
        with_source: Whether its first two cells are the text that was translated.
        reference: The original in the target language; ``None`` where there is none.
        original: The original that was translated; ``None`` where there is none.
    """

    path: Path
    task: TaskSpec
    files: FileSource
    split: SplitName
    source: str
    target: str
    with_source: bool
    reference: Path | None
    original: Path | None

    @property
    def language(self) -> str:
        """The language that is not English."""
        return self.source if self.target == "en" else self.target


def find_translated_files(
    translations: Path,
    originals: Path,
    benchmark: Benchmark,
    languages: Collection[str] | None = None,
) -> tuple[list[TranslatedFile], list[Path]]:
    """Find translated files below a folder.

    Args:
        translations: The folder; the path to a file below it names its task, and where the file's own name does not
            say so, ``translate-train`` or ``translate-test``.
        originals: Data folder in the layout of the benchmark's tasks.
        benchmark: Its tasks.
        languages: Only files that translate from or into one of these and English; all where absent.

    Returns:
        The files, by task and path, and other ``.tsv`` and ``.json`` files, which are not understood.

    Raises:
        InputError: A folder is absent, or no file is understood.
    """
    if not translations.is_dir():
        raise InputError("no such folder", where=translations, mend="give one with --translations")
    source = FileDataSource(originals)
    tasks = {task.name: task for task in benchmark.tasks}
    found: list[TranslatedFile] = []
    others: list[Path] = []
    for path in sorted(translations.rglob("*")):
        if path.suffix not in (".tsv", ".json") or not path.is_file():
            continue
        file = _understood(path, path.relative_to(translations), tasks, source)
        if file is None:
            others.append(path)
        elif languages is None or file.language in languages:
            found.append(file)
    if not found:
        raise InputError(
            "no translated file of a task" + (" in these languages" if languages else ""),
            where=translations,
            mend="expected such as xnli/translate-test/test-de-en-translated.tsv; tasks: "
            + ", ".join(name for name, task in tasks.items() if _layouts(task)),
        )
    order = list(tasks)
    found.sort(key=lambda file: (order.index(file.task.name), str(file.path)))
    return found, others


def _understood(
    path: Path, below: Path, tasks: dict[str, TaskSpec], source: FileDataSource
) -> TranslatedFile | None:
    words = {re.sub(r"[^a-z0-9]", "", part.lower()) for part in (*below.parts, path.stem)}
    words.add(path.name.partition(".")[0].lower())
    task = next((task for name, task in tasks.items() if name in words and _layouts(task)), None)
    named = next((match for name in _NAMES if (match := name.fullmatch(path.name))), None)
    if task is None or named is None:
        return None
    folder = next((m for part in below.parts[:-1] if (m := _FOLDER.fullmatch(part))), None)
    parts = named.groupdict()
    kind = folder["split"].lower() if folder else None
    if parts.get("language") is not None:
        if kind not in ("train", "test"):
            return None
        into_english = kind == "test"
        languages = (parts["language"], "en") if into_english else ("en", parts["language"])
    else:
        languages = (parts["source"], parts["target"])
    split = parts.get("split") or kind
    if split is None or languages[0] == languages[1]:
        return None
    reader = "squad_json" if path.suffix == ".json" else "pair_tsv"
    layouts = [layout for layout in _layouts(task) if layout.format == reader]
    if not layouts:
        return None
    name = cast(SplitName, split)
    reference = _original(source, layouts, name, languages[1])
    original = _original(source, layouts, name, languages[0])
    return TranslatedFile(
        path=path,
        task=task,
        files=layouts[0] if reference is None else reference[0],
        split=name,
        source=languages[0],
        target=languages[1],
        with_source=path.name.endswith("-translated.tsv"),
        reference=None if reference is None else reference[1],
        original=None if original is None else original[1],
    )


def _layouts(task: TaskSpec) -> tuple[FileSource, ...]:
    files = task.sources.files
    layouts = () if files is None else (files, *files.alternatives)
    return tuple(layout for layout in layouts if layout.format in FORMATS)


def _original(
    source: FileDataSource, layouts: list[FileSource], split: SplitName, language: str
) -> tuple[FileSource, Path] | None:
    for layout in layouts:
        pattern = getattr(layout, split)
        # Training patterns name the English file alone, which is no other language's original.
        if isinstance(pattern, str) and ("{" in pattern or language == "en"):
            path = source.paths(layout, split, language)["file"]
            if path.is_file():
                return layout, path
    return None
