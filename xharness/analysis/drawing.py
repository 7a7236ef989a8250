"""Figures of the analyses: curves over layers, and points with a name each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xharness.errors import InputError
from xharness.files import unwritable, written_aside

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".svg", ".pdf", ".png")

#: Told apart by colour-blind readers too (Okabe and Ito 2008).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#7f7f7f")
_GREY = "#9aa1a9"

#: Curves beyond the colours are told apart by marks and strokes: one of each for every round of colours.
_MARKS = ("o", "s", "^", "D", "v")
_STROKES = ("-", "--", "-.", ":")

#: Width of a figure, height of a row of panels and of a line of the legend, in inches.
_WIDTH, _PANEL_HEIGHT, _LEGEND_LINE = 6.4, 3.3, 0.17


@dataclass(frozen=True)
class Curve:
    """One line of a figure.

    Attributes:
        name: In the legend.
        x: Where its points lie.
        y: Their heights; ``None`` leaves a gap.
        errors: Their standard deviations, where known.
        published: Whether the figures are a paper's; they are drawn grey and dashed.
        joined: Whether a line joins the points.
        panel: Title of the part of the figure that it is drawn in. Curves of one name look alike in all of them.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    errors: Sequence[float] | None = None
    published: bool = False
    joined: bool = True
    panel: str = ""


@dataclass(frozen=True)
class Point:
    """One point of a scatter plot.

    Attributes:
        label: Written beside it.
        x: Its place.
        y: Its height.
        group: Points of a group share a colour and an entry in the legend.
    """

    label: str
    x: float
    y: float
    group: str = ""


def check_figure(path: Path | None) -> None:
    """Refuse a figure's file name before the work that leads to it.

    Raises:
        InputError: Its ending is none of SVG, PDF and PNG.
    """
    if path is not None and path.suffix.lower() not in FORMATS:
        raise InputError(
            f"a figure cannot be written as {path.suffix or 'a file without ending'}",
            where=path,
            mend=f"use one of {', '.join(FORMATS)}",
        )


def draw_curves(
    path: Path,
    curves: Sequence[Curve],
    *,
    x_label: str,
    y_label: str,
    ticks: Sequence[str] | None = None,
) -> None:
    """Draw curves, in panels side by side where they have several.

    Args:
        path: The file; its ending decides the format.
        curves: The curves; one without points is left out.
        x_label: Below.
        y_label: At the left, with the unit.
        ticks: Names of the places 0, 1, ... where x is no number.

    Raises:
        InputError: The file cannot be written.
    """
    looks = _looks(curves)
    panels = list(dict.fromkeys(curve.panel for curve in curves))
    apart = _apart(list(looks)) if ticks is not None else {}

    def fill(axes: Axes, panel: str) -> None:
        for curve in curves:
            if curve.panel != panel:
                continue
            shift = 0.0 if curve.joined else apart.get(curve.name, 0.0)
            axes.errorbar(
                [x + shift for x in curve.x],
                [float("nan") if y is None else y for y in curve.y],
                yerr=curve.errors,
                markersize=3.5,
                linewidth=1.4,
                capsize=2,
                label=curve.name,
                **{**looks[curve.name], **({} if curve.joined else {"linestyle": "none"})},
            )
        axes.set_title(panel, loc="left", fontsize=8.5)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        if ticks is not None:
            axes.set_xticks(range(len(ticks)), ticks)
            axes.set_xlim(-0.5, len(ticks) - 0.5)
        else:
            places = sorted({x for curve in curves for x in curve.x})
            many = 26 if len(panels) == 1 else 13
            axes.set_xticks(places if len(places) <= many else places[::2])

    # Names of places need the whole width.
    across = 1 if ticks is not None else min(len(panels), 2)
    _draw(path, fill, panels, across=across, legend=list(looks) if len(looks) > 1 else [])


