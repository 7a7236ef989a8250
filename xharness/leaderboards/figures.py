"""Figures for papers as SVG and PDF: heat map, transfer gap, seeds. The same tables give the same bytes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING

from xharness.leaderboards.cells import Cell
from xharness.leaderboards.rows import Row
from xharness.leaderboards.table import Tables
from xharness.printable import printable
from xharness.specs.languages import language_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

_INK = "#1b1f24"
_QUIET = "#6b7280"
_GRID = "#e3e6ea"
_OWN = "#c2571a"
_PUBLISHED = "#4c86b0"

#: Inches that a line of text takes, in every figure.
_LINE = 0.17


def figure_files(tables: Tables, formats: Sequence[str]) -> dict[str, bytes]:
    """Return the figures of a suite by file name.

    Args:
        tables: The suite's tables.
        formats: ``svg``, ``pdf`` or both.

    Returns:
        ``heatmap-<model>`` for each row of our own and each published one that has three tasks or more by language,
        ``transfer-gap`` where a row has a gap, ``seeds`` where a row has two seeds or more.
    """
    drawings = {
        f"heatmap-{slug(row)}": partial(heat_map, tables, row)
        for row in tables.tasks.rows
        if (found := len(_by_task(tables, row))) >= 3 or (found and row.records)
    }
    every = [row for table in tables.by_task.values() for row in table.rows]
    if any(row.gap is not None and row.gap.value is not None for row in every):
        drawings["transfer-gap"] = partial(transfer_gap, tables)
    if any(row.average is not None and row.average.values for row in every):
        drawings["seeds"] = partial(seed_strips, tables)
    if not drawings:
        return {}
    with _style():
        files: dict[str, bytes] = {}
        for name, draw in drawings.items():
            figure = draw()
            # The layout is the same in every format; the engine would find it anew for each.
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
            files |= {f"{name}.{kind}": _saved(figure, kind) for kind in formats}
        return files


def slug(row: Row) -> str:
    """Return a file name for a row, of letters, digits and dashes; a digest keeps names apart that look alike in it."""
    name = row.model if row.setting == "zero-shot" else f"{row.model} {row.setting}"
    name = name if row.sources else f"own {name}"
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if plain == name.lower().replace(" ", "-"):
        return plain
    return f"{plain[:60]}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def heat_map(tables: Tables, row: Row) -> Figure:
    """Draw one model's figures in percent: languages down, by family, and tasks across; grey is a hole."""
    figure, rows = _figure(), _by_task(tables, row)
    codes = _by_family({code for other in rows.values() for code in other.cells})
    values = [c.value for r in rows.values() for c in r.cells.values() if c.value is not None]
    limits = min(values) // 10 * 10, min(100.0, max(values) // 10 * 10 + 10)
    colours, average = _colours(), len(codes) + 0.4
    figure.set_size_inches(2.4 + 0.55 * len(rows), _LINE * (len(codes) + 1.4) + 1.0)
    axes = figure.add_subplot()
    for x, (task, other) in enumerate(rows.items()):
        for code, cell in other.cells.items():
            _tile(axes, (x, codes.index(code)), cell, colours, limits)
        _tile(axes, (x, average), row.cells[task], colours, limits, bold=True)
    table = language_table()
    axes.set(xlim=(-0.5, len(rows) - 0.5), ylim=(average + 0.5, -0.5))
    titles = [tables.tasks.columns[task] for task in rows]
    axes.set_xticks(range(len(rows)), titles, rotation=40, ha="left", rotation_mode="anchor")
    axes.xaxis.tick_top()
    names = [f"{table[code].name}  {code}" for code in codes]
    axes.set_yticks([*range(len(codes)), average], [*names, "average"])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    first = 0
    for family, members in groupby(codes, key=lambda code: table[code].family):
        last = first + len(list(members)) - 1
        edge = len(rows) - 0.36
        axes.plot([edge] * 2, [first - 0.36, last + 0.36], color=_QUIET, lw=0.8, clip_on=False)
        axes.text(edge + 0.14, (first + last) / 2, family, va="center", color=_QUIET, fontsize=6.5)
        first = last + 1
    title = f"{_label(row)} on {printable(tables.benchmark.title)}"
    figure.suptitle(title, x=0.01, ha="left", fontsize=9, fontweight="bold")
    return figure


