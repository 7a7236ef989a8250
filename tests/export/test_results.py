"""Grouping and averaging of records, with hand-computed values."""

from __future__ import annotations

from typing import Any

import pytest

from tests.export.exported_records import make_full_record
from xharness.errors import InputError
from xharness.export.results import Result, collect
from xharness.records.record import LanguageResult, Record


def by_language(records: list[Record]) -> dict[str | None, Result]:
    (model,) = collect(records)
    (task,) = model.tasks
    return {result.language: result for result in task.results}


def test_seeds_are_averaged_with_the_sample_deviation() -> None:
    results = by_language([make_full_record(seed=s, value=v) for s, v in ((7, 80.0), (3, 84.0))])
    for language in (None, "de"):
        cell = results[language].figures["accuracy"]
        # Mean of 80 and 84; sample deviation sqrt(((80 - 82)^2 + (84 - 82)^2) / 1).
        assert (cell.value, cell.seeds) == (82.0, 2)
        assert cell.deviation == pytest.approx(8**0.5)
        assert "mean of 2 seeds: 3, 7" in results[language].notes


def test_score_of_question_answering_is_the_mean_of_both_figures() -> None:
    results = by_language([make_full_record("xquad", value=60.0, second=70.0)])
    assert results["de"].score.value == 65.0  # exact match 60, F1 70
    assert results[None].score.value == 65.0
    assert {name: cell.value for name, cell in results["de"].figures.items()} == {
        "exact_match": 60.0,
        "f1": 70.0,
    }


def test_hole_is_named_and_takes_the_mean_with_it() -> None:
    (model,) = collect([make_full_record(holes=("th", "ur"))])
    (task,) = model.tasks
    assert len(task.results) == 13  # XNLI has 15 languages
    assert all(result.language not in (None, "th", "ur") for result in task.results)
    assert task.holes == (
        "XNLI th (no data)",
        "XNLI ur (no data)",
        "XNLI mean over languages (a language is missing)",
    )


def test_a_hole_in_one_seed_is_a_hole() -> None:
    (model,) = collect([make_full_record(seed=1), make_full_record(seed=2, holes=("th",))])
    assert "XNLI th (no data, seed 2)" in model.tasks[0].holes
    assert "th" not in {result.language for result in model.tasks[0].results}


def test_stand_in_is_noted_for_its_own_language_only() -> None:
    record = make_full_record("bucc2018")
    zh = LanguageResult(status="scored", figures=record.languages["zh"].figures, stand_in="dev")
    results = by_language([record.model_copy(update={"languages": {**record.languages, "zh": zh}})])
    note = "zh scored on dev, the test files are absent"
    assert note in results["zh"].notes
    assert note in results[None].notes
    assert note not in results["de"].notes


def test_limits_profiles_and_their_kin_are_noted() -> None:
    record = make_full_record(profile="strict")
    protocol = record.protocol.model_copy(update={"limit": 7, "limit_train": 9})
    notes = by_language([record.model_copy(update={"protocol": protocol})])["de"].notes
    assert "scoring profile strict: not comparable with official figures" in notes
    assert "tested on at most 7 examples a language" in notes
    assert "trained on at most 9 examples" in notes
    assert "read from files" in notes
    assert "fine-tuned on xnli, recipe xtreme" in notes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"spec_sha256": "e" * 64}, "seeds 1 and 2 differ in the specification"),
        ({"limit": 5}, "differ in the protocol"),
        ({"test": {"de": {"a.tsv": "0" * 64}}}, "differ in the test data"),
    ],
)
def test_seeds_of_different_conditions_are_not_averaged(
    change: dict[str, Any], message: str
) -> None:
    other = make_full_record(seed=2)
    if "limit" in change:
        change = {"protocol": other.protocol.model_copy(update=change)}
    elif "test" in change:
        change = {"data": other.data.model_copy(update=change)}
    with pytest.raises(InputError, match=message):
        collect([make_full_record(seed=1), other.model_copy(update=change)])


def test_two_records_of_one_seed_are_refused() -> None:
    with pytest.raises(InputError, match="two records of m on xnli with seed 1"):
        collect([make_full_record(), make_full_record(value=51.0)])


def test_two_models_of_one_name_are_refused() -> None:
    other = make_full_record("pawsx", model={"name": "m", "weights_sha256": "2" * 64})
    with pytest.raises(InputError, match="different weights share the name 'm'"):
        collect([make_full_record(), other])


@pytest.mark.parametrize("value", [float("nan"), -1.0, 100.5])
def test_what_is_no_percentage_is_refused(value: float) -> None:
    with pytest.raises(InputError, match=r"accuracy is .*, which is no percentage"):
        collect([make_full_record(value=value)])


def test_profiles_stay_apart() -> None:
    (model,) = collect([make_full_record(), make_full_record(profile="strict")])
    assert [task.record.profile for task in model.tasks] == ["official", "strict"]
