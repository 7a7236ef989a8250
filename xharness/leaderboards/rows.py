"""Rows: a result laid out by task, by category or by language."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from xharness.leaderboards.cells import Cell, group_means, ranks, transfer_gap
from xharness.leaderboards.results import Result, Scoring, Source, TaskRun
from xharness.records.record import Record
from xharness.specs.languages import language_table
from xharness.specs.registry import Benchmark
from xharness.specs.task import TaskSpec


@dataclass(frozen=True)
class Row:
    """One model in a table.

    Attributes:
        model: Model name.
        cells: Cell by column.
        average: The table's average; a hole where a cell that enters it is one.
        setting: ``zero-shot``, ``translate-train``, ``extra task data`` and so on.
        source: Where a published row was printed: the paper with its table.
        records: The records behind a row of our own.
        remarks: What a reader must know of this row, such as a printed average that its cells do not give.
        averages: Further averages by name: ``tasks`` or ``categories``, where the suite has both.
        gap: By language: English minus the mean of the others, in points.
        families: By language: mean by family; an isolate is a family of its own.
        scripts: By language: mean by script.
        ranks: Place among the table's rows by column, and as ``average``; holes have none.
        holes: Why a cell is a hole, by column.
        sources: The parts of ``source``.
    """

    model: str
    cells: dict[str, Cell]
    average: Cell | None
    setting: str = "zero-shot"
    source: str | None = None
    records: tuple[Record, ...] = ()
    remarks: tuple[str, ...] = ()
    averages: Mapping[str, Cell] = field(default_factory=dict)
    gap: Cell | None = None
    families: Mapping[str, Cell] = field(default_factory=dict)
    scripts: Mapping[str, Cell] = field(default_factory=dict)
    ranks: Mapping[str, int] = field(default_factory=dict)
    holes: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()

    @property
    def label(self) -> str:
        """The model, with its setting where that is not zero-shot."""
        return self.model if self.setting == "zero-shot" else f"{self.model}, {self.setting}"

    @property
    def key(self) -> tuple[str, str, bool]:
        """What tells rows of a table apart: model, setting and whether it was published."""
        return self.model, self.setting, bool(self.sources)


def task_row(result: Result, benchmark: Benchmark) -> Row:
    """Return a result by task; the average is the mean over the suite's overall tasks."""
    cells = {task.name: _task_cell(result, task.name) for task in benchmark.tasks}
    sources = tuple(dict.fromkeys(s for found in result.sources.values() for s in found))
    further = {}
    if benchmark.category_average:
        further["categories"] = _cell(result, result.over_categories(benchmark.categories))
    overall = benchmark.overall
    return _row(
        result,
        cells,
        _cell(result, result.overall(overall)) if overall else None,
        averages=further,
        records=result.records,
        sources=sources,
        holes={
            task.name: _task_hole(result, task)
            for task in benchmark.tasks
            if cells[task.name].value is None
        },
    )


def category_row(result: Result, by_task: Row, benchmark: Benchmark) -> Row | None:
    """Return a result by category, from its row by task; the average is the latter's or that over the categories.

    There is no row for a published result that completes no category.
    """
    cells = {
        name: _cell(result, result.overall(tasks)) for name, tasks in benchmark.categories.items()
    }
    if not result.seeds_known and all(cell.value is None for cell in cells.values()):
        return None
    holes = {}
    for name, tasks in benchmark.categories.items():
        if cells[name].value is None:
            missing = [benchmark.task(t).title for t in tasks if by_task.cells[t].value is None]
            holes[name] = (
                f"{', '.join(missing)} missing" if missing else "seeds of its tasks differ"
            )
    average, further = by_task.average, {}
    if "categories" in by_task.averages:
        average = by_task.averages["categories"]
        further = {} if by_task.average is None else {"tasks": by_task.average}
    return replace(by_task, cells=cells, average=average, averages=further, holes=holes)


def language_row(result: Result, task: TaskSpec) -> Row | None:
    """Return a result by language of one task, or nothing where no language is known."""
    runs, scoring = result.runs.get(task.name, {}), result.scorings[task.name]
    if not any(run.languages or result.seeds_known for run in runs.values()):
        return None
    by_seed = [
        {code: run.language(code, scoring.figures) for code in scoring.languages}
        for run in runs.values()
    ]
    cells = {
        code: _with_parts(
            _cell(result, [values[code] for values in by_seed]),
            scoring.figures,
            partial(_figures, list(runs.values()), code),
        )
        for code in scoring.languages
    }
    languages = {code: language_table()[code] for code in scoring.languages}
    families = {
        code: f"{known.name} (isolate)" if known.family == "isolate" else known.family
        for code, known in languages.items()
    }
    scripts = {code: known.script for code, known in languages.items()}
    gaps = [transfer_gap(values) for values in by_seed]
    return _row(
        result,
        cells,
        _task_cell(result, task.name),
        task=task.name,
        gap=_cell(result, gaps) if "en" in scoring.languages and len(cells) > 1 else None,
        families=_grouped(result, by_seed, families),
        scripts=_grouped(result, by_seed, scripts),
        records=tuple(record for record in result.records if record.task == task.name),
        sources=result.sources.get(task.name, ()),
        holes={
            code: _language_hole(result, runs, scoring, code)
            for code, cell in cells.items()
            if cell.value is None
        },
    )