def _looks(curves: Sequence[Curve]) -> dict[str, dict[str, Any]]:
    """Return how the curves of each name are drawn."""
    published = list(dict.fromkeys(curve.name for curve in curves if curve.published))
    own = list(dict.fromkeys(curve.name for curve in curves if not curve.published))
    looks: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(curve.name for curve in curves):
        if name in own:
            turn, colour = divmod(own.index(name), len(_COLOURS))
            look = {"color": _COLOURS[colour], "marker": _MARKS[turn % len(_MARKS)]}
            looks[name] = {**look, "linestyle": _STROKES[turn % len(_STROKES)]}
        else:
            mark = ("s", "D", "^", "v")[published.index(name) % 4]
            looks[name] = {"color": _GREY, "marker": mark, "linestyle": "--"}
    return looks


def _apart(names: Sequence[str]) -> dict[str, float]:
    """Return by how much the points of each name are moved aside, so that none hides another."""
    width = min(0.7, 0.08 * (len(names) - 1))
    return {
        name: width * (number / (len(names) - 1) - 0.5) if len(names) > 1 else 0.0
        for number, name in enumerate(names)
    }


def draw_points(
    path: Path, points: Sequence[Point], *, x_label: str, y_label: str, title: str = ""
) -> None:
    """Draw named points.

    Raises:
        InputError: The file cannot be written.
    """
    groups = list(dict.fromkeys(point.group for point in points))

    def fill(axes: Axes, _: str) -> None:
        for number, group in enumerate(groups):
            members = [point for point in points if point.group == group]
            turn, place = divmod(number, len(_COLOURS))
            colour = _COLOURS[place]
            axes.plot(
                [p.x for p in members],
                [p.y for p in members],
                _MARKS[turn % len(_MARKS)],
                ms=4,
                mew=0,
                color=colour,
                label=group,
            )
            for p in members:
                axes.annotate(
                    p.label,
                    (p.x, p.y),
                    xytext=(3, 3),
                    textcoords="offset points",
                    fontsize=6.5,
                    color=colour,
                )
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.set_title(title, loc="left", fontsize=8.5)

    _draw(path, fill, [""], legend=groups if len(groups) > 1 else [])


def _draw(
    path: Path,
    fill: Callable[[Axes, str], None],
    panels: Sequence[str],
    *,
    across: int = 1,
    legend: Sequence[str],
) -> None:
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    check_figure(path)
    with mpl.rc_context():
        mpl.rcdefaults()  # a user's own matplotlibrc has no say
        mpl.rc("font", size=8.5)
        mpl.rc("text", parse_math=False)  # names are untrusted text, not TeX
        mpl.rc("svg", hashsalt="xharness")
        mpl.rc("pdf", fonttype=42)
        down = -(-len(panels) // across)
        longest = max(map(len, legend), default=0)
        columns = 3 if longest <= 28 else 2 if longest <= 48 else 1
        # The legend takes room of its own and none of the panels'.
        height = down * (_PANEL_HEIGHT if across == 1 else 0.8 * _PANEL_HEIGHT)
        height += _LEGEND_LINE * -(-len(legend) // columns) + 0.3
        picture = Figure(figsize=(_WIDTH, height), layout="constrained")
        FigureCanvasAgg(picture)
        entries: dict[str, Any] = {}
        for number, panel in enumerate(panels):
            axes = picture.add_subplot(down, across, number + 1)
            fill(axes, panel)
            axes.grid(alpha=0.25)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
            handles, names = axes.get_legend_handles_labels()
            entries |= dict(zip(names, handles, strict=True))
        if legend:
            named = [name for name in legend if name in entries]
            picture.legend(
                [entries[name] for name in named],
                named,
                loc="outside upper left",
                ncols=columns,
                frameon=False,
                fontsize=7.5,
            )
        kind = path.suffix[1:].lower()
        dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        try:
            with written_aside(path) as aside:
                picture.savefig(aside, format=kind, dpi=150, metadata=dates.get(kind))
        except OSError as error:
            raise unwritable(path, error) from error
