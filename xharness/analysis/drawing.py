"""Figures of the analyses: curves over layers, and points with a name each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xharness.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".svg", ".pdf", ".png")

#: Told apart by colour-blind readers too (Okabe and Ito 2008).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#7f7f7f")
_GREY = "#9aa1a9"


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
    """

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    errors: Sequence[float] | None = None
    published: bool = False
    joined: bool = True


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
    """Draw curves.

    Args:
        path: The file; its ending decides the format.
        curves: The curves; one without points is left out.
        x_label: Below.
        y_label: At the left, with the unit.
        ticks: Names of the places 0, 1, ... where x is no number.

    Raises:
        InputError: The file cannot be written.
    """

    def fill(axes: Axes) -> None:
        own = 0
        for curve in curves:
            marks = ("s", "D", "^", "v")[
                sum(c.published for c in curves[: curves.index(curve)]) % 4
            ]
            colour = _GREY if curve.published else _COLOURS[own % len(_COLOURS)]
            own += not curve.published
            heights = [float("nan") if y is None else y for y in curve.y]
            style = "none" if not curve.joined else "--" if curve.published else "-"
            axes.errorbar(
                curve.x,
                heights,
                yerr=curve.errors,
                color=colour,
                linestyle=style,
                marker=marks if curve.published else "o",
                markersize=3.5,
                linewidth=1.4,
                capsize=2,
                label=curve.name,
            )
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        if ticks is not None:
            axes.set_xticks(range(len(ticks)), ticks)
            axes.set_xlim(-0.5, len(ticks) - 0.5)
        else:
            places = sorted({x for curve in curves for x in curve.x})
            axes.set_xticks(places if len(places) <= 26 else places[::2])

    _draw(path, fill, legend=len(curves) > 1)


def draw_points(
    path: Path, points: Sequence[Point], *, x_label: str, y_label: str, title: str = ""
) -> None:
    """Draw named points.

    Raises:
        InputError: The file cannot be written.
    """
    groups = list(dict.fromkeys(point.group for point in points))

    def fill(axes: Axes) -> None:
        for number, group in enumerate(groups):
            members = [point for point in points if point.group == group]
            colour = _COLOURS[number % len(_COLOURS)]
            axes.plot(
                [p.x for p in members],
                [p.y for p in members],
                "o",
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

    _draw(path, fill, legend=len(groups) > 1)


def _draw(path: Path, fill: Callable[[Axes], None], *, legend: bool) -> None:
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
        picture = Figure(figsize=(6.4, 4.0), layout="constrained")
        FigureCanvasAgg(picture)
        axes = picture.add_subplot()
        fill(axes)
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        if legend:
            longest = max(len(name) for name in axes.get_legend_handles_labels()[1])
            columns = 3 if longest <= 28 else 2 if longest <= 48 else 1
            picture.legend(loc="outside upper left", ncols=columns, frameon=False, fontsize=7.5)
        aside = path.with_name(f".{path.name}.partial")
        kind = path.suffix[1:].lower()
        dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            picture.savefig(aside, format=kind, dpi=150, metadata=dates.get(kind))
            aside.replace(path)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", where=path) from error
