"""Tables as JSON: a list of rows, full precision, null for a hole."""

from __future__ import annotations

import json
from collections.abc import Mapping

from xharness.leaderboards.cells import Cell
from xharness.leaderboards.rows import Row
from xharness.leaderboards.table import Table


def json_table(table: Table) -> str:
    """Return a table as a JSON list with one row a line.

    Percentages, gaps in points. ``deviations``, ``seeds`` and ``parts`` are by column, with ``average`` for the row's
    average; ``records`` are the digests of the records behind a row of our own.
    """
    lines = (json.dumps(_row(row), ensure_ascii=False, allow_nan=False) for row in table.rows)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _row(row: Row) -> dict[str, object]:
    cells = dict(row.cells)
    if row.average is not None:
        cells["average"] = row.average
    content: dict[str, object] = {
        "model": row.model,
        "setting": row.setting,
        "source": row.source,
        "cells": _values(row.cells),
        "deviations": {k: c.deviation for k, c in cells.items() if c.deviation is not None},
        "seeds": {k: c.seeds for k, c in cells.items() if c.seeds},
        "parts": {k: dict(c.parts) for k, c in cells.items() if c.parts},
        "average": None if row.average is None else row.average.value,
        "averages": _values(row.averages),
        "ranks": dict(row.ranks),
        "holes": dict(row.holes),
        "remarks": list(row.remarks),
        "links": [{"title": source.title, "url": source.url} for source in row.sources],
        "records": [record.content_sha256 for record in row.records],
    }
    if row.families:
        content["gap"] = None if row.gap is None else row.gap.value
        content["families"] = _values(row.families)
        content["scripts"] = _values(row.scripts)
    return content


def _values(cells: Mapping[str, Cell]) -> dict[str, float | None]:
    return {key: cell.value for key, cell in cells.items()}
