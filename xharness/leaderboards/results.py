"""Results: what one model reached on the tasks of a suite, from records or from a paper, before it becomes rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from xharness.leaderboards.cells import mean_or_hole
from xharness.records.record import Record
from xharness.specs.registry import Benchmark


@dataclass(frozen=True)
class Scoring:
    """What a task's score is made of.

    Attributes:
        languages: Test languages, in table order.
        figures: Figures whose mean is the score.
    """

    languages: tuple[str, ...]
    figures: tuple[str, ...]


@dataclass(frozen=True)
class TaskRun:
    """One seed's figures on one task, in percent.

    Attributes:
        languages: Figures by language; a language without any is absent.
        averages: Figures over all languages, for those that a paper prints without the languages.
        reasons: Why a language has no figures, where that is known.
    """

    languages: Mapping[str, Mapping[str, float]]
    averages: Mapping[str, float] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)

    def language(self, code: str, figures: Sequence[str]) -> float | None:
        """Return a language's value: the mean of its figures."""
        found = self.languages.get(code, {})
        return mean_or_hole(found.get(name) for name in figures)

    def figure(self, name: str, languages: Sequence[str]) -> float | None:
        """Return a figure's unweighted mean over the languages, or the printed one where a language is unknown."""
        mean = mean_or_hole(self.languages.get(code, {}).get(name) for code in languages)
        return self.averages.get(name) if mean is None else mean

    def score(self, scoring: Scoring) -> float | None:
        """Return the task's score: the mean of its figures' averages."""
        return mean_or_hole(self.figure(name, scoring.languages) for name in scoring.figures)


@dataclass(frozen=True)
class Source:
    """Where a published figure was printed.

    Attributes:
        title: The paper or page with its table.
        url: Its address, ``http`` or ``https``.
    """

    title: str
    url: str

    def __str__(self) -> str:
        return f"{self.title}, {self.url}"


@dataclass(frozen=True)
class Result:
    """One model's results.

    Attributes:
        model: Name in tables.
        setting: ``zero-shot``, ``translate-train`` and so on.
        runs: Runs by task and seed; a published result has one, under seed 0.
        scorings: What the score of each task is made of.
        records: The records, for a result of our own.
        untuned: Tasks without fine-tuning, whose one run stands for all seeds.
        sources: Where a published result was printed, by task.
        printed: Averages that a paper prints, with their source: ``overall`` (over tasks), ``categories`` (over
            categories) or a category's name.
        remarks: What a reader must know, with the name of the task that it is about, if it is about one.
    """

    model: str
    setting: str
    runs: Mapping[str, Mapping[int, TaskRun]]
    scorings: Mapping[str, Scoring]
    records: tuple[Record, ...] = ()
    untuned: frozenset[str] = frozenset()
    sources: Mapping[str, tuple[Source, ...]] = field(default_factory=dict)
    printed: tuple[tuple[str, float, Source], ...] = ()
    remarks: tuple[tuple[str | None, str], ...] = ()

    @cached_property
    def _scores(self) -> dict[str, dict[int, float | None]]:
        return {
            task: {seed: run.score(self.scorings[task]) for seed, run in runs.items()}
            for task, runs in self.runs.items()
        }

    @property
    def seeds_known(self) -> bool:
        """Whether the number of seeds is known, as it is for records."""
        return bool(self.records)

    def seeds(self, tasks: Sequence[str]) -> list[int]:
        """Return the seeds of an average over tasks; those of untuned tasks only where no other is among them."""
        tuned = [task for task in tasks if task not in self.untuned and self.runs.get(task)]
        return sorted({seed for task in tuned or tasks for seed in self.runs.get(task, {})})

    def score(self, task: str, seed: int) -> float | None:
        """Return a task's score with a seed."""
        scores = self._scores.get(task, {})
        if seed not in scores and task in self.untuned:
            return next(iter(scores.values()), None)
        return scores.get(seed)

    def overall(self, tasks: Sequence[str]) -> list[float | None]:
        """Return the mean over the tasks for each seed."""
        seeds = self.seeds(tasks)
        return [mean_or_hole(self.score(task, seed) for task in tasks) for seed in seeds]

    def over_categories(self, categories: Mapping[str, Sequence[str]]) -> list[float | None]:
        """Return the mean over the categories' means for each seed."""
        seeds = self.seeds([task for tasks in categories.values() for task in tasks])
        return [
            mean_or_hole(
                mean_or_hole(self.score(task, seed) for task in tasks)
                for tasks in categories.values()
            )
            for seed in seeds
        ]


def scorings(benchmark: Benchmark, profile: str) -> dict[str, Scoring]:
    """Return what the score of each task of a suite is made of under a profile."""
    return {
        task.name: Scoring(tuple(task.languages), task.score_figures(profile))
        for task in benchmark.tasks
    }
