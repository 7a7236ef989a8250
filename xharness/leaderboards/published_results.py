"""From published rows to results: rows of one model joined, averages checked against their own cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from xharness.errors import InputError
from xharness.leaderboards.cells import mean_or_hole
from xharness.leaderboards.published import Published
from xharness.leaderboards.results import Result, Source, TaskRun, scorings
from xharness.specs.registry import Benchmark

#: Percent. A mean of cells that are rounded to one decimal, and the printed average itself, are each up to 0.05 off.
TOLERANCE = 0.1 + 1e-9


@dataclass
class _Task:
    """What was found on one task so far, each figure with its source."""

    languages: dict[str, dict[str, float]] = field(default_factory=dict)
    averages: dict[str, float] = field(default_factory=dict)
    sources: dict[Source, None] = field(default_factory=dict)


def published_results(rows: Sequence[Published], benchmark: Benchmark) -> list[Result]:
    """Return one result for each model and setting that has a figure in the suite.

    A printed average over a task's languages counts where the suite has the same languages. Averages that a paper
    prints but its cells do not give, beyond what rounding explains, become remarks with both numbers; what enters
    tables is always what the cells give.

    Raises:
        InputError: Two sources print different figures for the same cell.
    """
    groups: dict[tuple[str, str], list[Published]] = {}
    for row in rows:
        groups.setdefault((row.row.model, row.row.setting), []).append(row)
    results = []
    for (model, setting), found in groups.items():
        tasks = _tasks(found, benchmark)
        if not tasks:
            continue
        printed = {
            (name, value): row.source_of(averages.source)
            for row in found
            for averages in row.row.printed
            if averages.suite == benchmark.name
            for name, value in averages.figures.items()
        }
        remarks = {
            (task, f"{benchmark.task(task).title}: {text}"): None
            for row in found
            for task, text in row.row.remarks.items()
            if task in tasks
        }
        result = Result(
            model=model,
            setting=setting,
            runs={
                name: {0: TaskRun(task.languages, task.averages)} for name, task in tasks.items()
            },
            scorings=scorings(benchmark, "official"),
            sources={name: tuple(task.sources) for name, task in tasks.items()},
            printed=tuple((name, value, source) for (name, value), source in printed.items()),
            remarks=tuple(remarks),
        )
        checked = (*_task_remarks(result, benchmark), *_suite_remarks(result, benchmark))
        results.append(replace(result, remarks=(*result.remarks, *checked)))
    return results


def _tasks(rows: Sequence[Published], benchmark: Benchmark) -> dict[str, _Task]:
    languages = {task.name: frozenset(task.languages) for task in benchmark.tasks}
    first: dict[tuple[str, ...], tuple[float, Published]] = {}
    found = {name: _Task() for name in languages}
    for row in rows:
        for task, code, figure, value in row.figures():
            if code in languages.get(task, ()):
                _agree(first, (task, code, figure), value, row)
                found[task].languages.setdefault(code, {})[figure] = value
                found[task].sources[row.source] = None
        for _, over, task, figure, value in row.averages():
            if languages.get(task) == frozenset(over):
                _agree(first, (task, "the average", figure), value, row)
                found[task].averages[figure] = value
                found[task].sources[row.source] = None
    return {name: task for name, task in found.items() if task.sources}


def _agree(
    first: dict[tuple[str, ...], tuple[float, Published]],
    key: tuple[str, ...],
    value: float,
    row: Published,
) -> None:
    known, other = first.setdefault(key, (value, row))
    if known != value:
        raise InputError(
            f"{row.row.model}, {' '.join(key)}: {value} here, {known} at {other.place}",
            where=row.place,
            mend="give runs that differ different model names",
        )


def _task_remarks(result: Result, benchmark: Benchmark) -> list[tuple[str | None, str]]:
    remarks: list[tuple[str | None, str]] = []
    for task in benchmark.tasks:
        for run in result.runs.get(task.name, {}).values():
            for figure, printed in run.averages.items():
                given = TaskRun(run.languages).figure(figure, task.languages)
                if given is not None and abs(given - printed) > TOLERANCE:
                    text = _mismatch(f"{task.title} {figure}", printed, given)
                    remarks.append((task.name, text))
    return remarks


def _suite_remarks(result: Result, benchmark: Benchmark) -> list[tuple[str | None, str]]:
    titles = {"overall": "average over tasks", "categories": "average over categories"}
    remarks: list[tuple[str | None, str]] = []
    for name, printed, source in result.printed:
        match name:
            case "overall":
                given = _only(result.overall(benchmark.overall))
            case "categories":
                given = _only(result.over_categories(benchmark.categories))
            case _:
                given = _only(result.overall(benchmark.categories[name]))
        title = f"{titles.get(name, name)} ({source.title})"
        if given is None:
            remarks.append((None, f"{title}: printed {printed:.1f}; its cells are not all known"))
        elif abs(given - printed) > TOLERANCE:
            remarks.append((None, _mismatch(title, printed, given)))
    return remarks


def _only(values: Sequence[float | None]) -> float | None:
    return mean_or_hole(values[:1])


def _mismatch(title: str, printed: float, given: float) -> str:
    return f"{title}: printed {printed:.1f}, its cells give {given:.2f}"
