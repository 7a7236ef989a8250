"""All cells as one tidy Parquet file, for pandas, Polars and DuckDB."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import NamedTuple

from xharness.leaderboards.own_results import model_name
from xharness.leaderboards.published import Published
from xharness.records.record import Record


class TidyCell(NamedTuple):
    """One figure.

    Attributes:
        model: Model name.
        setting: ``zero-shot`` and so on.
        task: Task name.
        language: Language code; ``None`` for an average over the task's languages that a paper prints.
        metric: Figure by its official name.
        value: Percent; ``None`` for a hole.
        seed: Seed, for a record.
        profile: Scoring profile, for a record.
        source: Paper with table, for a published row; digest of the record otherwise.
        origin: ``record`` or ``published``.
        suite: The suite over whose languages a printed average is taken; ``None`` for a language's figure.
    """

    model: str
    setting: str
    task: str
    language: str | None
    metric: str
    value: float | None
    seed: int | None
    profile: str | None
    source: str
    origin: str
    suite: str | None = None


def tidy_cells(records: Iterable[Record], published: Sequence[Published]) -> list[TidyCell]:
    """Return every figure of records and published rows, in a fixed order.

    A language without a score gives one hole for each figure that makes up the task's score.
    """
    cells = [cell for record in records for cell in _of_record(record)]
    for row in published:
        name, setting, source = row.row.model, row.row.setting, str(row.source)
        for task, language, figure, value in row.figures():
            cells.append(
                TidyCell(
                    name, setting, task, language, figure, value, None, None, source, "published"
                )
            )
        for suite, _, task, figure, value in row.averages():
            cells.append(
                TidyCell(
                    name, setting, task, None, figure, value, None, None, source, "published", suite
                )
            )
    return sorted(cells, key=_order)


def parquet(cells: Sequence[TidyCell]) -> bytes:
    """Return the cells as a Parquet file; the same cells give the same bytes with one version of pyarrow."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    types = {"value": pa.float64(), "seed": pa.int64()}
    schema = pa.schema(
        [pa.field(name, types.get(name, pa.string())) for name in TidyCell._fields],
        metadata={"unit": "percent"},
    )
    columns = zip(*cells, strict=True) if cells else [[] for _ in schema]
    arrays = [
        pa.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)
    ]
    out = BytesIO()
    write_table(pa.table(arrays, schema=schema), out, compression="zstd", version="2.6")
    return out.getvalue()


def _of_record(record: Record) -> Iterable[TidyCell]:
    name, source = model_name(record), record.content_sha256
    for language, result in record.languages.items():
        figures = result.figures if result.status == "scored" else {}
        for figure in figures or record.score_figures:
            yield TidyCell(
                name,
                record.setting,
                record.task,
                language,
                figure,
                figures.get(figure),
                record.seed,
                record.profile,
                source,
                "record",
            )


def _order(cell: TidyCell) -> tuple[object, ...]:
    return (
        cell.origin,
        cell.model,
        cell.setting,
        cell.task,
        cell.seed or 0,
        cell.profile or "",
        cell.language or "",
        cell.metric,
        cell.suite or "",
        cell.source,
    )
