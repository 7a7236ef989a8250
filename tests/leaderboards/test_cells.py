"""Means, gaps, groups and ranks of figures."""

from __future__ import annotations

from statistics import mean, stdev

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from xharness.leaderboards.cells import Cell, group_means, mean_or_hole, ranks, transfer_gap

percent = st.floats(0, 100)


@given(st.lists(percent, min_size=2, max_size=8))
def test_seeds_are_averaged_as_the_statistics_module_does(values: list[float]) -> None:
    cell = Cell.over_seeds(values)
    assert cell.value == pytest.approx(mean(values), abs=1e-9)
    assert cell.deviation == pytest.approx(stdev(values), abs=1e-9)
    assert (cell.seeds, cell.values) == (len(values), tuple(values))


@given(st.lists(percent | st.none(), max_size=5), st.lists(percent | st.none(), max_size=5))
def test_one_hole_makes_every_mean_a_hole(
    before: list[float | None], after: list[float | None]
) -> None:
    assert mean_or_hole([*before, None, *after]) is None
    cell = Cell.over_seeds([*before, None, *after])
    assert (cell.value, cell.deviation) == (None, None)


def test_no_value_has_no_mean() -> None:
    assert mean_or_hole([]) is None


def test_transfer_gap_of_published_cells() -> None:
    # PAWS-X of XLM-R Large as the XTREME paper has it: 94.7 - (89.7 + 90.1 + 90.4 + 78.7 + 79.0 + 82.3) / 6.
    cells = {"en": 94.7, "de": 89.7, "es": 90.1, "fr": 90.4, "ja": 78.7, "ko": 79.0, "zh": 82.3}
    assert transfer_gap(cells) == pytest.approx(9.6667, abs=1e-4)


@pytest.mark.parametrize(
    "cells", [{"en": 90.0}, {"de": 80.0}, {"en": None, "de": 80.0}, {"en": 90.0, "de": None}, {}]
)
def test_no_transfer_gap_without_english_others_or_every_figure(
    cells: dict[str, float | None],
) -> None:
    assert transfer_gap(cells) is None


def test_a_group_with_a_hole_is_a_hole_and_no_other() -> None:
    values = {"de": 60.0, "en": 80.0, "ta": 50.0, "te": None}
    families = {"de": "Indo-European", "en": "Indo-European", "ta": "Dravidian", "te": "Dravidian"}
    assert group_means(values, families) == {"Dravidian": None, "Indo-European": 70.0}


def test_equal_values_share_a_rank_and_the_next_is_skipped() -> None:
    # 0.1 + 0.2 is not 0.3 in binary, but no reader would call them different.
    assert ranks({0: 0.3, 1: 5.0, 2: 0.1 + 0.2, 3: None, 4: 0.2}) == {1: 1, 0: 2, 2: 2, 4: 4}


@example({0: 0.0, 1: 1e-8})
@given(st.dictionaries(st.integers(0, 30), percent | st.none(), max_size=12))
def test_a_rank_counts_the_higher_values(values: dict[int, float | None]) -> None:
    known = {key: value for key, value in values.items() if value is not None}
    found = ranks(values)
    assert found.keys() == known.keys()
    for key, place in found.items():
        apart = [value - known[key] for value in known.values()]
        # Of values as close as this it is left open whether they are equal.
        close = 1.1e-9
        assert place == 1 + sum(one > close for one in apart) or any(
            0 < abs(one) <= close for one in apart
        )


def test_parts_are_shown_in_the_order_asked_for_with_holes() -> None:
    order = ("exact_match", "f1")
    assert Cell(71.8, parts={"f1": 79.6, "exact_match": 64.0}).in_parts(order) == "64.0/79.6"
    assert Cell(None, parts={"f1": 79.6}).in_parts(order) == "-/79.6"
    assert Cell(None).in_parts(order) == "-"
    cell = Cell(
        71.8,
        0.5,
        3,
        parts={"f1": 79.6, "exact_match": 64.0},
        part_deviations={"f1": 0.4, "exact_match": 0.6},
    )
    assert cell.in_parts(order) == "64.0 ± 0.6/79.6 ± 0.4"
