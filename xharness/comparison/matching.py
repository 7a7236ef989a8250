"""From two sides to pairs of tasks: finding the gold, scoring example by example, and checking against the records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np

from xharness.comparison.comparing import TaskPair
from xharness.comparison.pairing import LanguageScores, pair_examples
from xharness.comparison.sides import Side
from xharness.errors import InputError
from xharness.scoring import score_task
from xharness.scoring.answers import read_questions
from xharness.scoring.examples import ExampleScores, FloatArray, score_examples
from xharness.scoring.folder import check_folder, file_name, find_file
from xharness.scoring.lines import read_bytes
from xharness.scoring.ranking import read_relevant
from xharness.specs.task import TaskSpec

#: Figures of a file and of its record that differ by more, in points, do not belong together.
_AGREE = 1e-6


@dataclass(frozen=True)
class Gold:
    """Where gold files are found.

    Attributes:
        folder: Folder with ``<task>/test-<language>``.
        other: The other side's, which must hold the same where it holds anything; None where there is none.
    """

    folder: Path
    other: Path | None = None

    def find(self, task: TaskSpec, language: str) -> Path:
        """Return a language's gold file.

        Raises:
            InputError: There is none, or the two folders' files differ.
        """
        name = file_name(task, language)
        path = find_file(self.folder, name)
        other = None if self.other is None else find_file(self.other, name)
        if path is None and other is None:
            raise InputError(
                f"no gold file {name}", where=self.folder, mend="give --labels a folder that has it"
            )
        if path is not None and other is not None and read_bytes(path)[0] != read_bytes(other)[0]:
            raise InputError(
                f"{task.name} {language} cannot be compared: {_gold_difference(task, path, other)}",
                where=other,
                mend="run both on the same examples, or give one gold folder with --labels",
            )
        return path or other or self.folder / name


def find_gold(baseline: Side, candidate: Side, labels: Path | None) -> Gold:
    """Return where the gold lies: the folder that the user gave, or what lies beside the predictions.

    Where one side alone has gold it serves both: their data are the same, and each record's figures must come out.

    Raises:
        InputError: There is none.
    """
    if labels is not None:
        check_folder(labels, "--labels")
        return Gold(labels)
    folders = [side.gold for side in (baseline, candidate) if side.gold is not None]
    if not folders:
        raise InputError(
            "no gold labels: neither side has a gold folder",
            where=baseline.path,
            mend="give --labels DIR, such as the gold folder of a run",
        )
    return Gold(*folders)


def pair_of_examples(
    task: TaskSpec, baseline: Side, candidate: Side, gold: Gold, profile: str
) -> TaskPair:
    """Pair a task's predictions on both sides.

    Raises:
        InputError: A language is scored on one side only, a file is unusable or does not fit its record.
    """
    figures = task.score_figures(profile)
    files: dict[str, LanguageScores] = {}
    for language in _scored_on_both(task, baseline, candidate, gold, profile):
        path = gold.find(task, language)
        sides = [
            tuple(
                _checked_scores(task, language, side, seed, path, profile)
                for seed in side.seeds(task.name)
            )
            for side in (baseline, candidate)
        ]
        files[language] = LanguageScores(*sides)
    groups = pair_examples(files, figures, sparse=task.metric == "mined_pairs")
    return TaskPair.of_examples(task.name, task.languages, groups)


def pair_of_records(task: TaskSpec, baseline: Side, candidate: Side, profile: str) -> TaskPair:
    """Pair a task's figures as the records of both sides hold them.

    Raises:
        InputError: A language is scored on one side only.
    """
    languages = _scored_on_both(task, baseline, candidate, None, profile)
    figures = task.score_figures(profile)

    def by_language(side: Side) -> dict[str, FloatArray]:
        records = [record for _, record in sorted(side.records[task.name].items())]
        return {
            code: np.array([mean(r.languages[code].figures[f] for f in figures) for r in records])
            for code in languages
        }

    return TaskPair(task.name, task.languages, by_language(baseline), by_language(candidate))


def _scored_on_both(
    task: TaskSpec, baseline: Side, candidate: Side, gold: Gold | None, profile: str
) -> list[str]:
    """Return the languages that both sides have a score for; they must be the same."""
    first, second = (_holes(task, side, gold, profile) for side in (baseline, candidate))
    for code in task.languages:
        for side, holes, others in ((baseline, first, second), (candidate, second, first)):
            if code in holes and code not in others:
                raise InputError(
                    f"{task.name} cannot be compared: {code} is not scored in the {side.role} "
                    f"({holes[code]})",
                    where=side.path,
                    mend="test both in the same languages",
                )
    return [code for code in task.languages if code not in first]


def _holes(task: TaskSpec, side: Side, gold: Gold | None, profile: str) -> dict[str, str]:
    """Return the languages without a score, and why."""
    found: dict[str, str] = {}
    records = side.records.get(task.name)
    if records:
        for record in records.values():
            for code in task.languages:
                result = record.languages.get(code)
                if result is None or result.status != "scored":
                    found[code] = (result and result.reason) or "missing"
    elif gold is not None:
        for folder in side.folders[task.name].values():
            scores = score_task(task, folder, gold.folder, profile)
            for code in scores.missing:
                found[code] = scores.languages[code].reason or "missing"
    return found


def _checked_scores(
    task: TaskSpec, language: str, side: Side, seed: int, gold: Path, profile: str
) -> ExampleScores:
    """Score a file example by example; its figures must be those that its record states."""
    folder = side.folders[task.name][seed]
    path = find_file(folder, file_name(task, language)) if folder.is_dir() else None
    if path is None:
        raise InputError(
            f"the prediction file is missing: {file_name(task, language)}",
            where=folder,
            mend="restore it, or compare records alone by giving DIR/records",
        )
    scores = score_examples(task, language, path, gold, profile)
    record = side.records.get(task.name, {}).get(seed)
    if record is not None:
        for figure, stated in _stated(record.languages[language].figures, task, profile):
            computed = scores.figure(figure)
            if abs(computed - stated) > _AGREE:
                raise InputError(
                    f"{figure} is {computed:.4f} against {gold}, but the record says {stated:.4f}: predictions or "
                    "gold were changed after they were scored",
                    where=path,
                    mend="make them again with the command that the record holds",
                )
    return scores


def _stated(
    figures: Mapping[str, float], task: TaskSpec, profile: str
) -> Iterable[tuple[str, float]]:
    return [(figure, figures[figure]) for figure in task.score_figures(profile)]


def _gold_difference(task: TaskSpec, first: Path, second: Path) -> str:
    """Say how two gold files differ: in their examples, or in what is right."""
    if task.kind == "question_answering":
        names = [[name for name, _ in read_questions(path)[0]] for path in (first, second)]
    elif task.method == "ranking":
        names = [list(read_relevant(path)[0]) for path in (first, second)]
    else:
        lines = [len(read_bytes(path)[0].splitlines()) for path in (first, second)]
        if lines[0] != lines[1]:
            return f"{lines[0]} gold lines in the one, {lines[1]} in the other"
        return "the gold labels differ"
    for here, there, whose in ((names[0], names[1], first), (names[1], names[0], second)):
        alone = [name for name in here if name not in set(there)]
        if alone:
            return f"example {alone[0]!r} is in {whose} only"
    return "the gold answers differ"
