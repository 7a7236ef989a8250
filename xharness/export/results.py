"""What is exported: figures over seeds for each task and language, what they rest on, and the holes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from xharness.errors import InputError
from xharness.export.datasets import DatasetPart, common_part, part_of_language, spec_of
from xharness.leaderboards.cells import Cell, mean_or_hole
from xharness.records.record import Record
from xharness.specs.task import TaskSpec


@dataclass(frozen=True)
class Result:
    """A task's figures in one language, or their mean over all its languages.

    Attributes:
        language: Its code; ``None`` for the mean over the languages.
        figures: Percentages over seeds by official name; none of them a hole.
        score: The figure that enters the suite's averages, in percent.
        dataset: What it was tested on.
        notes: What a reader of these figures must know.
    """

    language: str | None
    figures: Mapping[str, Cell]
    score: Cell
    dataset: DatasetPart
    notes: tuple[str, ...]


@dataclass(frozen=True)
class TaskResults:
    """The results of one model on one task under one profile.

    Attributes:
        records: One a seed, by seed.
        spec: The task's specification.
        results: The mean over languages, then each language; without those that are holes.
        holes: What could not be exported, as task, language and reason.
    """

    records: tuple[Record, ...]
    spec: TaskSpec
    results: tuple[Result, ...]
    holes: tuple[str, ...]

    @property
    def record(self) -> Record:
        """The first seed's record, for what all seeds share."""
        return self.records[0]

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the fine-tuning; empty where nothing was fine-tuned."""
        return tuple(r.seed for r in self.records if r.protocol.finetuned)


@dataclass(frozen=True)
class ModelResults:
    """The results of one model.

    Attributes:
        name: Its name in tables.
        info: What the records say of it.
        tasks: By suite, profile and task, in the order of the records.
    """

    name: str
    info: Mapping[str, object]
    tasks: tuple[TaskResults, ...]


def collect(records: Iterable[Record], dataset: str | None = None) -> tuple[ModelResults, ...]:
    """Group records by model and task, and average each task over its seeds.

    Args:
        records: What was run.
        dataset: Id on the hub of the data set of tasks whose specification names none.

    Raises:
        InputError: Two records of one task and seed, seeds of one task that differ in more than the seed, two
            models of one name, or a figure that is no percentage.
    """
    models: dict[str, dict[tuple[str, str, str], dict[int, Record]]] = {}
    for record in records:
        name = str(record.model["name"])
        seeds = models.setdefault(name, {}).setdefault(
            (record.suite, record.profile, record.task), {}
        )
        if record.seed in seeds:
            raise InputError(
                f"two records of {name} on {record.task} with seed {record.seed}",
                mend="give one of them",
            )
        seeds[record.seed] = record
    return tuple(_model(name, tasks.values(), dataset) for name, tasks in models.items())


def _model(name: str, tasks: Iterable[Mapping[int, Record]], dataset: str | None) -> ModelResults:
    by_task = [tuple(seeds[seed] for seed in sorted(seeds)) for seeds in tasks]
    infos = [record.model for records in by_task for record in records]
    if len({str(info.get("weights_sha256")) for info in infos}) > 1:
        raise InputError(
            f"models of different weights share the name {name!r}",
            mend="export them apart, or run them with --name",
        )
    return ModelResults(name, infos[0], tuple(_task(records, dataset) for records in by_task))


def _task(records: tuple[Record, ...], dataset_id: str | None) -> TaskResults:
    first = records[0]
    for other in records[1:]:
        difference = _difference(first, other)
        if difference is not None:
            raise InputError(
                f"{first.model['name']} on {first.task}: seeds {first.seed} and {other.seed} differ in "
                f"{difference}, so they cannot be averaged",
                mend="export them apart",
            )
    spec = spec_of(first)
    results, holes = [], []
    for language in first.languages:
        hole = _hole(records, language)
        if hole is not None:
            holes.append(f"{first.task_title} {language} ({hole})")
            continue
        part = part_of_language(first, spec, language)
        if part.repository is None:
            part = replace(part, repository=dataset_id)
        results.append(_language(records, language, part))
    mean = Cell.over_seeds([record.score for record in records])
    if mean.value is None:
        holes.append(f"{first.task_title} mean over languages (a language is missing)")
    else:
        figures = {
            name: Cell.over_seeds([record.averages[name] for record in records])
            for name in first.averages
        }
        dataset = common_part([result.dataset for result in results])
        results.insert(0, Result(None, figures, mean, dataset, _notes(records, dataset)))
    _check_percentages(first, results)
    return TaskResults(records, spec, tuple(results), tuple(holes))


def _difference(one: Record, other: Record) -> str | None:
    """Return what two records differ in that seeds of one task must have in common."""
    tests = [record.data.test for record in (one, other)]
    # A language that only one of them has is a hole, not a difference.
    shared = [{code: test[code] for code in tests[0].keys() & tests[1].keys()} for test in tests]
    protocols = [r.protocol.model_copy(update={"training": None}) for r in (one, other)]
    parts = {
        "the specification": (one.spec_sha256, other.spec_sha256),
        "the protocol": (protocols[0], protocols[1]),
        "the training data": (one.data.train, other.data.train),
        "the test data": (shared[0], shared[1]),
        "the languages": (list(one.languages), list(other.languages)),
        "the figures": (one.score_figures, other.score_figures),
    }
    return next((what for what, (left, right) in parts.items() if left != right), None)


def _hole(records: Sequence[Record], language: str) -> str | None:
    """Return why a language has no figure: a seed without one leaves no mean over the seeds."""
    for record in records:
        result = record.languages[language]
        if result.status != "scored":
            reason = result.reason or result.status
            return reason if len(records) == 1 else f"{reason}, seed {record.seed}"
    return None


def _language(records: tuple[Record, ...], language: str, dataset: DatasetPart) -> Result:
    first = records[0]
    figures = {
        name: Cell.over_seeds([record.languages[language].figures.get(name) for record in records])
        for name in first.languages[language].figures
    }
    score = Cell.over_seeds(
        [
            mean_or_hole(record.languages[language].figures.get(n) for n in record.score_figures)
            for record in records
        ]
    )
    # Marks name the languages that they hold for, so a language's notes come from a record of it alone.
    alone = [
        record.model_copy(update={"languages": {language: record.languages[language]}})
        for record in records
    ]
    return Result(language, figures, score, dataset, _notes(alone, dataset))


def _notes(records: Sequence[Record], dataset: DatasetPart) -> tuple[str, ...]:
    first = records[0]
    protocol = first.protocol
    notes = [f"scoring profile {first.profile}"]
    if first.profile != "official":
        notes[0] += ": not comparable with official figures"
    if protocol.finetuned:
        training_set = f" on {protocol.training_set}" if protocol.training_set else ""
        notes.append(f"fine-tuned{training_set}, recipe {protocol.recipe}")
    else:
        notes.append(f"not fine-tuned, recipe {protocol.recipe}")
    if len(records) > 1:
        notes.append(f"mean of {len(records)} seeds: {', '.join(str(r.seed) for r in records)}")
    elif protocol.finetuned:
        notes.append(f"seed {first.seed}")
    if not dataset.from_hub:
        notes.append("read from files")
    marks = dict.fromkeys(mark for record in records for mark in record.marks)
    return (*notes, *marks)


def _check_percentages(record: Record, results: Iterable[Result]) -> None:
    for result in results:
        for name, cell in result.figures.items():
            if cell.value is None or not math.isfinite(cell.value) or not 0 <= cell.value <= 100:
                where = result.language or "mean over languages"
                raise InputError(
                    f"{record.task} {where}: {name} is {cell.value}, which is no percentage",
                    mend="make the record again with the command it holds",
                )
