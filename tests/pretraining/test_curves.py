"""The loss curve as a figure."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from xharness.errors import InputError
from xharness.pretraining.curves import draw_curve, draw_curves

LINES: list[dict[str, Any]] = [
    {"kind": "train", "step": 1, "loss": 6.0},
    {"kind": "train", "step": 2, "loss": 4.0},
    {"kind": "dev", "step": 2, "mean_loss": 5.0, "loss": {"de": 5.0}},
    {"kind": "train", "step": 3, "loss": 2.0},
    {"kind": "train", "step": 4, "loss": 2.0},
    {"kind": "dev", "step": 4, "mean_loss": 3.0, "loss": {"de": 3.0}},
]
SVG = "{http://www.w3.org/2000/svg}"


def curves(figure: Path) -> list[list[tuple[float, float]]]:
    """Return the points of the lines in a picture that are neither frame, grid, tick nor legend."""
    axes = next(g for g in ElementTree.parse(figure).iter(f"{SVG}g") if g.get("id") == "axes_1")
    found = []
    for group in axes.findall(f"{SVG}g"):
        if (group.get("id") or "").startswith("line2d_"):
            path = group.find(f"{SVG}path")
            if path is not None:
                numbers = map(float, re.findall(r"-?[0-9.]+", path.get("d") or ""))
                found.append(list(zip(numbers, numbers, strict=False)))
    return found


def test_curve(tmp_path: Path) -> None:
    """Training falls 6, 4, 2, 2 over even steps; held out 5 to 3 between the second and the fourth."""
    metrics, figure = tmp_path / "metrics.jsonl", tmp_path / "loss.svg"
    metrics.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    draw_curve(metrics, figure)
    train, dev = curves(figure)
    (x1, y1), (x2, y2), (x3, y3), (x4, y4) = train
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.01) == pytest.approx(x4 - x3, abs=0.01)
    assert y2 - y1 == pytest.approx(y3 - y2, abs=0.01)
    assert y2 > y1  # SVG counts downwards
    assert y4 == pytest.approx(y3, abs=0.01)
    assert dev[0] == pytest.approx((x2, (y1 + y2) / 2), abs=0.01)
    assert dev[1] == pytest.approx((x4, (y2 + y3) / 2), abs=0.01)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loss.svg", "metrics.jsonl"]


def test_same_figures_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        draw_curves({"coupled": LINES, "decoupled": LINES[:3]}, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_several_runs(tmp_path: Path) -> None:
    figure = tmp_path / "curves.svg"
    draw_curves({"one": LINES, "two": LINES, "no held-out text": LINES[:2]}, figure)
    assert len(curves(figure)) == 5
    assert len(set(map(str, curves(figure)))) == 3


def test_png(tmp_path: Path) -> None:
    figure = tmp_path / "curves.png"
    draw_curves({"one": LINES}, figure)
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        draw_curves({"": LINES}, tmp_path / "file" / "loss.svg")
