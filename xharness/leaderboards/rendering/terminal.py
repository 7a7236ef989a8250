"""Tables for a terminal."""

from __future__ import annotations

from tabulate import tabulate

from xharness.leaderboards.rendering.grid import columns
from xharness.leaderboards.rendering.languages import language_grid
from xharness.leaderboards.table import Table, Tables
from xharness.printable import printable


def terminal(tables: Tables) -> str:
    """Return the tables of a run for a terminal: tasks, categories and languages."""
    parts = [_table(tables.tasks), _table(tables.categories)]
    for row in tables.tasks.rows:
        grid = language_grid(tables, row)
        parts.append(tabulate(grid.rows, grid.header, "simple", **grid.options))
    parts.append("\n".join(printable(note) for note in tables.tasks.notes))
    return "\n\n".join(part for part in parts if part)


def _table(table: Table) -> str:
    shown = columns(table)
    rows = [
        [printable(row.label), *(column.text(index) for column in shown)]
        for index, row in enumerate(table.rows)
    ]
    header = ["model", *(column.title for column in shown)]
    align = ["left", *["right"] * len(shown)]
    # Without number parsing, 34.0 stays 34.0.
    text = tabulate(rows, header, "simple", colalign=align if rows else None, disable_numparse=True)
    return f"{printable(table.title)}\n\n{text}"