def transfer_gap(tables: Tables) -> Figure:
    """Draw the transfer gap in points, English minus the mean of the other languages: a panel a task."""
    shown = {
        name: sorted(rows, key=lambda row: _gap(row) or 0.0)
        for name, table in tables.by_task.items()
        if (rows := [row for row in table.rows if _gap(row) is not None])
    }
    figure = _figure()
    panels = _panels(figure, tables, {name: len(rows) for name, rows in shown.items()})
    cells = [row.gap for rows in shown.values() for row in rows if row.gap is not None]
    ends = [(cell.value or 0.0, cell.deviation or 0.0) for cell in cells]
    low = min(0.0, *(gap - deviation for gap, deviation in ends))
    high = max(gap + deviation for gap, deviation in ends)
    for axes, rows in zip(panels, shown.values(), strict=True):
        for y, row in enumerate(rows):
            gap = row.gap or Cell(None)
            width = gap.value or 0.0
            axes.barh(y, width, height=0.66, color=_OWN if row.records else _PUBLISHED)
            if gap.deviation is not None:
                axes.errorbar(width, y, xerr=gap.deviation, color=_INK, lw=0.8, capsize=1.5)
            beyond = max(width, 0.0) + (gap.deviation or 0.0) + 0.012 * (high - low)
            axes.text(beyond, y, str(gap), va="center", fontsize=6.5)
        axes.set_yticks(range(len(rows)), [_label(row) for row in rows])
        axes.set(ylim=(len(rows) - 0.4, -0.6), xlim=(low * 1.05, high + 0.13 * (high - low)))
    panels[-1].set_xlabel("transfer gap: English minus the mean of the other languages (points)")
    _legend(figure, [row for rows in shown.values() for row in rows])
    return figure


def seed_strips(tables: Tables) -> Figure:
    """Draw each seed's score as a point, in points from the mean over the seeds: a panel a task."""
    shown = {
        name: rows
        for name, table in tables.by_task.items()
        if (rows := [row for row in table.rows if row.average is not None and row.average.values])
    }
    figure = _figure()
    panels = _panels(figure, tables, {name: len(rows) for name, rows in shown.items()})
    averages = [row.average or Cell(None) for rows in shown.values() for row in rows]
    reach = 1.15 * max(abs(v - (c.value or 0.0)) for c in averages for v in c.values) or 1.0
    for axes, rows in zip(panels, shown.values(), strict=True):
        for y, row in enumerate(rows):
            cell = row.average or Cell(None)
            mean, deviation = cell.value or 0.0, cell.deviation or 0.0
            axes.plot([-deviation, deviation], [y, y], color=_GRID, lw=5, solid_capstyle="butt")
            axes.plot([0, 0], [y - 0.3, y + 0.3], color=_INK, lw=0.9)
            offsets = [value - mean for value in cell.values]
            axes.plot(offsets, [y] * len(offsets), "o", ms=4, color=_OWN, alpha=0.75, mew=0)
            text = f"{cell}  (n = {cell.seeds})"
            axes.text(reach * 1.04, y, text, va="center", fontsize=6.5)
        axes.set_yticks(range(len(rows)), [_label(row) for row in rows])
        axes.set(ylim=(len(rows) - 0.4, -0.6), xlim=(-reach, reach))
    panels[-1].set_xlabel(
        "score of each seed, points from the mean; the band is ± one standard deviation"
    )
    return figure


def _by_task(tables: Tables, row: Row) -> dict[str, Row]:
    """Return a row of the task table in each table by language."""
    found = {
        name: next((other for other in table.rows if other.key == row.key), None)
        for name, table in tables.by_task.items()
    }
    return {
        name: other
        for name, other in found.items()
        if other is not None and any(cell.value is not None for cell in other.cells.values())
    }


