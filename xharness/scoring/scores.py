"""Scoring tasks and submissions, and how figures are averaged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xharness.errors import InputError
from xharness.scoring.answer_rules import answer_rule
from xharness.scoring.answers import score_answers
from xharness.scoring.choices import score_choices
from xharness.scoring.folder import (
    check_folder,
    check_layout,
    file_name,
    find_file,
    ignored_entries,
)
from xharness.scoring.labels import score_labels, score_pairs
from xharness.scoring.language_score import LanguageScore
from xharness.scoring.ranking import score_rankings
from xharness.scoring.tagging import SCHEMES, score_tags
from xharness.specs.registry import Benchmark
from xharness.specs.task import METRIC_FIGURES, TaskSpec

PROFILES = ("official", "official-2020", "strict")


@dataclass(frozen=True)
class TaskScores:
    """The scores of one task.

    Attributes:
        task: Task name.
        category: The task's category.
        languages: Score of every language of the task, in the task's order.
        averages: Unweighted mean over all languages by figure, in percent; None unless all are scored.
        score: Mean of the averages that make up the task's score under the profile, in percent, or None.
    """

    task: str
    category: str
    languages: dict[str, LanguageScore]
    averages: dict[str, float | None]
    score: float | None

    @property
    def metrics(self) -> dict[str, dict[str, float]]:
        """Percentages by figure and language, of the languages that are scored."""
        return {
            figure: {
                language: score.figures[figure]
                for language, score in self.languages.items()
                if score.status == "scored"
            }
            for figure in self.averages
        }

    @property
    def missing(self) -> list[str]:
        """Languages without a score, in the task's order."""
        return [code for code, score in self.languages.items() if score.status != "scored"]

    def as_dict(self) -> dict[str, Any]:
        """Return the task's part of ``scores.json``."""
        return {
            "category": self.category,
            "metrics": self.metrics,
            "averages": self.averages,
            "score": self.score,
            "counts": {
                code: score.counts for code, score in self.languages.items() if score.counts
            },
            "unscored": {
                code: score.reason
                for code, score in self.languages.items()
                if score.status == "unscored"
            },
        }


def score_task(
    task: TaskSpec, predictions: Path, labels: Path, profile: str = "official"
) -> TaskScores:
    """Score the prediction files of a task.

    Args:
        task: The task.
        predictions: Folder that holds ``<task>/test-<language>.tsv`` or ``.json``.
        labels: Folder with the gold files, laid out alike.
        profile: One of ``PROFILES``.

    Raises:
        InputError: A file is unusable, or the profile unknown.
    """
    check_profile(profile)
    languages = {
        language: _score_language(task, language, predictions, labels, profile)
        for language in task.languages
    }
    scored = all(score.status == "scored" for score in languages.values())
    averages = {
        figure: mean(score.figures[figure] for score in languages.values()) if scored else None
        for figure in METRIC_FIGURES[task.metric]
    }
    return TaskScores(
        task=task.name,
        category=task.category,
        languages=languages,
        averages=averages,
        score=mean(averages[figure] for figure in task.score_figures(profile)),
    )


def score_submission(
    predictions: Path, labels: Path, benchmark: Benchmark, profile: str = "official"
) -> dict[str, Any]:
    """Score a submission folder, which may be partial, into the structure of ``scores.json``.

    A category's score is the unweighted mean of its tasks, the overall score that of all tasks; either is None if one
    of its tasks has none, never a mean over fewer.

    Args:
        predictions: Folder that holds ``<task>/test-<language>.tsv`` or ``.json``.
        labels: Folder with the gold files, laid out alike.
        benchmark: Which tasks, in which categories.
        profile: One of ``PROFILES``.

    Returns:
        All figures in percent. ``missing`` lists tasks and languages without a score; ``unscored`` in a task says why
        where there are predictions; ``ignored`` names what else lies in the predictions folder.

    Raises:
        InputError: A folder or file is unusable, or the profile unknown.
    """
    check_profile(profile)
    check_folder(predictions, "--predictions")
    check_folder(labels, "--labels")
    names = [file_name(task, code) for task in benchmark.tasks for code in task.languages]
    present = [name for name in names if find_file(predictions, name)]
    check_layout(predictions, names, present)
    tasks = {task.name: score_task(task, predictions, labels, profile) for task in benchmark.tasks}
    missing = [
        {"task": name, "language": code} for name, task in tasks.items() for code in task.missing
    ]
    return {
        "suite": benchmark.name,
        "profile": profile,
        "complete": not missing,
        "missing": missing,
        "tasks": {name: task.as_dict() for name, task in tasks.items()},
        "categories": {
            category: mean(tasks[name].score for name in members)
            for category, members in benchmark.categories.items()
        },
        "overall": mean(tasks[name].score for name in benchmark.overall),
        "ignored": ignored_entries(predictions, tasks, present),
    }


def check_profile(profile: str) -> None:
    """Refuse an unknown profile.

    Raises:
        InputError: The profile is not one of ``PROFILES``.
    """
    if profile not in PROFILES:
        raise InputError(
            f"no profile named {profile!r}", where="--profile", mend=f"one of {', '.join(PROFILES)}"
        )


def mean(values: Iterable[float | None]) -> float | None:
    """Return the unweighted mean, or None if a value is None or there is none at all."""
    known: Sequence[float | None] = list(values)
    if not known or None in known:
        return None
    return sum(value for value in known if value is not None) / len(known)


def _score_language(
    task: TaskSpec, language: str, predictions: Path, labels: Path, profile: str
) -> LanguageScore:
    name = file_name(task, language)
    answers, gold = find_file(predictions, name), find_file(labels, name)
    if answers is None:
        return LanguageScore("missing", reason=f"no file {predictions / name}")
    if gold is None:
        return LanguageScore("unscored", reason=f"no gold file {labels / name}")
    match task.metric:
        case "accuracy" if task.kind == "multiple_choice":
            return score_choices(answers, gold)
        case "accuracy":
            return score_labels(answers, gold, task.labels)
        case "mined_pairs":
            return score_pairs(answers, gold)
        case "map_at_20":
            return score_rankings(answers, gold)
        case "pos_f1" | "entity_f1":
            scheme = SCHEMES[task.metric][profile]
            return score_tags(
                answers, gold, scheme, accuracy=task.metric == "pos_f1", tags=task.labels
            )
        case "squad" | "mlqa":
            tokenize, empty_agrees = answer_rule(task.metric, language, profile)
            return score_answers(answers, gold, tokenize, empty_agrees=empty_agrees)
