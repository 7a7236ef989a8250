"""What is compared: a run's folder, a folder of prediction files, or records alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from xharness.errors import InputError
from xharness.records.record import Record
from xharness.records.store import read_records
from xharness.scoring.folder import check_layout, file_name, find_file
from xharness.specs.task import TaskSpec

Role = Literal["baseline", "candidate"]


@dataclass(frozen=True)
class Side:
    """One of the two results.

    Attributes:
        role: Which one.
        path: What the user gave.
        records: Records by task and seed; empty for prediction files without records.
        folders: By task and seed, the folder that holds ``<task>/test-<language>``; empty for records alone.
        gold: Gold files that lie beside the predictions.
    """

    role: Role
    path: Path
    records: Mapping[str, Mapping[int, Record]] = field(default_factory=dict)
    folders: Mapping[str, Mapping[int, Path]] = field(default_factory=dict)
    gold: Path | None = None

    @property
    def tasks(self) -> tuple[str, ...]:
        """Return the names of its tasks."""
        return tuple(self.records or self.folders)

    @property
    def name(self) -> str:
        """Return the model's name, or the folder's where there is no record."""
        record = self.any_record()
        return str(record.model["name"]) if record else self.path.resolve().name

    def any_record(self, task: str | None = None) -> Record | None:
        """Return a record, of a task where one is named, or None where there is none."""
        found = self.records.values() if task is None else [self.records.get(task, {})]
        return next((record for by_seed in found for record in by_seed.values()), None)

    def seeds(self, task: str) -> tuple[int, ...]:
        """Return the seeds of a task, in order."""
        return tuple(sorted(self.records.get(task) or self.folders.get(task) or ()))

    @property
    def all_seeds(self) -> tuple[int, ...]:
        """Return the seeds of all tasks together."""
        return tuple(sorted({seed for task in self.tasks for seed in self.seeds(task)}))


def read_side(path: Path, role: Role) -> Side | None:
    """Read a run's folder or records alone, or return None for a folder without records.

    Raises:
        InputError: The path does not exist, or its records are unusable, of two models, or two of one task and seed.
    """
    if not path.exists():
        raise InputError("no such file or folder", where=path, mend=f"give the {role}'s run folder")
    run = (path / "records").is_dir()
    if not run and path.is_dir() and not any(path.glob("*.json")):
        return None
    records: dict[str, dict[int, Record]] = {}
    for record in read_records([path]):
        mine = records.setdefault(record.task, {})
        if record.seed in mine:
            raise InputError(
                f"two records of {record.task} with seed {record.seed}",
                where=path,
                mend="keep one of them",
            )
        mine[record.seed] = record
    names = sorted({str(r.model["name"]) for by_seed in records.values() for r in by_seed.values()})
    if len(names) > 1:
        raise InputError(
            f"records of {len(names)} models: {', '.join(map(repr, names))}",
            where=path,
            mend="give one model's",
        )
    _check_seeds(records, path)
    predictions = path / "predictions"
    folders = {
        task: {seed: predictions / f"seed-{seed}" for seed in by_seed}
        for task, by_seed in records.items()
        if run and predictions.is_dir()
    }
    gold = path / "gold" if run and (path / "gold").is_dir() else None
    return Side(role, path, records, folders, gold)


def read_predictions(path: Path, role: Role, tasks: Iterable[TaskSpec], given: Path) -> Side:
    """Read a folder of prediction files in the submission layout, or of one such folder a seed (``seed-1``).

    Args:
        path: The folder.
        role: Which side it is.
        tasks: Tasks that it may hold.
        given: What the user gave, where ``path`` is an archive unpacked.

    Raises:
        InputError: There is no prediction file in it, or a task lacks some of the seeds.
    """
    tasks = list(tasks)
    roots = {_seed_of(inner): inner for inner in sorted(path.glob("seed-*")) if inner.is_dir()}
    roots = roots or {0: path}
    names = [file_name(task, code) for task in tasks for code in task.languages]
    for root in roots.values():
        check_layout(root, names, [name for name in names if find_file(root, name)])
    folders: dict[str, dict[int, Path]] = {}
    for task in tasks:
        wanted = [file_name(task, code) for code in task.languages]
        for seed, root in roots.items():
            if any(find_file(root, name) for name in wanted):
                folders.setdefault(task.name, {})[seed] = root
        found = folders.get(task.name, {})
        if len(found) not in (0, 1, len(roots)):
            raise InputError(
                f"{task.name} has predictions for {len(found)} of {len(roots)} seeds",
                where=path,
                mend="give every seed's, or one for a task without fine-tuning",
            )
    return Side(role, given, {}, folders)


def spec_of(record: Record) -> TaskSpec:
    """Return the task's specification as the record holds it.

    Raises:
        InputError: It does not validate.
    """
    try:
        return TaskSpec.model_validate(record.spec)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "spec"
        raise InputError(
            f"the record's specification of {record.task} is unusable: {key}: {first['msg']}",
            mend="make the record again with the command it holds",
        ) from error


def _check_seeds(records: Mapping[str, Mapping[int, Record]], path: Path) -> None:
    """Refuse a run that is not finished: a fine-tuned task that lacks a seed which another has."""
    tuned = {
        task: set(by_seed)
        for task, by_seed in records.items()
        if any(record.protocol.finetuned for record in by_seed.values())
    }
    every = set().union(*tuned.values())
    for task, seeds in tuned.items():
        if seeds != every:
            raise InputError(
                f"{task} lacks seed {min(every - seeds)}, which other tasks have",
                where=path,
                mend="finish the run with the command that its records hold",
            )
    for task, by_seed in records.items():
        if task not in tuned and len(by_seed) > 1:
            raise InputError(
                f"{task} is not fine-tuned but has {len(by_seed)} records",
                where=path,
                mend="keep one of them",
            )


def _seed_of(folder: Path) -> int:
    number = folder.name.removeprefix("seed-")
    if not number.isascii() or not number.isdigit():
        raise InputError("not a seed's folder", where=folder, mend="name it like seed-1")
    return int(number)
