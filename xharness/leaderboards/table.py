"""Aggregation: which cells a table has, and how they are averaged over languages, tasks and seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, stdev

from xharness.errors import InputError
from xharness.records.record import Record
from xharness.specs.registry import Benchmark


@dataclass(frozen=True)
class Cell:
    """A figure over seeds, in percent.

    Attributes:
        value: Mean over the seeds; ``None`` is a hole.
        deviation: Sample standard deviation; ``None`` for fewer than two seeds.
        seeds: Number of seeds.
        parts: The figures whose mean is the value, by their official names, where there are several.
    """

    value: float | None
    deviation: float | None = None
    seeds: int = 0
    parts: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def over_seeds(cls, values: Sequence[float | None]) -> Cell:
        """Average over seeds; one hole makes the cell a hole."""
        known = [value for value in values if value is not None]
        if not known or len(known) < len(values):
            return cls(None, None, len(values))
        return cls(mean(known), stdev(known) if len(known) > 1 else None, len(known))

    def __str__(self) -> str:
        if self.value is None:
            return "-"
        text = f"{self.value:.1f}"
        return text if self.deviation is None else f"{text} ± {self.deviation:.1f}"


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
    """

    model: str
    cells: dict[str, Cell]
    average: Cell | None
    setting: str = "zero-shot"
    source: str | None = None
    records: tuple[Record, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table of one suite.

    Attributes:
        name: ``tasks``, ``categories`` or a task name.
        title: Heading.
        columns: Column titles by key, in order.
        rows: One a model.
        notes: What a reader must know: profile, limits, holes.
    """

    name: str
    title: str
    columns: dict[str, str]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]


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


def build_tables(records: Iterable[Record], benchmark: Benchmark, *, mixed: bool = False) -> Tables:
    """Aggregate records into the suite's tables.

    A task's cell is the mean over seeds of its scores. Categories and the overall average are formed for each
    seed and then averaged over seeds; a task without fine-tuning has one seed, which stands for all.

    Args:
        records: What was run.
        benchmark: The suite.
        mixed: Whether records of one task may differ in specification or data; the notes then say so.

    Raises:
        InputError: Records of different profiles, two for the same model, task and seed, or, unless ``mixed``,
            records of one task that rest on different specifications or data.
    """
    records = [record for record in records if any(record.task == t.name for t in benchmark.tasks)]
    profiles = sorted({record.profile for record in records})
    if len(profiles) > 1:
        raise InputError(
            f"records of different profiles: {', '.join(profiles)}",
            mend="build one table a profile",
        )
    differing = _differences(records)
    if differing and not mixed:
        raise InputError(
            f"these records cannot stand in one table: {differing[0]}",
            mend="give records of one specification and one data revision",
        )
    models = list(dict.fromkeys(str(record.model["name"]) for record in records))
    grouped = {model: _by_task_and_seed(records, model) for model in models}
    notes = (*_notes(records, benchmark, profiles), *(f"mixed: {text}" for text in differing))
    titles = {task.name: task.title for task in benchmark.tasks}
    task_rows, category_rows = [], []
    for model, found in grouped.items():
        cells = {name: _task_cell(found, name) for name in titles}
        overall = _average(found, benchmark.overall) if benchmark.overall else None
        task_rows.append(Row(model, cells, overall))
        by_category = {
            name: _average(found, members) for name, members in benchmark.categories.items()
        }
        category_rows.append(Row(model, by_category, overall))
    categories = {name: name for name in benchmark.categories}
    return Tables(
        benchmark,
        Table("tasks", f"{benchmark.title} by task", titles, tuple(task_rows), notes),
        Table(
            "categories", f"{benchmark.title} by category", categories, tuple(category_rows), notes
        ),
        {
            task.name: _language_table(task.name, task.title, task.languages, grouped)
            for task in benchmark.tasks
        },
    )


def _differences(records: Sequence[Record]) -> list[str]:
    """Name each task, and language, in which records rest on different specifications or data."""
    first: dict[tuple[str, str], tuple[object, str]] = {}
    found = []
    for record in records:
        parts: dict[str, object] = {"the specification": record.spec_sha256}
        parts |= {f"the data of {code}": origin for code, origin in record.data.test.items()}
        for part, value in parts.items():
            who = f"{record.model['name']} seed {record.seed}"
            known, whose = first.setdefault((record.task, part), (value, who))
            if known != value:
                found.append(f"{record.task_title}: {part} differs between {whose} and {who}")
    return found


Found = dict[str, dict[int, Record]]


def _by_task_and_seed(records: Sequence[Record], model: str) -> Found:
    found: Found = {}
    for record in records:
        if record.model["name"] == model:
            seeds = found.setdefault(record.task, {})
            if record.seed in seeds:
                raise InputError(
                    f"two records of {model} on {record.task} with seed {record.seed}",
                    mend="give one of them",
                )
            seeds[record.seed] = record
    return found


def _task_cell(found: Found, task: str) -> Cell:
    records = found.get(task, {})
    return Cell.over_seeds([record.score for record in records.values()])


def _average(found: Found, tasks: Sequence[str]) -> Cell:
    """Average tasks for each seed, then over seeds."""
    seeds = sorted({seed for task in tasks for seed in found.get(task, {})})
    tuned = [t for t in tasks if any(r.protocol.finetuned for r in found.get(t, {}).values())]
    if tuned:
        seeds = sorted({seed for task in tuned for seed in found[task]})
    values: list[float | None] = []
    for seed in seeds:
        scores = []
        for task in tasks:
            records = found.get(task, {})
            record = records.get(seed)
            if record is None and records and task not in tuned:
                record = next(iter(records.values()))
            scores.append(None if record is None else record.score)
        known = [score for score in scores if score is not None]
        values.append(mean(known) if len(known) == len(tasks) else None)
    return Cell.over_seeds(values)


def _language_table(
    name: str, title: str, languages: Sequence[str], grouped: dict[str, Found]
) -> Table:
    rows = []
    for model, found in grouped.items():
        records = list(found.get(name, {}).values())
        if not records:
            continue
        cells = {
            language: Cell.over_seeds([language_score(record, language) for record in records])
            for language in languages
        }
        rows.append(Row(model, cells, _task_cell(found, name)))
    columns = {language: language for language in languages}
    return Table(name, f"{title} by language", columns, tuple(rows), ())


def language_score(record: Record, language: str) -> float | None:
    """Return a language's figure: the mean of the figures that make up the task's score."""
    result = record.languages.get(language)
    if result is None or result.status != "scored":
        return None
    return mean(result.figures[figure] for figure in record.score_figures)


def _notes(
    records: Sequence[Record], benchmark: Benchmark, profiles: Sequence[str]
) -> tuple[str, ...]:
    notes = [f"scoring profile: {profile}" for profile in profiles]
    if any(record.protocol.settings for record in records):
        recipes = sorted({record.protocol.recipe for record in records})
        seeds = sorted({record.seed for record in records if record.protocol.finetuned})
        notes.append(f"recipe: {', '.join(recipes)}; seeds: {', '.join(map(str, seeds)) or '-'}")
    by_mark: dict[str, list[str]] = {}
    for record in records:
        for mark in record.marks:
            tasks = by_mark.setdefault(mark, [])
            if record.task_title not in tasks:
                tasks.append(record.task_title)
    notes += [f"{', '.join(tasks)}: {mark}" for mark, tasks in by_mark.items()]
    holes: dict[str, dict[str, list[str]]] = {}
    for record in records:
        for language, result in record.languages.items():
            if result.status != "scored":
                reasons = holes.setdefault(record.task_title, {})
                languages = reasons.setdefault(result.reason or result.status, [])
                if language not in languages:
                    languages.append(language)
    for title, reasons in holes.items():
        for reason, languages in reasons.items():
            notes.append(f"hole: {title} {', '.join(languages)} ({reason}), so no average over it")
    absent = [t.title for t in benchmark.tasks if not any(r.task == t.name for r in records)]
    if absent:
        notes.append(f"not run: {', '.join(absent)}")
    return tuple(notes)