def _by_family(codes: Iterable[str]) -> list[str]:
    """Order languages by family, the largest first, with English at the very top."""
    table = language_table()
    found = list(codes)
    sizes = {code: sum(table[c].family == table[code].family for c in found) for code in found}

    def order(code: str) -> tuple[bool, bool, int, str, bool, str]:
        family = table[code].family
        english = "en" in found and family == table["en"].family
        return (
            not english,
            family == "isolate",
            -sizes[code],
            family,
            code != "en",
            table[code].name,
        )

    return sorted(found, key=order)


def _tile(
    axes: Axes,
    place: tuple[float, float],
    cell: Cell,
    colours: Colormap,
    limits: tuple[float, float],
    *,
    bold: bool = False,
) -> None:
    from matplotlib.patches import Rectangle

    x, y = place
    text, ink, colour = "–", _QUIET, "#eef0f2"
    if cell.value is not None:
        shade = colours((cell.value - limits[0]) / (limits[1] - limits[0]))
        red, green, blue = shade[:3]
        text, colour = (
            f"{cell.value:.1f}",
            f"#{''.join(f'{round(255 * c):02x}' for c in shade[:3])}",
        )
        ink = "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.55 else _INK
    tile = Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white", lw=0.8)
    weight = "bold" if bold else "normal"
    label = axes.text(x, y, text, ha="center", va="center", color=ink, fontsize=6.8)
    label.set_fontweight(weight)
    axes.add_patch(tile)
    for part in (tile, label):
        part.set_in_layout(False)


def _panels(figure: Figure, tables: Tables, sizes: dict[str, int]) -> list[Axes]:
    """Return one panel a task, as high as its rows need."""
    lines = sum(sizes.values()) + 1.6 * len(sizes)
    figure.set_size_inches(6.3, _LINE * lines + 0.8)
    grid = figure.add_gridspec(len(sizes), 1, height_ratios=[size + 0.5 for size in sizes.values()])
    panels = []
    for index, name in enumerate(sizes):
        axes = figure.add_subplot(grid[index])
        axes.set_title(
            printable(tables.tasks.columns[name]), loc="left", fontsize=8, fontweight="bold", pad=3
        )
        axes.tick_params(length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.grid(axis="x", color=_GRID, lw=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(labelbottom=index == len(sizes) - 1)
        panels.append(axes)
    return panels


def _legend(figure: Figure, rows: Sequence[Row]) -> None:
    """Tell colours apart where both kinds of rows are there."""
    from matplotlib.patches import Patch

    if len({bool(row.records) for row in rows}) < 2:
        return
    handles = [Patch(color=_OWN, label="own runs"), Patch(color=_PUBLISHED, label="published")]
    figure.legend(handles=handles, loc="outside upper right", ncols=2, frameon=False)


def _gap(row: Row) -> float | None:
    return None if row.gap is None else row.gap.value


def _label(row: Row) -> str:
    name = printable(row.model)
    if len(name) > 40:
        name = name[:39] + "…"
    return name if row.setting == "zero-shot" else f"{name}, {printable(row.setting)}"


def _colours() -> Colormap:
    """Return a scale whose lightness falls evenly, so that it survives colour blindness and grey printing."""
    from matplotlib import colormaps

    return colormaps["YlGnBu"]


def _figure() -> Figure:
    from matplotlib.figure import Figure

    return Figure(layout="constrained")


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # a user's own matplotlibrc has no say
        matplotlib.rc("font", size=7.5)
        matplotlib.rc("axes", edgecolor=_QUIET, labelcolor=_INK, linewidth=0.6)
        matplotlib.rc("text", color=_INK, parse_math=False)  # names are untrusted text, not TeX
        matplotlib.rc("xtick", color=_INK)
        matplotlib.rc("ytick", color=_INK)
        matplotlib.rc("pdf", fonttype=42)
        matplotlib.rc("svg", fonttype="path", hashsalt="xharness")
        yield


def _saved(figure: Figure, kind: str) -> bytes:
    """Return a figure's file without the date that both formats would hold."""
    out = BytesIO()
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    figure.savefig(out, format=kind, metadata=dates.get(kind), bbox_inches="tight", pad_inches=0.04)
    return out.getvalue()
