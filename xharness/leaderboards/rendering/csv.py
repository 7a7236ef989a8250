"""Tables as CSV: one line a row, full precision, an empty field for a hole."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from io import StringIO

from xharness.leaderboards.cells import Cell
from xharness.leaderboards.rendering.grid import Column, columns, group_columns
from xharness.leaderboards.table import Table


def csv_table(table: Table) -> str:
    """Return a table as CSV (RFC 4180, but with bare line feeds).

    After a column's figures come, where some row has them, ``<column>.<figure>`` for the figures that it is the mean
    of, ``<column>.sd`` (sample standard deviation over seeds) and ``<column>.seeds``. Groups are ``family.<name>`` and
    ``script.<name>``. All figures are percentages, gaps are points.
    """
    fields: list[tuple[str, list[object]]] = [
        ("rank", [row.ranks.get("average") for row in table.rows]),
        ("model", [row.model for row in table.rows]),
        ("setting", [row.setting for row in table.rows]),
        ("source", [row.source for row in table.rows]),
    ]
    named = [(column.key, column) for column in columns(table)]
    for kind, prefix in (("families", "family"), ("scripts", "script")):
        named += [(f"{prefix}.{column.key}", column) for column in group_columns(table, kind)]
    for name, column in named:
        fields += _fields(name, column)
    fields.append(("remarks", ["; ".join(row.remarks) for row in table.rows]))
    rows = [[name for name, _ in fields], *zip(*(values for _, values in fields), strict=True)]
    return "".join(_line(row) for row in rows)


def _line(row: Iterable[object]) -> str:
    # The writer quotes a carriage return in a name only where its own line end has one.
    out = StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(row)
    return out.getvalue().removesuffix("\r\n") + "\n"


def _fields(name: str, column: Column) -> Iterable[tuple[str, list[object]]]:
    cells = [cell or Cell(None) for cell in column.cells]
    yield name, [cell.value for cell in cells]
    for part in column.parts:
        yield f"{name}.{part}", [cell.parts.get(part) for cell in cells]
    if any(cell.deviation is not None for cell in cells):
        yield f"{name}.sd", [cell.deviation for cell in cells]
    if any(cell.seeds for cell in cells):
        yield f"{name}.seeds", [cell.seeds or None for cell in cells]
