"""One model's languages by tasks, with the transfer gap below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from xharness.leaderboards.rendering.grid import HOLE
from xharness.leaderboards.rows import Row
from xharness.leaderboards.table import Table, Tables


class Options(TypedDict):
    """Options of tabulate that every grid needs."""

    colalign: list[str]
    disable_numparse: bool


@dataclass(frozen=True)
class LanguageGrid:
    """Languages by tasks.

    Attributes:
        header: Headings.
        rows: English first, the others by code, the gap last.
        options: How tabulate is to show it.
    """

    header: list[str]
    rows: list[list[str]]
    options: Options


def language_grid(tables: Tables, row: Row) -> LanguageGrid:
    """Return the figures of a row of the task table in every language of every task."""
    found = {name: _same(table, row) for name, table in tables.by_task.items()}
    rows = {name: other for name, other in found.items() if other is not None}
    codes = sorted({code for name in rows for code in tables.by_task[name].columns})
    codes.sort(key=lambda code: code != "en")
    grid = [
        [code, *(str(r.cells[code]) if code in r.cells else "" for r in rows.values())]
        for code in codes
    ]
    grid.append(["gap", *(_gap(other) for other in rows.values())])
    header = ["language", *(tables.tasks.columns[name] for name in rows)]
    align = ["left", *["right"] * len(rows)]
    return LanguageGrid(header, grid, {"colalign": align, "disable_numparse": True})


def _same(table: Table, row: Row) -> Row | None:
    return next((other for other in table.rows if other.key == row.key), None)


def _gap(row: Row) -> str:
    if row.gap is None:
        return ""
    return HOLE if row.gap.value is None else str(row.gap)
