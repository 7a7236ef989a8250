"""The files of a leaderboard: which there are, and what is in each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xharness.errors import InputError
from xharness.leaderboards.parquet import TidyCell, parquet
from xharness.leaderboards.rendering.csv import csv_table
from xharness.leaderboards.rendering.json import json_table
from xharness.leaderboards.rendering.latex import latex_table
from xharness.leaderboards.rendering.markdown import markdown_table
from xharness.leaderboards.table import Table, Tables

#: Formats of one file a table, with the ending of the file. The label is ``<suite>-<table>``.
_TABLES: dict[str, tuple[str, Callable[[Table, str], str]]] = {
    "md": ("md", lambda table, _: markdown_table(table)),
    "csv": ("csv", lambda table, _: csv_table(table)),
    "latex": ("tex", latex_table),
    "json": ("json", lambda table, _: json_table(table)),
}
_FIGURES = ("svg", "pdf")

FORMATS = (*_TABLES, "html", "parquet", *_FIGURES)


def parse_formats(text: str) -> tuple[str, ...]:
    """Return the formats of a list such as ``md,csv``; ``all`` stands for every one.

    Raises:
        InputError: One of them is none of ``FORMATS``.
    """
    if text.strip() == "all":
        return FORMATS
    formats = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in formats:
        if name not in FORMATS:
            raise InputError(
                f"no format {name!r}", where="--format", mend=f"some of {', '.join(FORMATS)}"
            )
    if not formats:
        raise InputError("no format given", where="--format", mend=f"some of {', '.join(FORMATS)}")
    return formats


def leaderboard_files(
    suites: Sequence[Tables], cells: Sequence[TidyCell], formats: Sequence[str]
) -> dict[str, bytes]:
    """Make every file of a leaderboard.

    Args:
        suites: The tables of each suite; no two of one name.
        cells: All cells, for ``parquet``.
        formats: Some of ``FORMATS``.

    Returns:
        Content by path: ``<suite>/{tasks,categories,<task>}.{md,csv,json,tex}``, figures beside them,
        ``index.html`` and ``cells.parquet``.
    """
    files: dict[str, bytes] = {}
    for tables in suites:
        suite = tables.benchmark.name
        for name in formats:
            if name in _TABLES:
                ending, render = _TABLES[name]
                for table in tables.all:
                    text = render(table, f"{suite}-{table.name}")
                    files[f"{suite}/{table.name}.{ending}"] = text.encode()
        figures = [name for name in formats if name in _FIGURES]
        if figures:
            from xharness.leaderboards.figures import figure_files

            for path, content in figure_files(tables, figures).items():
                files[f"{suite}/{path}"] = content
    if "html" in formats:
        from xharness.leaderboards.page import render_page

        files["index.html"] = render_page(suites).encode()
    if "parquet" in formats:
        files["cells.parquet"] = parquet(cells)
    return files
