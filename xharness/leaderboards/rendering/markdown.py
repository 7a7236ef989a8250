"""Tables as markdown (GitHub's dialect): a page for a run, and a page for each table of a leaderboard."""

from __future__ import annotations

from collections.abc import Sequence

from tabulate import tabulate

from xharness.leaderboards.rendering.grid import (
    Column,
    Footnotes,
    columns,
    footnotes,
    group_columns,
    holes,
    is_best,
)
from xharness.leaderboards.rendering.languages import language_grid
from xharness.leaderboards.table import Table, Tables
from xharness.printable import printable

_HOW = "Each cell is the figure that enters the task's average. Gap: English minus the mean of the others."


def markdown(tables: Tables) -> str:
    """Return the tables of a run as a markdown page."""
    parts = [f"# {escaped(tables.benchmark.title)}", _listed(tables.tasks.notes)]
    for table in (tables.tasks, tables.categories):
        parts += [f"## {escaped(table.title)}", _pipes(table, columns(table), None)]
    parts += ["## By language", _HOW]
    for row in tables.tasks.rows:
        if len(tables.tasks.rows) > 1:
            parts.append(f"### {escaped(row.label)}")
        grid = language_grid(tables, row)
        parts.append(tabulate(grid.rows, grid.header, "pipe", **grid.options))
    return _page(parts)


def markdown_table(table: Table) -> str:
    """Return one table of a leaderboard as a page, with footnotes, sources and holes.

    The first in each column is bold; models are ranked by the average.
    """
    notes = footnotes(table.rows)
    parts = [f"# {escaped(table.title)}", _listed(table.notes)]
    if not table.rows:
        return _page([*parts, "No results."])
    parts.append(_pipes(table, columns(table), notes))
    parts.append("\n".join(f"[^{n}]: {escaped(t)}" for n, t in enumerate(notes.remarks, start=1)))
    for kind, title in (("families", "family"), ("scripts", "script")):
        groups = group_columns(table, kind)
        if groups:
            parts += [f"## Mean by {title}", _pipes(table, groups, None)]
    missing = holes(table)
    if missing:
        parts += ["## Holes", _listed(missing)]
    if notes.sources:
        parts += ["## Sources"]
        parts.append(
            "\n".join(
                f"- {letter}: [{escaped(source.title)}]({source.url})"
                for source, letter in notes.sources.items()
            )
        )
    return _page(parts)


def _pipes(table: Table, shown: Sequence[Column], notes: Footnotes | None) -> str:
    """Return a table; with footnotes also rank, setting and source of each row."""
    header = ["model", *(escaped(column.title) for column in shown)]
    align = ["left", *["right"] * len(shown)]
    rows = []
    for index, row in enumerate(table.rows):
        line = [escaped(row.label if notes is None and row.records else row.model)]
        for column in shown:
            text = column.text(index)
            bold = notes is not None and is_best(table, row, column.key)
            line.append(f"**{text}**" if bold else text)
        if notes is not None:
            line[0] += "".join(f"[^{number}]" for number in notes.of_row[index])
            line.insert(0, str(row.ranks.get("average", "")))
            line.insert(2, escaped(row.setting))
            line.append(notes.sources_of_row[index])
        rows.append(line)
    if notes is not None:
        header = ["#", "model", "setting", *header[1:], "source"]
        align = ["right", "left", "left", *align[1:], "left"]
    options = align if rows else None
    return tabulate(rows, header, "pipe", colalign=options, disable_numparse=True)


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {escaped(line)}" for line in lines)


def _page(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def escaped(text: str) -> str:
    """Return text with what markdown or HTML would act on escaped; names and notes are untrusted."""
    text = printable(text)
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(character, entity)
    for character in "\\`*_[]|~$":
        text = text.replace(character, f"\\{character}")
    return text
