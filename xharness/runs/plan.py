"""The plan: every stage of a run, decided before the first one begins."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from xharness.data.training_sets import Limits
from xharness.models.adapter import ModelInfo
from xharness.specs.recipe import Recipe, Settings
from xharness.specs.registry import Benchmark
from xharness.specs.task import TaskSpec


@dataclass(frozen=True)
class RunOptions:
    """What the user asked for, beyond the benchmark and the model.

    Attributes:
        recipe: The recipe.
        overrides: Values of ``--set``.
        seeds: Seeds of the fine-tuning.
        languages: Test languages to run; all where absent.
        limit: Test and dev examples a language at most.
        limit_train: Training examples at most.
        finetune: Whether to train a head; otherwise the checkpoint must have it.
        profile: Scoring profile.
        command: The command line, kept in each record.
    """

    recipe: Recipe
    overrides: dict[str, Any]
    seeds: tuple[int, ...]
    languages: tuple[str, ...] | None
    limit: int | None
    limit_train: int | None
    finetune: bool
    profile: str
    command: str

    @property
    def limits(self) -> Limits:
        """The examples that a fine-tuning reads at most."""
        return Limits(self.limit_train, self.limit)


@dataclass(frozen=True)
class TestSet:
    """One language of a task.

    Attributes:
        language: Language code.
        examples: Examples that are predicted.
        available: Examples before a limit.
        fingerprint: Hash of what was read.
        absent: Why there is nothing to predict, where there is not.
    """

    language: str
    examples: int = 0
    available: int = 0
    fingerprint: str = ""
    absent: str | None = None


@dataclass(frozen=True)
class TaskPlan:
    """One task of a run.

    Attributes:
        task: The specification.
        settings: Resolved hyperparameters.
        training_key: Folder name of the fine-tuned model that it uses; tasks with the same training set and
            settings share it. ``None`` where no model is fine-tuned.
        seeds: Seeds that it runs with; one for a task without fine-tuning.
        tests: Its test languages.
        train_examples: Size of the training split.
        train_fingerprint: Hash of what was read of the training and dev splits.
        before: Plan of the intermediate task, whose model its own fine-tuning starts from.
        language: The test language whose own model this is about, in a part.
        parts: One for each test language that is tested, where each has a model of its own.
    """

    task: TaskSpec
    settings: Settings
    training_key: str | None
    seeds: tuple[int, ...]
    tests: tuple[TestSet, ...]
    train_examples: int
    train_fingerprint: str
    before: TaskPlan | None = None
    language: str | None = None
    parts: tuple[TaskPlan, ...] = ()

    @property
    def finetuned(self) -> bool:
        """Whether it rests on a fine-tuning, or its parts do."""
        return self.training_key is not None or bool(self.parts)

    @property
    def trainings(self) -> tuple[TaskPlan, ...]:
        """Return the plans of the fine-tunings that it rests on, each once and in order; its own is the last."""
        if self.parts:
            return distinct_trainings(self.parts)
        if self.training_key is None:
            return ()
        return (self,) if self.before is None else (*self.before.trainings, self)

    def part(self, language: str) -> TaskPlan:
        """Return the plan whose model is tested in a language: the language's part, or this one."""
        return next((part for part in self.parts if part.language == language), self)


def distinct_trainings(plans: Iterable[TaskPlan]) -> tuple[TaskPlan, ...]:
    """Return the plans of all fine-tunings that some plans rest on, each once and in order."""
    found: dict[str | None, TaskPlan] = {}
    for plan in plans:
        for training in plan.trainings:
            found.setdefault(training.training_key, training)
    return tuple(found.values())


@dataclass(frozen=True)
class Stage:
    """A unit of work that is finished whole or not at all."""

    kind: Literal["finetune", "predict", "score"]
    plan: TaskPlan
    seed: int
    language: str | None = None

    @property
    def name(self) -> str:
        """Return a name that is unique in the run and fit for a file."""
        what = self.plan.training_key if self.kind == "finetune" else self.plan.task.name
        parts = [self.kind, str(what), f"seed-{self.seed}"]
        return "_".join(parts if self.language is None else [*parts, self.language])

    @property
    def title(self) -> str:
        """Return what people see of it."""
        title = self.plan.task.title
        if self.kind == "finetune":
            words = ("fine-tune", self.plan.task.training, self.plan.language)
            return " ".join(word for word in words if word) + f" (seed {self.seed})"
        return f"{self.kind} {title} {self.language or ''}".rstrip() + f" (seed {self.seed})"


