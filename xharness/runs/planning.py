"""Making a plan: every split is read once, so that bad data end the run before anything is trained."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from xharness.data.sources import DataSource
from xharness.data.training_sets import can_train, read_training_set, training_languages
from xharness.data.translated_tests import has_test_set, read_test_set
from xharness.errors import InputError
from xharness.models.adapter import ModelInfo
from xharness.runs.plan import Plan, RunOptions, TaskPlan, TestSet
from xharness.specs.recipe import PREDICTION_SETTINGS, Settings
from xharness.specs.registry import Benchmark, training_chain
from xharness.specs.task import TaskSpec

#: Why a language is a hole.
NO_DATA, NO_TRAINING_DATA = "no data", "no training data"


def make_plan(
    benchmark: Benchmark,
    model: ModelInfo,
    source: DataSource,
    options: RunOptions,
    on_split: Callable[[str], None] = lambda _: None,
) -> Plan:
    """Plan a run.

    A language whose test data are absent becomes a hole, unless it was named in ``languages``; so does one whose
    training data are, where a protocol trains on them.

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
    planner = _Planner(source, options, on_split)
    plans = tuple(
        planner.plan(task)
        for task in benchmark.tasks
        if options.languages is None or set(options.languages) & set(task.languages)
    )
    return Plan(benchmark, model, options, source.describe(), plans)


class _Planner:
    """Plans tasks one by one; a training set that several use is read once."""

    def __init__(
        self, source: DataSource, options: RunOptions, on_split: Callable[[str], None]
    ) -> None:
        self._source = source
        self._options = options
        self._on_split = on_split
        self._read: dict[tuple[str | None, ...], tuple[int, str]] = {}

    def plan(self, task: TaskSpec) -> TaskPlan:
        """Plan a task."""
        options = self._options
        if task.kind == "retrieval" or not options.finetune:
            if task.protocol.trains:
                raise InputError(
                    f"{task.name} is to be trained: {task.protocol.setting}",
                    where="--no-finetune",
                    mend="leave it out",
                )
            settings = options.recipe.resolve(task, options.overrides)
            return TaskPlan(task, settings, None, options.seeds[:1], self._tests(task), 0, "")
        if task.protocol.apart:
            return self._apart(task)
        tuned = self._tuned(task)
        tests = self._tests(task)
        if task.protocol.trains and task.protocol.training_languages == "all":
            tests = tuple(self._trained(task, test) for test in tests)
        return replace(tuned, tests=tests)

    def _tuned(self, task: TaskSpec, language: str | None = None) -> TaskPlan:
        """Plan the fine-tunings that a task's model goes through, without tests.

        Args:
            task: The task.
            language: The language whose model it is, under a protocol where each has its own.
        """
        plan = None
        for part in training_chain(task):
            own = language if part.protocol.apart else None
            settings = self._options.recipe.resolve(part, self._options.overrides)
            key = self._training_key(part, settings, plan, own)
            read = self._training_set(part, settings, own)
            plan = TaskPlan(part, settings, key, self._options.seeds, (), *read, plan, own)
        assert plan is not None
        return plan

    def _apart(self, task: TaskSpec) -> TaskPlan:
        """Plan a task of which each language has a model of its own."""
        parts, tests = [], []
        for test in self._tests(task):
            as_zero_shot = test.language == "en" and task.protocol.english_as_zero_shot
            test = test if as_zero_shot else self._trained(task, test)
            tests.append(test)
            if test.absent is None:
                tuned = self._tuned(task.zero_shot() if as_zero_shot else task, test.language)
                parts.append(replace(tuned, tests=(test,), language=test.language))
        others = [test.language for test in tests if test.language != "en"]
        if self._options.languages is None and not any(part.task == task for part in parts):
            # Reading says which file is missing and what lies there instead.
            language = (others or ["en"])[0]
            read_training_set(task, language, self._source, self._options.limits, choose=False)
        if not parts:
            raise InputError(
                f"no language of {task.name} has both training and test data",
                mend="see 'xharness run --dry-run' with one of --languages",
            )
        return TaskPlan(
            task=task,
            settings=self._options.recipe.resolve(task, self._options.overrides),
            training_key=None,
            seeds=self._options.seeds,
            tests=tuple(tests),
            train_examples=sum(part.train_examples for part in parts),
            train_fingerprint="",
            parts=tuple(parts),
        )

    def _trained(self, task: TaskSpec, test: TestSet) -> TestSet:
        """Make a hole of a language without training data, unless it was asked for: reading it says what is missing."""
        if test.absent or self._options.languages or can_train(task, test.language, self._source):
            return test
        return TestSet(test.language, absent=NO_TRAINING_DATA)

    def _tests(self, task: TaskSpec) -> tuple[TestSet, ...]:
        tests = []
        for language in task.languages:
            self._on_split(f"{task.name} {language}")
            tests.append(self._test(task, language))
        if all(test.absent for test in tests) and not task.scored_only:
            # Reading says which file is missing and what lies there instead.
            read_test_set(task, tests[0].language, self._source, 1)
        return tuple(tests)

    def _test(self, task: TaskSpec, language: str) -> TestSet:
        languages = self._options.languages
        if languages is not None and language not in languages:
            return TestSet(language, absent="not asked for")
        if task.scored_only:
            return TestSet(language, absent="no data source, scored from prediction files only")
        if languages is None and not has_test_set(task, language, self._source):
            return TestSet(language, absent=NO_DATA)
        split = read_test_set(task, language, self._source, self._options.limit)
        return TestSet(language, split.size, split.available, split.fingerprint)

    def _training_set(
        self, task: TaskSpec, settings: Settings, language: str | None
    ) -> tuple[int, str]:
        """Read a training set once; return its size and fingerprint."""
        protocol = task.protocol.model_dump_json() if task.protocol.trains else None
        key = (task.training, settings.selection, protocol, language)
        if key not in self._read:
            self._on_split(" ".join(filter(None, (task.name, "train", language))))
            choose = settings.selection == "best_dev"
            limits = self._options.limits
            found = read_training_set(task, language, self._source, limits, choose=choose)
            self._read[key] = (len(found.train), found.fingerprint)
        return self._read[key]

    def _training_key(
        self, task: TaskSpec, settings: Settings, before: TaskPlan | None, language: str | None
    ) -> str:
        """Name the fine-tuned model: training set and a digest of what shapes it, earlier fine-tunings included."""
        shaping = settings.model_dump(mode="json", exclude=set(PREDICTION_SETTINGS))
        parts: list[Any] = [shaping, list(task.labels), task.kind]
        name = task.training
        if before is not None:
            parts.append(before.training_key)
        if task.protocol.trains:
            name = f"{name}-{language or 'pooled'}"
            parts.append(task.protocol.model_dump(mode="json", exclude={"recipe"}))
            parts.append(training_languages(task, language, self._source))
        content = json.dumps(parts, sort_keys=True)
        return f"{name}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def _check_languages(benchmark: Benchmark, languages: tuple[str, ...] | None) -> None:
    known = {language for task in benchmark.tasks for language in task.languages}
    for language in languages or ():
        if language not in known:
            raise InputError(
                f"no task of {benchmark.name} has the language {language!r}",
                where="--languages",
                mend=f"one of {', '.join(sorted(known))}",
            )
