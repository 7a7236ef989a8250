"""The loss curve as a figure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xharness.files import unwritable, written_aside
from xharness.pretraining.metrics import read_metrics


def draw_curve(metrics: Path, figure: Path) -> None:
    """Draw training and held-out loss over steps.

    Args:
        metrics: The ``metrics.jsonl``.
        figure: Where the picture goes, an SVG, PDF or PNG.
    """
    draw_curves({"": read_metrics(metrics)}, figure)


def draw_curves(runs: Mapping[str, list[dict[str, Any]]], figure: Path) -> None:
    """Draw the losses of several runs into one picture: training thin, held-out thick.

    Args:
        runs: Lines of ``metrics.jsonl`` by name of the run.
        figure: Where the picture goes.

    Raises:
        InputError: It cannot be written.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "xharness", "font.size": 9}):
        picture = Figure(figsize=(6.4, 4.0), layout="constrained")
        FigureCanvasAgg(picture)
        axes = picture.add_subplot()
        for number, (name, lines) in enumerate(runs.items()):
            colour = f"C{number % 10}"
            train = [(line["step"], line["loss"]) for line in lines if line["kind"] == "train"]
            dev = [(line["step"], line["mean_loss"]) for line in lines if line["kind"] == "dev"]
            if train:
                label = "training" if not name else None
                axes.plot(*zip(*train, strict=True), color=colour, lw=0.8, alpha=0.5, label=label)
            if dev:
                label = name or "held out, mean over languages"
                axes.plot(*zip(*dev, strict=True), color=colour, lw=1.8, marker=".", label=label)
        axes.set_xlabel("step")
        axes.set_ylabel("masked-LM loss (nats)")
        axes.grid(alpha=0.25)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        axes.legend(frameon=False)
        try:
            with written_aside(figure) as aside:
                picture.savefig(
                    aside,
                    format=figure.suffix[1:],
                    metadata={"Date": None} if figure.suffix == ".svg" else None,
                )
        except OSError as error:
            raise unwritable(figure, error) from error
