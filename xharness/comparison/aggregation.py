"""Which averages a comparison has: the suite of the two sides, with the specifications that their records hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xharness.comparison.sides import Side, spec_of
from xharness.errors import InputError
from xharness.specs.registry import Benchmark, available, benchmark_of_suite
from xharness.specs.suite import Suite
from xharness.specs.task import TaskSpec

#: Suite of prediction files that come without records.
DEFAULT_SUITE = "xtreme"


def benchmark_of(sides: Sequence[Side | None], suite: str | None) -> Benchmark:
    """Return the suite with the tasks that the sides have.

    Tasks are as the records specify them. A suite that is not shipped (single tasks) has no overall average, and its
    categories are the tasks' own.

    Args:
        sides: What was read; None for prediction files without records.
        suite: Suite name or YAML file that the user gave; the records' where absent.

    Raises:
        InputError: The records are of two suites, or have no task of the one that was given.
    """
    records = {
        task: side.any_record(task) for side in sides if side is not None for task in side.tasks
    }
    specs = {task: spec_of(record) for task, record in records.items() if record is not None}
    named = sorted({record.suite for record in records.values() if record is not None})
    if suite is None and len(named) > 1:
        raise InputError(
            f"records of the suites {' and '.join(named)}",
            mend="give --suite, whose categories and averages are wanted",
        )
    reference = suite or (named[0] if named else DEFAULT_SUITE)
    if suite is None and reference not in available(Suite):
        return _of_tasks(reference, list(specs.values()))
    benchmark = benchmark_of_suite(reference)
    tasks = tuple(specs.get(task.name, task) for task in benchmark.tasks)
    if specs and not any(task.name in specs for task in tasks):
        raise InputError(
            f"no task of suite {benchmark.name} in the records",
            where="--suite",
            mend=f"their suite is {' and '.join(named)}",
        )
    return replace(benchmark, tasks=tasks)


def _of_tasks(name: str, tasks: Sequence[TaskSpec]) -> Benchmark:
    categories: dict[str, tuple[str, ...]] = {}
    for task in tasks:
        categories[task.category] = (*categories.get(task.category, ()), task.name)
    return Benchmark(
        name=name,
        title=", ".join(task.title for task in tasks),
        tasks=tuple(tasks),
        categories=categories,
        overall=(),
        recipe="",
    )