def sorted_and_ranked(rows: Sequence[Row], columns: Sequence[str]) -> tuple[Row, ...]:
    """Return rows by average, highest first; those without one follow, the fullest first; each with its ranks."""

    def order(row: Row) -> tuple[bool, float, int, str, str]:
        value = None if row.average is None else row.average.value
        known = sum(cell.value is not None for cell in row.cells.values())
        name = row.model.casefold()
        return value is None, -round(value or 0.0, 9), -known, name, row.setting

    ordered = sorted(rows, key=order)
    places: list[dict[str, int]] = [{} for _ in ordered]
    for column in columns:
        found = ranks({i: row.cells[column].value for i, row in enumerate(ordered)})
        for index, place in found.items():
            places[index][column] = place
    averages = {i: None if r.average is None else r.average.value for i, r in enumerate(ordered)}
    for index, place in ranks(averages).items():
        places[index]["average"] = place
    return tuple(replace(row, ranks=places[index]) for index, row in enumerate(ordered))


def _row(
    result: Result,
    cells: dict[str, Cell],
    average: Cell | None,
    *,
    sources: tuple[Source, ...],
    records: tuple[Record, ...],
    holes: dict[str, str],
    task: str | None = None,
    averages: Mapping[str, Cell] | None = None,
    gap: Cell | None = None,
    families: Mapping[str, Cell] | None = None,
    scripts: Mapping[str, Cell] | None = None,
) -> Row:
    return Row(
        model=result.model,
        cells=cells,
        average=average,
        setting=result.setting,
        source="; ".join(map(str, sources)) if sources else None,
        records=records,
        remarks=tuple(text for about, text in result.remarks if task in (None, about)),
        averages=averages or {},
        gap=gap,
        families=families or {},
        scripts=scripts or {},
        holes=holes,
        sources=sources,
    )


def _cell(result: Result, values: Sequence[float | None]) -> Cell:
    cell = Cell.over_seeds(values)
    return cell if result.seeds_known else replace(cell, seeds=0)


def _task_cell(result: Result, name: str) -> Cell:
    runs, scoring = result.runs.get(name, {}), result.scorings[name]
    return _with_parts(
        _cell(result, [result.score(name, seed) for seed in runs]),
        scoring.figures,
        lambda figure: [run.figure(figure, scoring.languages) for run in runs.values()],
    )


def _figures(runs: Sequence[TaskRun], code: str, name: str) -> list[float | None]:
    return [run.languages.get(code, {}).get(name) for run in runs]


def _with_parts(
    cell: Cell, figures: Sequence[str], values_of: Callable[[str], list[float | None]]
) -> Cell:
    """Add the figures that a cell is the mean of, where there are several."""
    if len(figures) < 2:
        return cell
    parts, deviations = {}, {}
    for name in figures:
        part = Cell.over_seeds(values_of(name))
        if part.value is not None:
            parts[name] = part.value
        if part.deviation is not None:
            deviations[name] = part.deviation
    return replace(cell, parts=parts, part_deviations=deviations)


def _grouped(
    result: Result, by_seed: Sequence[Mapping[str, float | None]], group_of: Mapping[str, str]
) -> dict[str, Cell]:
    means = [group_means(values, group_of) for values in by_seed]
    return {group: _cell(result, [found[group] for found in means]) for group in means[0]}


def _task_hole(result: Result, task: TaskSpec) -> str:
    runs, scoring = result.runs.get(task.name, {}), result.scorings[task.name]
    if not runs:
        return "not run" if result.seeds_known else "not published"
    if not result.seeds_known:
        return _unpublished(next(iter(runs.values())), scoring)
    reasons: dict[str, dict[str, None]] = {}
    for code in scoring.languages:
        for run in runs.values():
            if run.language(code, scoring.figures) is None:
                reasons.setdefault(run.reasons.get(code, "not in the record"), {})[code] = None
    return "; ".join(f"{', '.join(codes)} ({reason})" for reason, codes in reasons.items())


def _unpublished(run: TaskRun, scoring: Scoring) -> str:
    missing: dict[str, list[str]] = {}
    for name in scoring.figures:
        if run.figure(name, scoring.languages) is None:
            known = [code for code in scoring.languages if name in run.languages.get(code, {})]
            what = f"published for {', '.join(known)} only" if known else "not published"
            missing.setdefault(what, []).append(name)
    whole = len(missing) == 1 and len(next(iter(missing.values()))) == len(scoring.figures)
    return "; ".join(
        what if whole else f"{', '.join(names)} {what}" for what, names in missing.items()
    )


def _language_hole(result: Result, runs: Mapping[int, TaskRun], scoring: Scoring, code: str) -> str:
    if not result.seeds_known:
        found = next(iter(runs.values())).languages.get(code, {})
        missing = [name for name in scoring.figures if name not in found]
        return f"{', '.join(missing)} not published" if found else "not published"
    reasons = [
        run.reasons.get(code, "not in the record")
        for run in runs.values()
        if run.language(code, scoring.figures) is None
    ]
    return "; ".join(dict.fromkeys(reasons))
