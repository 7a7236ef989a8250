"""Tables as text: for a terminal and as markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tabulate import tabulate

from xharness.leaderboards.table import Row, Table, Tables

_HOLE = "-"


def terminal(tables: Tables) -> str:
    """Return the tables of a run for a terminal: tasks, categories and languages."""
    parts = [_plain(tables.tasks), _plain(tables.categories)]
    parts += [_languages(tables, "simple", row.model) for row in tables.tasks.rows]
    parts.append("\n".join(tables.tasks.notes))
    return "\n\n".join(part for part in parts if part)


def markdown(tables: Tables) -> str:
    """Return the tables of a run as a markdown page."""
    parts = [f"# {tables.benchmark.title}"]
    parts.append("\n".join(f"- {_escaped(note)}" for note in tables.tasks.notes))
    for table in (tables.tasks, tables.categories):
        parts.append(f"## {_escaped(table.title)}")
        parts.append(_tabulated(table, "pipe", _escaped))
    parts.append("## By language")
    parts.append(
        "Each cell is the figure that enters the task's average. Gap: English minus the mean of the others."
    )
    for row in tables.tasks.rows:
        if len(tables.tasks.rows) > 1:
            parts.append(f"### {_escaped(row.model)}")
        parts.append(_languages(tables, "pipe", row.model))
    return "\n\n".join(parts) + "\n"


def _plain(table: Table) -> str:
    return f"{table.title}\n\n{_tabulated(table, 'simple', str)}"


def _tabulated(table: Table, style: str, text: Callable[[str], str]) -> str:
    """Return a table in a style of tabulate; ``text`` makes model names fit for it."""
    return tabulate(
        _grid(table, text),
        _header(table),
        style,
        colalign=_alignment(table),
        disable_numparse=True,  # 34.0 stays 34.0
    )


def _header(table: Table) -> list[str]:
    average = any(row.average is not None for row in table.rows)
    return ["model", *table.columns.values(), *(["average"] if average else [])]


def _alignment(table: Table) -> list[str]:
    return ["left", *["right"] * (len(_header(table)) - 1)]


def _grid(table: Table, text: Callable[[str], str]) -> list[list[str]]:
    average = any(row.average is not None for row in table.rows)
    return [
        [
            text(row.model),
            *(str(row.cells[key]) for key in table.columns),
            *([str(row.average)] if average else []),
        ]
        for row in table.rows
    ]


def _languages(tables: Tables, style: str, model: str) -> str:
    """Return a grid of languages by tasks for one model, with the transfer gap below."""
    names = [name for name, table in tables.by_task.items() if _row(table, model)]
    rows_of = {name: _row(tables.by_task[name], model) for name in names}
    languages = sorted({code for name in names for code in tables.by_task[name].columns})
    languages.sort(key=lambda code: code != "en")
    grid = []
    for code in languages:
        cells = []
        for name in names:
            row = rows_of[name]
            cells.append(str(row.cells[code]) if row and code in row.cells else "")
        grid.append([code, *cells])
    grid.append(["gap", *(_gap(rows_of[name]) for name in names)])
    header = ["language", *(tables.tasks.columns[name] for name in names)]
    align = ["left", *["right"] * len(names)]
    return tabulate(grid, header, style, colalign=align, disable_numparse=True)


def _row(table: Table, model: str) -> Row | None:
    return next((row for row in table.rows if row.model == model), None)


def _gap(row: Row | None) -> str:
    """English minus the mean of the other languages (Hu et al. 2020), where no cell is a hole."""
    if row is None or "en" not in row.cells:
        return ""
    values = {code: cell.value for code, cell in row.cells.items()}
    others: Sequence[float] = [v for code, v in values.items() if code != "en" and v is not None]
    english = values["en"]
    if english is None or not others or len(others) < len(values) - 1:
        return _HOLE
    return f"{english - sum(others) / len(others):.1f}"


def _escaped(text: str) -> str:
    """Escape what markdown or HTML would act on; names and notes are untrusted."""
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(character, entity)
    for character in "\\`*_[]|":
        text = text.replace(character, f"\\{character}")
    return text.replace("\n", " ")
