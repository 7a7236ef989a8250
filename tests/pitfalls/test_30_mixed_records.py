"""Records that cannot be compared are not put in one table."""

from __future__ import annotations

import pytest

from tests.records.examples import make_record
from xharness.errors import InputError
from xharness.leaderboards.table import build_tables
from xharness.specs.registry import benchmark_of_tasks

XNLI = benchmark_of_tasks(["xnli"])


def test_profiles_are_not_mixed() -> None:
    records = [make_record(profile="official"), make_record(seed=2, profile="strict")]
    with pytest.raises(InputError, match="records of different profiles: official, strict"):
        build_tables(records, XNLI)


def test_a_result_that_is_there_twice_is_refused() -> None:
    with pytest.raises(InputError, match="two records of m on xnli with seed 1"):
        build_tables([make_record(), make_record()], XNLI)


def test_a_deviation_is_a_standard_deviation_and_says_so() -> None:
    # 50 and 60: the sample's standard deviation is 7.07, 1.96 standard errors would be 9.8.
    values = [dict.fromkeys(XNLI.tasks[0].languages, value) for value in (50.0, 60.0)]
    records = [make_record(seed=seed, figures=dict(v)) for seed, v in enumerate(values)]
    cell = build_tables(records, XNLI).tasks.rows[0].cells["xnli"]
    assert (cell.value, cell.seeds) == (55.0, 2)
    assert cell.deviation == pytest.approx(50**0.5)


def test_what_sets_a_record_apart_is_a_note_of_the_table() -> None:
    tables = build_tables([make_record(limit=5)], XNLI)
    assert any("tested on at most 5 examples" in note for note in tables.tasks.notes)
