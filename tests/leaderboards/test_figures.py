"""Figures: which there are, what is written in them, and the same bytes twice."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import matplotlib
import pytest

from tests.records.examples import make_record
from xharness.leaderboards.figures import figure_files, heat_map, seed_strips, slug, transfer_gap
from xharness.leaderboards.table import Tables, build_tables
from xharness.records.record import Record
from xharness.specs.registry import benchmark_of_suite


def tables_of(*records: Record) -> Tables:
    return build_tables(records, benchmark_of_suite("xtreme"))


@pytest.fixture(scope="module")
def tables() -> Tables:
    records = [
        make_record(task, seed, model, {"en": 60.0 + seed, "de": None if task == "mlqa" else 55.0})
        for task in ("pawsx", "mlqa")
        for seed in (1, 2)
        for model in ("a", "<script>$x_1$")
    ]
    return tables_of(*records)


def texts(figure: object) -> set[str]:
    from matplotlib.text import Text

    found = figure.findobj(Text)  # type: ignore[attr-defined]
    return {text.get_text() for text in found}


def test_the_heat_map_has_every_figure_and_marks_holes(tables: Tables) -> None:
    row = next(row for row in tables.tasks.rows if row.model == "a")
    shown = texts(heat_map(tables, row))
    assert {"61.5", "55.0", "50.0", "–"} < shown  # English over seeds, German, others, German MLQA
    assert {"English  en", "German  de", "Indo-European", "PAWS-X", "MLQA", "average"} < shown


def test_the_transfer_gap_leaves_out_who_has_none(tables: Tables) -> None:
    shown = texts(transfer_gap(tables))
    assert "PAWS-X" in shown
    assert "MLQA" not in shown  # German is a hole
    # English 61 and 62; de 55 and five others of 50: gaps 10.17 and 11.17.
    assert "10.7 ± 0.7" in shown


def test_the_seed_strips_tell_mean_deviation_and_number(tables: Tables) -> None:
    figure = seed_strips(tables)
    # (61 + 55 + 250) / 7 = 52.29 and 52.43
    assert "52.4 ± 0.1  (n = 2)" in texts(figure)
    points = [line for axes in figure.axes for line in axes.lines if line.get_marker() == "o"]
    assert [len(line.get_xdata()) for line in points] == [2, 2]  # type: ignore[arg-type]


def test_the_same_tables_give_the_same_bytes_whatever_the_user_has_set() -> None:
    tables = tables_of(
        *(make_record("pawsx", s, "<script>$x_1$", {"en": 60.0 + s}) for s in (1, 2))
    )
    first = figure_files(tables, ("svg", "pdf"))
    names = (f"heatmap-{slug(tables.tasks.rows[0])}", "transfer-gap", "seeds")
    assert set(first) == {f"{name}.{kind}" for name in names for kind in ("svg", "pdf")}
    with matplotlib.rc_context({"font.size": 20, "svg.hashsalt": "other", "text.usetex": True}):
        assert figure_files(tables, ("svg", "pdf")) == first
    for name, content in first.items():
        if name.endswith(".svg"):
            ET.fromstring(content)
            assert b"<script" not in content
        else:
            assert content.startswith(b"%PDF")
        assert not re.search(rb"CreationDate|<dc:date", content)


def test_a_file_name_never_leaves_the_folder_and_never_clashes() -> None:
    names = ["../../etc/passwd", "a/b", "a b", "a+b", "<b>", "日本", "中国", "$x$", "..", "é"]
    slugs = [slug(tables_of(make_record(model=name)).tasks.rows[0]) for name in names]
    assert all(re.fullmatch(r"[a-z0-9-]+", found) for found in slugs)
    assert len(set(slugs)) == len(names)


def test_no_figure_where_there_is_nothing_to_draw() -> None:
    assert figure_files(tables_of(make_record("tatoeba", figures={})), ()) == {}
    drawn = figure_files(tables_of(make_record("tatoeba")), ("svg",))
    assert list(drawn) == ["heatmap-own-m.svg"]
