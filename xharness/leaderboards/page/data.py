"""From tables to the data of the page: plain values, with every figure at full precision."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite

from xharness.errors import InputError
from xharness.leaderboards.cells import Cell, mean_or_hole
from xharness.leaderboards.page.provenance import Pool, provenance
from xharness.leaderboards.table import Row, Table, Tables
from xharness.records.record import Record
from xharness.specs.languages import language_table

_ADDRESS = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)

_FIGURE_TITLES = {"f1": "F1", "exact_match": "EM", "accuracy": "accuracy"}

_ENTERS = "a figure that enters it is a hole"


def page_data(suites: Sequence[Tables]) -> dict[str, object]:
    """Return everything that the page shows, ready for JSON.

    A cell is a number (a figure whose seeds are not known), ``[mean, seeds]``, ``[mean, seeds, deviation]`` or
    ``[mean, seeds, deviation, parts]``, all in percent; a part is a number or ``[mean, deviation]``. A hole is a text
    that says why, or ``[None, seeds, why, parts]`` where some of the figures that make it up are known.

    Raises:
        InputError: There are no tables, or a figure is not a finite number.
    """
    if not suites:
        raise InputError("there are no tables to show", mend="give at least one suite")
    pool = Pool()
    names = [tables.benchmark.name for tables in suites]
    data = []
    for place, tables in enumerate(suites):
        before, alike = names[:place].count(names[place]), names.count(names[place])
        key = f"{names[place]}-{before + 1}" if before else names[place]
        title = tables.benchmark.title
        profiles = sorted({r.profile for row in tables.tasks.rows for r in row.records})
        if alike > 1 and profiles:
            title = f"{title} ({', '.join(profiles)})"
        data.append({"key": key, "title": title, **_suite(tables, pool)})
    return {"suites": data, "parts": pool.values, "figures": _FIGURE_TITLES}


def _suite(tables: Tables, pool: Pool) -> dict[str, object]:
    labels = {task.name: task.title for task in tables.benchmark.tasks}
    records = _Records(pool)
    shown = [
        _table(tables.tasks, "tasks", "All tasks", records),
        _table(tables.categories, "categories", "Categories", records),
    ]
    for name, table in tables.by_task.items():
        shown.append(_table(table, "languages", labels.get(name, name), records))
    return {"tables": shown, "records": records.shown}


class _Records:
    """The records of a suite, each held once: rows of several tables rest on the same ones."""

    def __init__(self, pool: Pool) -> None:
        self.shown: list[dict[str, object]] = []
        self._pool = pool
        self._places: dict[int, int] = {}

    def places(self, records: Iterable[Record]) -> list[int]:
        places = []
        for record in records:
            if id(record) not in self._places:
                self._places[id(record)] = len(self.shown)
                self.shown.append(provenance(record, self._pool))
            places.append(self._places[id(record)])
        return places


def _table(table: Table, kind: str, label: str, records: _Records) -> dict[str, object]:
    columns = {kind: [_column(key, title, kind) for key, title in table.columns.items()]}
    for group in ("families", "scripts"):
        found = dict.fromkeys(name for row in table.rows for name in getattr(row, group))
        if found:
            columns[group] = [{"key": name, "title": name} for name in found]
    seen: dict[str, int] = {}
    rows = []
    for row in table.rows:
        key = _key(row)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            key = f"{key}-{seen[key]}"
        content = _Row(row, table, columns).content()
        rows.append({"key": key, **content, "records": records.places(row.records)})
    has_average = any(row.average is not None for row in table.rows)
    averages = {"average": table.average_title} if has_average else {}
    return {
        "name": table.name,
        "title": table.title,
        "label": label,
        "kind": kind,
        "columns": columns,
        "averages": averages | dict(table.averages),
        "rows": rows,
        "notes": list(table.notes),
    }


def _column(key: str, title: str, kind: str) -> dict[str, str]:
    language = language_table().get(key) if kind == "languages" else None
    column = {"key": key, "title": title}
    return column | {"name": language.name, "group": language.family} if language else column


def _key(row: Row) -> str:
    """Return a short name of a row, for addresses; it stays the same in every table and when rows come or go."""
    text = "\0".join((row.model, row.setting, "" if row.source is None else "published"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


class _Row:
    """One row on its way to the page."""

    def __init__(
        self, row: Row, table: Table, columns: Mapping[str, Sequence[Mapping[str, str]]]
    ) -> None:
        self._row = row
        self._table = table
        self._columns = columns

    def content(self) -> dict[str, object]:
        row = self._row
        sets = {"families": row.families, "scripts": row.scripts}
        content: dict[str, object] = {
            "model": row.model,
            "setting": row.setting,
            "cells": {
                name: [self._cell(sets.get(name, row.cells), column["key"]) for column in columns]
                for name, columns in self._columns.items()
            },
        }
        averages = dict(row.averages)
        if row.average is not None:
            averages["average"] = row.average
        content["averages"] = {key: self._cell(averages, key) for key in averages}
        if row.source is not None:
            content["sources"] = (
                [{"label": source.title, "href": source.url} for source in row.sources]
                if row.sources
                else source_links(row.source)
            )
        if row.remarks:
            content["remarks"] = list(row.remarks)
        if row.gap is not None:
            others = [cell.value for code, cell in row.cells.items() if code != "en"]
            gap = {"gap": row.gap, "others": Cell(mean_or_hole(others))}
            content |= {name: self._cell(gap, name) for name in gap}
        return content

    def _cell(self, cells: Mapping[str, Cell], key: str) -> object:
        cell = cells.get(key, Cell(None))
        for value in (cell.value, cell.deviation, *cell.parts.values()):
            if value is not None and not isfinite(value):
                where = f"{self._table.title}, {self._row.model}, {key}"
                raise InputError(f"the figure {value} is not a number", where=where)
        parts = self._parts(cell, key)
        if cell.value is None:
            why = self._row.holes.get(key, "not known") if cells is self._row.cells else _ENTERS
            return [None, cell.seeds, why, parts] if parts else why
        if parts:
            return [cell.value, cell.seeds, cell.deviation, parts]
        if cell.deviation is not None:
            return [cell.value, cell.seeds, cell.deviation]
        return [cell.value, cell.seeds] if cell.seeds else cell.value

    def _parts(self, cell: Cell, key: str) -> dict[str, object]:
        order = [name for name in self._table.parts.get(key, ()) if name in cell.parts]
        return {
            name: [cell.parts[name], cell.part_deviations[name]]
            if name in cell.part_deviations
            else cell.parts[name]
            for name in dict.fromkeys([*order, *cell.parts])
        }


def source_links(source: str) -> list[dict[str, str]]:
    """Return the parts of a source's text, each with the address to link it to where the text names one.

    A part's label is the text before its address. Only ``http`` and ``https`` addresses become links.
    """
    links, start = [], 0
    for address in _ADDRESS.finditer(source):
        url = address.group().rstrip(".,;:")
        if url.endswith(")") and "(" not in url:
            url = url[:-1]
        label = source[start : address.start()].strip(" ,;:()")
        links.append({"label": label or url, "href": url})
        start = address.start() + len(url)
    rest = source[start:].strip(" ,;:.()") if links else source
    return [*links, {"label": rest}] if rest else links
