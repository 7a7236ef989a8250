"""Holding translated data files against the originals, for ``xharness validate --translations``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from tabulate import tabulate

from xharness.data.examples import QuestionExample
from xharness.data.lines import read_lines
from xharness.data.readers.pair_tsv import PLACEHOLDER
from xharness.data.readers.squad_json import read_squad_json
from xharness.errors import InputError
from xharness.files import write_json
from xharness.printable import printable
from xharness.specs.registry import Benchmark
from xharness.translation.quality import Quality, corpus_quality
from xharness.translation.translated_files import TranslatedFile, find_translated_files

MatchedBy = Literal["position", "id"]
Pair = tuple[str, str]


@dataclass(frozen=True)
class CheckedFile:
    """A translated file and how close it is to the original in its language.

    Attributes:
        file: Where it lies.
        task: Task name.
        split: Which split was translated.
        source: Language it was translated from.
        target: Language it was translated into.
        reference: The original; ``None`` where there is none, and then nothing was scored.
        matched_by: How rows were matched.
        quality: BLEU and chrF over all sentences, or over questions and contexts.
        counts: What was left out or is odd, by name.
    """

    file: Path
    task: str
    split: str
    source: str
    target: str
    reference: Path | None
    matched_by: MatchedBy
    quality: Quality | None
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class TranslationCheck:
    """All that was found below a folder of translations.

    Attributes:
        files: The translated files.
        not_understood: Files that are no translation of a task by their name and place.
    """

    files: tuple[CheckedFile, ...]
    not_understood: tuple[Path, ...]


def check_translations(
    translations: Path,
    originals: Path,
    benchmark: Benchmark,
    languages: Collection[str] | None = None,
) -> TranslationCheck:
    """Score translated files against the originals in their language.

    Sentence pairs are matched by position: test sets of XNLI and PAWS-X are parallel line by line. Questions are
    matched by their ids.

    Args:
        translations: Folder of translated files, see ``translated_files``.
        originals: Data folder in the layout of the benchmark's tasks.
        benchmark: Its tasks.
        languages: Languages other than English to check; all where absent.

    Raises:
        InputError: A file cannot be read, or a translation and its original differ in their number of lines.
    """
    found, others = find_translated_files(translations, originals, benchmark, languages)
    return TranslationCheck(tuple(map(_checked, found)), tuple(others))


def _checked(file: TranslatedFile) -> CheckedFile:
    counts: Counter[str] = Counter()
    questions = file.files.format == "squad_json"
    quality = None
    if file.reference is not None:
        match = _matched_questions if questions else _matched_sentences
        translated, references = match(file, file.reference, counts)
        if translated:
            counts["empty_translations"] = sum(not text.strip() for text in translated)
            quality = corpus_quality(translated, references, file.target)
    return CheckedFile(
        file=file.path,
        task=file.task.name,
        split=file.split,
        source=file.source,
        target=file.target,
        reference=file.reference,
        matched_by="id" if questions else "position",
        quality=quality,
        counts=dict(+counts),
    )


def _matched_sentences(
    file: TranslatedFile, reference: Path, counts: Counter[str]
) -> tuple[list[str], list[str]]:
    """Return sentences and references, those of placeholder rows left out and counted."""
    columns = {"premise": 0, "hypothesis": 1, **file.files.options.get("columns", {})}
    first = 1 if file.files.options.get("header") else 0
    own = (columns["premise"], columns["hypothesis"])
    translated = _pairs(
        file.path, (2, 3) if file.with_source else own, 0 if file.with_source else first, counts
    )
    expected = _pairs(reference, own, first, counts)
    _check_lengths(file.path, translated, reference, expected)
    if file.with_source and file.original is not None:
        originals = _pairs(file.original, own, first, counts)
        sources = _pairs(file.path, (0, 1), 0, Counter())
        _check_lengths(file.path, sources, file.original, originals)
        counts["rows_of_another_source"] = sum(
            one != other for one, other in zip(sources, originals, strict=True)
        )
    kept = [
        (one, other)
        for one, other in zip(translated, expected, strict=True)
        if PLACEHOLDER not in (text.strip() for text in (*one, *other))
    ]
    counts["placeholder_rows"] = len(translated) - len(kept)
    return [text for one, _ in kept for text in one], [text for _, other in kept for text in other]


def _pairs(path: Path, columns: tuple[int, int], first: int, counts: Counter[str]) -> list[Pair]:
    lines = read_lines(path, counts)
    while len(lines) > first and not lines[-1]:
        lines.pop()
        counts["blank_trailing_lines"] += 1
    pairs = []
    for number, line in enumerate(lines[first:], start=first + 1):
        cells = line.split("\t")
        if len(cells) <= max(columns):
            raise InputError(
                f"{len(cells)} cells where {max(columns) + 1} are needed",
                where=f"{path}:{number}",
                mend="cells are separated by one tab and hold none",
            )
        pairs.append((cells[columns[0]], cells[columns[1]]))
    return pairs


def _check_lengths(path: Path, rows: Sequence[Pair], other: Path, expected: Sequence[Pair]) -> None:
    if len(rows) != len(expected):
        raise InputError(
            f"{len(rows)} lines, but {other} has {len(expected)}",
            where=path,
            mend="lines are matched by position, so leave none out",
        )


def _matched_questions(
    file: TranslatedFile, reference: Path, counts: Counter[str]
) -> tuple[list[str], list[str]]:
    """Return questions and references, then contexts and references, each context once."""
    translated, expected = (_questions(path, file, counts) for path in (file.path, reference))
    shared = [name for name in translated if name in expected]
    counts["questions_without_original"] = len(translated) - len(shared)
    counts["questions_not_translated"] = len(expected) - len(shared)
    questions = [(translated[name].question, expected[name].question) for name in shared]
    # The same passage of the original, however often it was translated, counts once.
    contexts = {expected[name].context: translated[name].context for name in shared}
    pairs = [*questions, *((ours, theirs) for theirs, ours in contexts.items())]
    return [ours for ours, _ in pairs], [theirs for _, theirs in pairs]


def _questions(
    path: Path, file: TranslatedFile, counts: Counter[str]
) -> dict[str, QuestionExample]:
    found = read_squad_json({"file": path}, file.task, "test", file.files.options, counts)
    return {question.id: question for question in found}


def render_translations(check: TranslationCheck) -> str:
    """Return a table for the terminal, the signatures, and how rows were matched."""
    rows = [
        [
            file.task,
            file.split,
            f"{file.source}-{file.target}",
            "-" if file.quality is None else str(file.quality.segments),
            "-" if file.quality is None else f"{file.quality.bleu:.2f}",
            "-" if file.quality is None else f"{file.quality.chrf:.2f}",
            _notes(file),
        ]
        for file in check.files
    ]
    header = ["task", "split", "languages", "segments", "BLEU", "chrF", "notes"]
    parts = [tabulate(rows, header, "simple", disable_numparse=True), ""]
    scored = [file.quality for file in check.files if file.quality is not None]
    for title, signatures in (
        ("BLEU", sorted({quality.bleu_signature for quality in scored})),
        ("chrF", sorted({quality.chrf_signature for quality in scored})),
    ):
        parts += [f"{title}: {signature}" for signature in signatures]
    matched = {file.matched_by for file in check.files if file.quality is not None}
    if "position" in matched:
        parts.append("Sentence pairs were matched by position: line i of a file with line i.")
    if "id" in matched:
        parts.append("Questions were matched by their ids.")
    parts += [f"not understood: {printable(str(path))}" for path in check.not_understood]
    return "\n".join(parts)


def _notes(file: CheckedFile) -> str:
    notes = [f"{name.replace('_', ' ')}: {count}" for name, count in sorted(file.counts.items())]
    if file.reference is None:
        notes.insert(0, f"no original in {file.target}")
    elif file.quality is None:
        notes.insert(0, "nothing to compare")
    return ", ".join(notes)


def write_translations(check: TranslationCheck, path: Path) -> None:
    """Write the check as JSON; figures in percent, full precision.

    Raises:
        InputError: The file cannot be written.
    """
    write_json(
        path,
        {
            "files": [_plain(asdict(file)) for file in check.files],
            "not_understood": [str(name) for name in check.not_understood],
        },
    )


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {key: str(value) if isinstance(value, Path) else value for key, value in values.items()}
