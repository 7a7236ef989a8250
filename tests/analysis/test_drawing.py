"""Figures of the analyses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xharness.analysis.drawing import (
    Curve,
    Point,
    _apart,
    _looks,
    check_figure,
    draw_curves,
    draw_points,
)
from xharness.errors import InputError

CURVES = [
    Curve("a $name$ <b>", [0, 1, 2], [1.0, None, 3.0], errors=[0.1, 0.0, 0.2]),
    Curve("published", [1, 2], [2.0, 2.5], published=True),
]


@pytest.mark.parametrize(
    ("ending", "begins"),
    [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG"), ("SVG", b"<?xml")],
)
def test_the_ending_decides_the_format(ending: str, begins: bytes, tmp_path: Path) -> None:
    path = tmp_path / "new" / f"figure.{ending}"
    draw_curves(path, CURVES, x_label="layer", y_label="%")
    assert path.read_bytes().startswith(begins)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", ["svg", "pdf"])
def test_the_same_figures_give_the_same_bytes(ending: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{i}.{ending}" for i in range(2)]
    for path in paths:
        points = [Point("de", 1.5, 70.0, "a"), Point("$zh$", 2.5, 60.0, "b")]
        draw_points(path, points, x_label="pieces per word", y_label="score (%)", title="t")
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_names_are_text_and_never_markup(tmp_path: Path) -> None:
    """A name that TeX or XML would choke on is drawn as it stands."""
    path = tmp_path / "figure.svg"
    draw_points(
        path, [Point("$\\frac{", 1.0, 1.0, "<script>")], x_label="x", y_label="y", title="&"
    )
    assert b"<script>" not in path.read_bytes()


def test_names_of_places_and_their_order(tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"
    draw_curves(path, CURVES[:1], x_label="set", y_label="x", ticks=["one", "two", "three"])
    text = path.read_text()
    # Letters are drawn as outlines; matplotlib leaves each text as a comment.
    assert text.index("<!-- one -->") < text.index("<!-- two -->") < text.index("<!-- three -->")


def test_panels_share_a_legend_and_many_curves_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"
    curves = [
        Curve(f"encoder {number}", [0, 1], [number, number + 1.0], panel=panel)
        for panel in ("POS", "entities")
        for number in range(10)
    ]
    draw_curves(path, curves, x_label="layer", y_label="%")
    text = path.read_text()
    assert text.count("<!-- POS -->") == text.count("<!-- entities -->") == 1
    assert all(text.count(f"<!-- encoder {number} -->") == 1 for number in range(10))
    looks = _looks(curves)
    assert len({tuple(sorted(look.items())) for look in looks.values()}) == 10
    assert _apart(["a"]) == {"a": 0.0}
    assert sorted(_apart(["a", "b", "c"]).values()) == pytest.approx([-0.08, 0.0, 0.08])


def test_a_long_legend_takes_no_room_from_the_curves(tmp_path: Path) -> None:
    def height(names: int) -> float:
        path = tmp_path / f"{names}.svg"
        curves = [Curve(f"encoder {n}", [0, 1], [n, n + 1.0]) for n in range(names)]
        draw_curves(path, curves, x_label="layer", y_label="%")
        (found,) = re.findall(r'<svg [^>]*height="([0-9.]+)pt"', path.read_text())
        return float(found)

    # Three names a line, 0.17 inches of 72 points each.
    assert height(12) - height(3) == pytest.approx(3 * 0.17 * 72)


def test_unusable_files_are_refused(tmp_path: Path) -> None:
    check_figure(None)
    with pytest.raises(InputError, match=r"cannot be written as [.]gif"):
        check_figure(tmp_path / "figure.gif")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        draw_curves(tmp_path / "file" / "figure.svg", CURVES, x_label="x", y_label="y")