@dataclass(frozen=True)
class Unit:
    """What one device does by itself: the fine-tunings of one training set with one seed, and all that rests on them.

    A task without fine-tuning is a unit of its own. Units share no work, so they may run in any order and place. A task
    of which each language has its own model may be in several units; it is scored when all of them are done.

    Attributes:
        plans: The tasks, in order.
        seed: The seed.
    """

    plans: tuple[TaskPlan, ...]
    seed: int

    @property
    def name(self) -> str:
        """Return a name that is unique in the run and fit for a file."""
        return f"{unit_key(self.plans[0])}_seed-{self.seed}"

    @property
    def trainings(self) -> tuple[TaskPlan, ...]:
        """Return the plans of its fine-tunings, each once and in order."""
        return distinct_trainings(self.plans)

    def stages(self) -> list[Stage]:
        """Return its stages in order: each fine-tuning, then what depends on it."""
        stages: list[Stage] = []
        tuned: set[str | None] = set()
        for plan in self.plans:
            for training in plan.trainings:
                if training.training_key not in tuned:
                    tuned.add(training.training_key)
                    stages.append(Stage("finetune", training, self.seed))
            stages += [
                Stage("predict", plan, self.seed, test.language)
                for test in plan.tests
                if test.absent is None
            ]
            if plan.language is None:
                stages.append(Stage("score", plan, self.seed))
        return stages


def unit_key(plan: TaskPlan) -> str:
    """Return what tasks of one unit have in common: the first fine-tuning they rest on, or the task itself."""
    return str(plan.trainings[0].training_key) if plan.trainings else plan.task.name


@dataclass(frozen=True)
class Plan:
    """Everything a run will do.

    Attributes:
        benchmark: The suite or tasks.
        model: The model.
        options: What the user asked for.
        source: Description of the data source.
        tasks: Each task's part.
    """

    benchmark: Benchmark
    model: ModelInfo
    options: RunOptions
    source: dict[str, str]
    tasks: tuple[TaskPlan, ...]

    def units(self) -> list[Unit]:
        """Return the units, seed by seed."""
        groups: dict[str, list[TaskPlan]] = {}
        for task in self.tasks:
            for plan in task.parts or (task,):
                groups.setdefault(unit_key(plan), []).append(plan)
        units = []
        for seed in self.options.seeds:
            for group in groups.values():
                plans = tuple(plan for plan in group if seed in plan.seeds)
                if plans:
                    # Tasks that share a fine-tuned model stand next to each other, so that it is opened once.
                    keys = list(dict.fromkeys(plan.training_key for plan in plans))
                    ordered = sorted(plans, key=lambda plan: keys.index(plan.training_key))
                    units.append(Unit(tuple(ordered), seed))
        return units

    def joint_scores(self) -> list[Stage]:
        """Return the scoring of the tasks of which each language has its own model, for when all units are done."""
        parted = [plan for plan in self.tasks if plan.parts]
        return [Stage("score", plan, seed) for seed in self.options.seeds for plan in parted]

    def stages(self) -> list[Stage]:
        """Return all stages in order, unit by unit."""
        own = [stage for unit in self.units() for stage in unit.stages()]
        return own + self.joint_scores()

    def identity(self) -> dict[str, Any]:
        """Return what makes this plan the same as another; scoring and the device are not part of it."""
        plans = {part.task.name: part for p in self.tasks for part in (*p.trainings, p)}
        identity: dict[str, Any] = {
            "model": self.model.reference,
            "weights": self.model.weights_sha256,
            "tasks": {name: spec_digest(p.task) for name, p in plans.items()},
            "settings": {name: p.settings.model_dump(mode="json") for name, p in plans.items()},
            "seeds": list(self.options.seeds),
            "languages": None if self.options.languages is None else list(self.options.languages),
            "limit": self.options.limit,
            "limit_train": self.options.limit_train,
            "finetune": self.options.finetune,
            "data": self.source,
        }
        # Under another protocol than zero-shot, fine-tunings of one task differ in more than its specification.
        others = [plan for plan in self.tasks if plan.task.protocol.trains]
        if others:
            identity["trainings"] = [part.training_key for part in distinct_trainings(others)]
        return identity


def spec_digest(task: TaskSpec) -> str:
    """Return the SHA-256 of what a specification says; fields left at their defaults do not count."""
    content = task.model_dump(mode="json", exclude_defaults=True)
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
