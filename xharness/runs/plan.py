"""The plan: every stage of a run, decided before the first one begins."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from xharness.data.examples import Split
from xharness.data.sources import DataSource
from xharness.errors import InputError
from xharness.models.adapter import ModelInfo
from xharness.specs.recipe import PREDICTION_SETTINGS, Recipe, Settings
from xharness.specs.registry import Benchmark, training_chain
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
    """

    task: TaskSpec
    settings: Settings
    training_key: str | None
    seeds: tuple[int, ...]
    tests: tuple[TestSet, ...]
    train_examples: int
    train_fingerprint: str
    before: TaskPlan | None = None

    @property
    def trainings(self) -> tuple[TaskPlan, ...]:
        """Return the plans of the fine-tunings that it rests on, in order; its own is the last."""
        if self.training_key is None:
            return ()
        return (self,) if self.before is None else (*self.before.trainings, self)


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
            return f"fine-tune {self.plan.task.training} (seed {self.seed})"
        return f"{self.kind} {title} {self.language or ''}".rstrip() + f" (seed {self.seed})"


@dataclass(frozen=True)
class Unit:
    """What one device does by itself: the fine-tunings of one training set with one seed, and all that rests on them.

    A task without fine-tuning is a unit of its own. Units share no work, so they may run in any order and place.

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
        found = {part.training_key: part for plan in self.plans for part in plan.trainings}
        return tuple(found.values())

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
        for plan in self.tasks:
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

    def stages(self) -> list[Stage]:
        """Return all stages in order, unit by unit."""
        return [stage for unit in self.units() for stage in unit.stages()]

    def identity(self) -> dict[str, Any]:
        """Return what makes this plan the same as another; scoring and the device are not part of it."""
        plans = {part.task.name: part for p in self.tasks for part in (*p.trainings, p)}
        return {
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


def spec_digest(task: TaskSpec) -> str:
    """Return the SHA-256 of what a specification says; fields left at their defaults do not count."""
    content = task.model_dump(mode="json", exclude_defaults=True)
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def make_plan(
    benchmark: Benchmark,
    model: ModelInfo,
    source: DataSource,
    options: RunOptions,
    on_split: Callable[[str], None] = lambda _: None,
) -> Plan:
    """Read every split once, so that bad data end the run before anything is trained.

    A test language whose files are absent becomes a hole, unless it was named in ``languages``.

    Args:
        benchmark: What to run.
        model: The model.
        source: Where the data come from.
        options: What the user asked for.
        on_split: Told the name of each split before it is read.

    Raises:
        InputError: A training file, a whole task's data or a language that was asked for is absent, or a file
            does not read.
    """
    _check_languages(benchmark, options.languages)
    trainings: dict[tuple[str | None, str], tuple[int, str]] = {}

    def training_set(task: TaskSpec, settings: Settings) -> tuple[int, str]:
        """Read a training set once; return its size and fingerprint."""
        key = (task.training, settings.selection)
        if key not in trainings:
            on_split(f"{task.name} train")
            train, dev = training_splits(task, settings, source, options)
            trainings[key] = (len(train), fingerprints(train, dev))
        return trainings[key]

    def intermediate(task: TaskSpec) -> TaskPlan | None:
        """Plan the fine-tunings that come before a task's own."""
        plan = None
        for earlier in training_chain(task)[:-1]:
            settings = options.recipe.resolve(earlier, options.overrides)
            key = _training_key(earlier, settings, plan)
            read = training_set(earlier, settings)
            plan = TaskPlan(earlier, settings, key, options.seeds, (), *read, before=plan)
        return plan

    plans = []
    for task in benchmark.tasks:
        if options.languages is not None and not set(options.languages) & set(task.languages):
            continue
        settings = options.recipe.resolve(task, options.overrides)
        tuned = task.kind != "retrieval" and options.finetune
        before = intermediate(task) if tuned else None
        train_examples, train_fingerprint = training_set(task, settings) if tuned else (0, "")
        tests = []
        for language in task.languages:
            on_split(f"{task.name} {language}")
            tests.append(_test_set(task, language, source, options))
        if all(test.absent for test in tests) and not task.scored_only:
            # Reading says which file is missing and what lies there instead.
            source.read(task, "test", tests[0].language, 1)
        plans.append(
            TaskPlan(
                task=task,
                settings=settings,
                training_key=_training_key(task, settings, before) if tuned else None,
                seeds=options.seeds if tuned else options.seeds[:1],
                tests=tuple(tests),
                train_examples=train_examples,
                train_fingerprint=train_fingerprint,
                before=before,
            )
        )
    return Plan(benchmark, model, options, source.describe(), tuple(plans))


def training_splits(
    task: TaskSpec, settings: Settings, source: DataSource, options: RunOptions
) -> tuple[Split, Split | None]:
    """Read the English training split, and the dev split where the checkpoint is chosen on it.

    Raises:
        InputError: A file is absent or does not read, or dev stands in for train and is to choose the checkpoint too.
    """
    train = source.read(task, "train", "en", options.limit_train)
    dev = None
    if settings.selection == "best_dev" and source.has(task, "dev", "en"):
        if train.stand_in == "dev":
            raise InputError(
                f"{task.name} is trained on its dev split, which then cannot choose the checkpoint",
                mend="use --set selection=last",
            )
        dev = source.read(task, "dev", "en", options.limit)
    return train, dev


def fingerprints(train: Split, dev: Split | None) -> str:
    """Return one fingerprint of a training and a dev split."""
    return "-".join((train.fingerprint, "" if dev is None else dev.fingerprint))


def _check_languages(benchmark: Benchmark, languages: tuple[str, ...] | None) -> None:
    known = {language for task in benchmark.tasks for language in task.languages}
    for language in languages or ():
        if language not in known:
            raise InputError(
                f"no task of {benchmark.name} has the language {language!r}",
                where="--languages",
                mend=f"one of {', '.join(sorted(known))}",
            )


def _test_set(task: TaskSpec, language: str, source: DataSource, options: RunOptions) -> TestSet:
    if options.languages is not None and language not in options.languages:
        return TestSet(language, absent="not asked for")
    if task.scored_only:
        return TestSet(language, absent="no data source, scored from prediction files only")
    if options.languages is None and not source.has(task, "test", language):
        return TestSet(language, absent="no data")
    split: Split = source.read(task, "test", language, options.limit)
    return TestSet(language, split.size, split.available, split.fingerprint)


def _training_key(task: TaskSpec, settings: Settings, before: TaskPlan | None) -> str:
    """Name the fine-tuned model: training set and a digest of what shapes it, earlier fine-tunings included."""
    shaping = settings.model_dump(mode="json", exclude=set(PREDICTION_SETTINGS))
    parts: list[Any] = [shaping, list(task.labels), task.kind]
    if before is not None:
        parts.append(before.training_key)
    content = json.dumps(parts, sort_keys=True)
    return f"{task.training}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"
