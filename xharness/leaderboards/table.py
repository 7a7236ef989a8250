"""The tables of a suite: which rows they have, in which order, with which notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xharness.errors import InputError
from xharness.leaderboards.cells import Cell
from xharness.leaderboards.own_results import differences, notes, own_results
from xharness.leaderboards.published import Published
from xharness.leaderboards.published_results import published_results
from xharness.leaderboards.results import Result
from xharness.leaderboards.rows import (
    Row,
    category_row,
    language_row,
    sorted_and_ranked,
    task_row,
)
from xharness.records.record import Record
from xharness.specs.registry import Benchmark
from xharness.specs.task import METRIC_FIGURES, TaskSpec

_PUBLISHED = "published rows: figures as printed, to one decimal; averages are those of the figures"

__all__ = ["Cell", "Row", "Table", "Tables", "build_tables"]


@dataclass(frozen=True)
class Table:
    """A table of one suite.

    Attributes:
        name: ``tasks``, ``categories`` or a task name.
        title: Heading.
        columns: Column titles by key, in order.
        rows: One a model.
        notes: What a reader must know: profile, limits, holes.
        average_title: Heading of the rows' average.
        averages: Headings of the rows' further averages, by key.
        parts: Figures that a cell's value is the mean of, in print order, for the columns that have several; the
            key ``average`` stands for the rows' average.
    """

    name: str
    title: str
    columns: dict[str, str]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    average_title: str = "average"
    averages: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Tables:
    """All tables of one suite.

    Attributes:
        benchmark: The suite.
        tasks: Models by tasks.
        categories: Models by categories.
        by_task: Models by languages, for each task.
    """

    benchmark: Benchmark
    tasks: Table
    categories: Table
    by_task: dict[str, Table]

    @property
    def all(self) -> tuple[Table, ...]:
        """Every table, in the order in which they are read."""
        return (self.tasks, self.categories, *self.by_task.values())


def build_tables(
    records: Iterable[Record],
    benchmark: Benchmark,
    *,
    published: Sequence[Published] = (),
    mixed: bool = False,
) -> Tables:
    """Aggregate records, and rows of papers, into the suite's tables.

    A task's figure is the mean over the suite's languages of the task, its cell the mean over seeds. Categories,
    averages, gaps and groups are formed for each seed and then averaged over seeds; a task without fine-tuning has
    one seed, which stands for all.

    Args:
        records: What was run; records of tasks outside the suite are passed over.
        benchmark: The suite.
        published: Rows of papers; those without a figure in the suite are passed over.
        mixed: Whether records may differ in profile, specification, data, training or weights; the notes then say so,
            and profiles have rows of their own.

    Raises:
        InputError: Two records for the same model, task and seed; records that differ, unless ``mixed``; published
            figures that contradict each other.
    """
    names = {task.name for task in benchmark.tasks}
    kept = [record for record in records if record.task in names]
    mixtures = _refuse_or_name(kept, mixed=mixed)
    results: list[Result] = own_results(kept, benchmark)
    found = notes(kept, benchmark.tasks) if kept else []
    found += [f"mixed: {text}" for text in mixtures]
    theirs = published_results(published, benchmark)
    if theirs and any(record.profile == "strict" for record in kept):
        what = "published rows are of the official scripts, these records of profile strict"
        if not mixed:
            raise InputError(what, mend="leave the published rows out, or use --mixed")
        found.append(f"mixed: {what}")
    found += [_PUBLISHED] if theirs else []
    results += theirs
    tasks = {task.name: task.title for task in benchmark.tasks}
    categories = {name: name for name in benchmark.categories}
    over_tasks, over_categories = "average over tasks", "average over categories"
    by_task = [task_row(result, benchmark) for result in results]
    by_category = [
        row
        for result, tasks_row in zip(results, by_task, strict=True)
        if (row := category_row(result, tasks_row, benchmark))
    ]
    return Tables(
        benchmark,
        Table(
            "tasks",
            f"{benchmark.title} by task",
            tasks,
            sorted_and_ranked(by_task, list(tasks)),
            tuple(found),
            average_title=over_tasks if benchmark.category_average else "average",
            averages={"categories": over_categories} if benchmark.category_average else {},
            parts={
                task.name: parts for task in benchmark.tasks if (parts := _parts(task, results))
            },
        ),
        Table(
            "categories",
            f"{benchmark.title} by category",
            categories,
            sorted_and_ranked(by_category, list(categories)),
            tuple(found),
            average_title=over_categories if benchmark.category_average else "average",
            averages={"tasks": over_tasks} if benchmark.category_average else {},
        ),
        {task.name: _language_table(task, results, kept, mixtures) for task in benchmark.tasks},
    )


def _refuse_or_name(records: Sequence[Record], *, mixed: bool) -> list[str]:
    """Return how records differ that stand in one table.

    Raises:
        InputError: They differ, and ``mixed`` does not allow it.
    """
    profiles = sorted({record.profile for record in records})
    if len(profiles) > 1 and not mixed:
        raise InputError(
            f"records of different profiles: {', '.join(profiles)}",
            mend="build one table a profile, or use --mixed",
        )
    found = [
        text
        for profile in profiles
        for text in differences([record for record in records if record.profile == profile])
    ]
    if found and not mixed:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise InputError(
            f"these records cannot stand in one table: {found[0]}{more}",
            mend="give records of one specification and one data revision, or use --mixed",
        )
    if len(profiles) > 1:
        found.insert(0, f"scoring profiles {', '.join(profiles)}")
    return found


def _language_table(
    task: TaskSpec, results: Sequence[Result], records: Sequence[Record], mixtures: Sequence[str]
) -> Table:
    rows = [row for result in results if (row := language_row(result, task))]
    own = [record for record in records if record.task == task.name]
    found = notes(own, [task]) if own else []
    found += [f"mixed: {text}" for text in mixtures if own]
    found += [_PUBLISHED] if any(row.sources for row in rows) else []
    parts = _parts(task, results)
    return Table(
        task.name,
        f"{task.title} by language",
        {code: code for code in task.languages},
        sorted_and_ranked(rows, task.languages),
        tuple(found),
        parts=dict.fromkeys([*task.languages, "average"], parts) if parts else {},
    )


def _parts(task: TaskSpec, results: Sequence[Result]) -> tuple[str, ...]:
    """Return the figures that make up a task's score in the order of its metric, where there are several."""
    used = {name for result in results for name in result.scorings[task.name].figures}
    return tuple(n for n in METRIC_FIGURES[task.metric] if n in used) if len(used) > 1 else ()
