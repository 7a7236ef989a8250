"""Tables and heat maps in a real Chromium: the figures equal the tables'; sorting, filters, columns."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.leaderboards.page.conftest import Opener
from tests.leaderboards.page.examples import printed_row
from tests.leaderboards.page.shown import (
    MINUS,
    ROWS,
    column,
    expected,
    figures,
    header,
    models,
    printed,
)
from xharness.leaderboards.table import Tables

pytestmark = pytest.mark.browser


def test_every_table_shows_the_figures_of_the_tables(opened: Opener, small: Tables) -> None:
    page = opened(small)
    for table in small.all:
        page.evaluate("table => { location.hash = `table=${table}` }", table.name)
        page.wait_for_function(
            "title => document.getElementById('title').textContent === title", arg=table.title
        )
        shown = dict(zip(models(page), figures(page), strict=True))
        assert shown == {row.model: expected(table, row) for row in table.rows}


def test_a_large_table_shows_the_figures_of_the_table(opened: Opener, large: Tables) -> None:
    table = large.by_task["panx"]
    page = opened(large, "table=panx&cells=plain")
    shown = dict(zip(models(page), figures(page), strict=True))
    assert len(shown) == 30
    assert shown == {row.model: expected(table, row) for row in table.rows}


def test_halves_are_rounded_as_in_the_text_tables(opened: Opener, small: Tables) -> None:
    # Quarters lie exactly halfway between two printed figures: Python gives them to the even digit.
    columns = {f"c{i}": f"c{i}" for i in range(80)}
    rows = [
        printed_row(f"row {start}", columns, {key: start + i / 20 for i, key in enumerate(columns)})
        for start in (0.0, 0.0125, 61.0, 96.0, -3.0)
    ]
    tables = replace(small, tasks=replace(small.tasks, columns=columns, rows=tuple(rows)))
    page = opened(tables)
    shown = dict(zip(models(page), figures(page), strict=True))
    assert shown == {row.model: expected(tables.tasks, row) for row in rows}
    assert shown["row 61.0"][1 + 25] == "62.2"  # 62.25, which rounding half up makes 62.3


def test_seeds_and_parts_stand_below_the_figure(opened: Opener, small: Tables) -> None:
    page = opened(small)
    row = page.locator(ROWS, has_text="own-three-seeds")
    own = next(r for r in small.tasks.rows if r.model == "own-three-seeds")
    xnli, xquad = own.cells["xnli"], own.cells["xquad"]
    assert row.locator("td.figure").nth(1).locator("small").all_text_contents() == [
        f"± {xnli.deviation:.1f}, n 3"
    ]
    lines = row.locator("td.figure").nth(5).locator("small").all_text_contents()
    assert lines[1:] == [
        f"{title} {xquad.parts[name]:.1f} ± {xquad.part_deviations[name]:.1f}"
        for title, name in (("EM", "exact_match"), ("F1", "f1"))
    ]
    page.get_by_label("Spread and parts").uncheck()
    assert row.locator("small").count() == 0
    assert "cells=plain" in page.url


def test_a_hole_is_shown_and_explained(opened: Opener, small: Tables) -> None:
    page = opened(small, "table=panx")
    cell = page.locator(ROWS, has_text="own-with-holes").locator("td.hole").last
    assert cell.locator("[aria-hidden]").text_content() == "–"
    assert cell.locator(".unseen").text_content() == "hole: no data"
    page.locator(".holes summary").click()
    assert "own-with-holes (zero-shot): th" in page.locator(".holes").inner_text()


def test_remarks_and_notes_are_footnotes(opened: Opener, small: Tables) -> None:
    page = opened(small)
    row = page.locator(ROWS, has_text="FILTER")
    assert row.locator("sup").inner_text().endswith("1")
    notes = page.locator("#notes").inner_text()
    assert "FILTER: average over tasks: printed 77.0, its cells give 74.42" in notes
    for note in small.tasks.notes:
        assert note in notes


def test_sorting_by_any_column_and_back(opened: Opener, small: Tables) -> None:
    page = opened(small, "table=pawsx")
    assert header(page, "Average") == "descending"
    page.get_by_role("button", name="de (German)").click()
    shown = [float(text) for text in column(page, "de")]
    assert shown == sorted(shown, reverse=True)
    assert header(page, "de (German)") == "descending"
    assert header(page, "Average") == "none"
    page.get_by_role("button", name="de (German)").click()
    shown = [float(text) for text in column(page, "de")]
    assert shown == sorted(shown)
    assert header(page, "de (German)") == "ascending"
    page.get_by_role("button", name="Model", exact=True).click()
    assert models(page) == sorted(models(page))
    page.get_by_role("button", name=re.compile("^Gap")).click()
    gaps = [float(text.replace(MINUS, "-")) for text in column(page, "Gap")]
    assert gaps == sorted(gaps)


@pytest.mark.parametrize("clicks", [1, 2])
def test_holes_come_last_in_both_directions(opened: Opener, small: Tables, clicks: int) -> None:
    page = opened(small)
    for _ in range(clicks):
        page.get_by_role("button", name="MLQA").click()
    assert column(page, "MLQA")[-2:] == ["–", "–"]


def test_ranks_are_shared_by_equals(opened: Opener, small: Tables) -> None:
    page = opened(small)
    places = page.locator(f"{ROWS} .rank").all_text_contents()
    assert places == [
        "1",
        "2",
        "3",
        "4",
        "5",
        "5",
        "5",
        "5",
        "",
        "",
    ]  # four rows have the same figures


def test_filtering_by_name_and_setting(opened: Opener, small: Tables) -> None:
    page = opened(small)
    page.get_by_placeholder("filter by name").fill("OWN-")
    assert set(models(page)) == {"own-three-seeds", "own-with-holes"}
    assert "2 of 10 rows" in page.locator("#status").inner_text()
    page.get_by_placeholder("filter by name").fill("")
    page.get_by_label(re.compile("^translate-train")).check()
    assert models(page) == ["FILTER"]
    page.get_by_placeholder("filter by name").fill("nothing")
    assert page.get_by_text("No model passes the filters.").is_visible()
    page.get_by_role("button", name="Clear the filters").click()
    assert len(models(page)) == 10
    assert page.get_by_placeholder("filter by name").input_value() == ""


def test_columns_are_hidden_and_averages_stay(opened: Opener, small: Tables) -> None:
    page = opened(small, "table=xnli")
    averages = column(page, "Average")
    page.locator(".columns summary").click()
    page.get_by_role("button", name="only these (Turkic)").click()
    headers = page.locator("#view thead th:not(.rank, .model) bdi").all_text_contents()
    assert headers == ["Average", "Gap", "tr"]
    assert column(page, "Average") == averages
    assert (
        "14 of 15 languages hidden; averages and gaps are over all of them"
        in page.locator("#status").inner_text()
    )
    page.get_by_label("German (de)").check()
    assert "de" in page.locator("#view thead th bdi").all_text_contents()
    page.keyboard.press("Escape")
    assert not page.get_by_label("German (de)").is_visible()
    assert page.locator("#column-count").inner_text() == "2 of 15"


def test_means_by_family_and_script(opened: Opener, small: Tables) -> None:
    page = opened(small, "table=xnli")
    page.get_by_role("combobox", name="By").select_option("scripts")
    row = next(r for r in small.by_task["xnli"].rows if r.model == "own-three-seeds")
    shown = dict(zip(models(page), figures(page), strict=True))["own-three-seeds"]
    assert shown[2:] == [printed(cell) for cell in row.scripts.values()]


def test_the_heat_map_colours_by_figure_and_keeps_the_numbers(
    opened: Opener, small: Tables
) -> None:
    page = opened(small, "table=pawsx&view=heat")
    table = small.by_task["pawsx"]
    cells: list[tuple[int, str]] = page.locator("#view td[data-heat]").evaluate_all(
        "all => all.map(cell => [Number(cell.dataset.heat), cell.textContent])"
    )
    values = [
        cell.value for row in table.rows for cell in (row.average, *row.cells.values()) if cell
    ]
    assert len(cells) == len(values)
    assert {text for _, text in cells} == {f"{value:.1f}" for value in values}
    by_level = [float(text) for _, text in sorted(cells)]
    known = [value for value in values if value is not None]
    step = (max(known) - min(known)) / 24
    for (level, text), value in zip(sorted(cells), by_level, strict=True):
        assert float(text) == value
        assert abs(level - (value - min(known)) / step) <= 0.5 + 0.05 / step + 1e-6
    assert page.locator(".legend").inner_text().split() == [
        f"{min(known):.1f}",
        f"{max(known):.1f}",
    ]
    page.get_by_label("Colours within each column").check()
    highest = page.locator("#view td[data-heat='24']").count()
    assert highest >= 1 + len(table.columns)
