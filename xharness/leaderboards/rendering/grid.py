"""What every text format shows of a table: headings, cells as text, footnotes, sources and holes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from xharness.leaderboards.cells import Cell
from xharness.leaderboards.results import Source
from xharness.leaderboards.rows import Row
from xharness.leaderboards.table import Table

HOLE = "-"

#: How the official names of figures are printed in headings.
_SHORT = {"exact_match": "EM", "f1": "F1", "accuracy": "acc."}


@dataclass(frozen=True)
class Column:
    """A column of figures.

    Attributes:
        key: Key of the column, for ranks.
        title: Heading.
        cells: One a row of the table; ``None`` leaves it empty.
        parts: The figures that its cells are shown as, where there are several.
    """

    key: str
    title: str
    cells: tuple[Cell | None, ...]
    parts: tuple[str, ...] = ()

    def text(self, index: int) -> str:
        """Return a cell as text."""
        cell = self.cells[index]
        return "" if cell is None else cell.in_parts(self.parts)


@dataclass(frozen=True)
class Footnotes:
    """Remarks and sources of a table's rows, each listed once.

    Attributes:
        remarks: Every remark, in order of first use; numbered from 1.
        sources: Letter of every source.
        of_row: Numbers of a row's remarks.
        sources_of_row: Letters of a row's sources, or ``own``.
    """

    remarks: tuple[str, ...]
    sources: Mapping[Source, str]
    of_row: tuple[tuple[int, ...], ...] = ()
    sources_of_row: tuple[str, ...] = field(default=())


def columns(table: Table) -> list[Column]:
    """Return a table's columns of figures, its averages and gap among them."""
    rows = table.rows
    found = [
        Column(key, _title(title, parts), tuple(row.cells[key] for row in rows), parts)
        for key, title in table.columns.items()
        for parts in [table.parts.get(key, ())]
    ]
    if any(row.average is not None for row in rows):
        parts = table.parts.get("average", ())
        title = _title(table.average_title, parts)
        found.append(Column("average", title, tuple(row.average for row in rows), parts))
    for key, title in table.averages.items():
        found.append(Column(f"average.{key}", title, tuple(row.averages.get(key) for row in rows)))
    if any(row.gap is not None for row in rows):
        found.append(Column("gap", "gap", tuple(row.gap for row in rows)))
    return found


def group_columns(table: Table, kind: str) -> list[Column]:
    """Return a language table's means by ``families`` or ``scripts``."""
    groups = [getattr(row, kind) for row in table.rows]
    names = sorted({name for found in groups for name in found})
    return [Column(name, name, tuple(found.get(name) for found in groups)) for name in names]


def footnotes(rows: Sequence[Row]) -> Footnotes:
    """Return the remarks and sources of rows."""
    remarks = {text: None for row in rows for text in row.remarks}
    numbers = {text: number for number, text in enumerate(remarks, start=1)}
    letters = _letters()
    sources = {
        source: next(letters)
        for source in dict.fromkeys(source for row in rows for source in row.sources)
    }
    return Footnotes(
        tuple(remarks),
        sources,
        tuple(tuple(numbers[text] for text in row.remarks) for row in rows),
        tuple(", ".join(sources[s] for s in row.sources) if row.sources else "own" for row in rows),
    )


def holes(table: Table) -> list[str]:
    """Return one line for each set of holes: which rows have them, and why."""
    lines: dict[str, list[str]] = {}
    for row in table.rows:
        reasons: dict[str, list[str]] = {}
        for column, reason in row.holes.items():
            reasons.setdefault(reason, []).append(table.columns[column])
        if reasons:
            text = "; ".join(f"{', '.join(names)} {why}" for why, names in reasons.items())
            lines.setdefault(text, []).append(f"{row.model} ({row.setting})")
    return [f"{', '.join(names)}: {text}" for text, names in lines.items()]


def is_best(table: Table, row: Row, key: str) -> bool:
    """Return whether a row is first in a column that other rows have figures in, too."""
    return row.ranks.get(key) == 1 and sum(key in other.ranks for other in table.rows) > 1


def _title(title: str, parts: Sequence[str]) -> str:
    return f"{title} {'/'.join(_SHORT.get(part, part) for part in parts)}" if parts else title


def _letters() -> Iterator[str]:
    """Yield a, b, ... z, aa, ab, ..."""
    for number in count():
        text, rest = "", number
        while True:
            text = chr(ord("a") + rest % 26) + text
            rest = rest // 26 - 1
            if rest < 0:
                break
        yield text
