"""Aggregation and rendering, with hand-computed values."""

from __future__ import annotations

import pytest

from tests.records.examples import make_record
from xharness.errors import InputError
from xharness.leaderboards.rendering import markdown, terminal
from xharness.leaderboards.table import Cell, build_tables
from xharness.records.record import Record
from xharness.specs.registry import benchmark_of_suite

XTREME = benchmark_of_suite("xtreme")


def full_set(model: str, seed: int, shift: float = 0.0) -> list[Record]:
    """Return records of all nine tasks; task i scores 10 i + shift in every language."""
    records = []
    for i, task in enumerate(XTREME.tasks, start=1):
        if task.kind == "retrieval" and seed > 1:
            continue
        value = 10.0 * i + (shift if task.kind != "retrieval" else 0.0)
        figures: dict[str, float | None] = dict.fromkeys(task.languages, value)
        records.append(make_record(task.name, seed, model, figures))
    return records


def test_overall_is_the_mean_of_tasks_and_not_of_categories() -> None:
    tables = build_tables(full_set("m", 1), XTREME)
    row = tables.tasks.rows[0]
    assert row.average is not None
    assert row.average.value == pytest.approx(50.0)  # (10 + ... + 90) / 9
    categories = {name: cell.value for name, cell in tables.categories.rows[0].cells.items()}
    # xnli 10, pawsx 20 | udpos 30, panx 40 | xquad 50, mlqa 60, tydiqa 70 | bucc2018 80, tatoeba 90
    assert categories == {"classification": 15.0, "tagging": 35.0, "qa": 60.0, "retrieval": 85.0}


def test_seeds_give_mean_and_sample_deviation() -> None:
    tables = build_tables([*full_set("m", 1), *full_set("m", 2, shift=2.0)], XTREME)
    row = tables.tasks.rows[0]
    assert (row.cells["xnli"].value, row.cells["xnli"].seeds) == (11.0, 2)
    assert row.cells["xnli"].deviation == pytest.approx(2**0.5)
    assert str(row.cells["xnli"]) == "11.0 ± 1.4"
    assert row.cells["tatoeba"] == Cell(90.0, None, 1)
    assert row.average is not None
    # Seven of nine tasks move by 2, so the second seed's average is 50 + 14/9; the mean is 50 + 7/9.
    assert row.average.value == pytest.approx(50 + 7 / 9)
    assert row.average.seeds == 2


def test_hole_makes_every_average_above_it_a_hole() -> None:
    records = [r for r in full_set("m", 1) if r.task != "panx"]
    records.append(make_record("panx", 1, "m", {"th": None}))
    tables = build_tables(records, XTREME)
    row = tables.tasks.rows[0]
    assert row.cells["panx"].value is None
    assert row.average is not None
    assert row.average.value is None
    assert tables.categories.rows[0].cells["tagging"].value is None
    assert tables.categories.rows[0].cells["classification"].value == 15.0
    assert tables.by_task["panx"].rows[0].cells["th"].value is None
    assert tables.by_task["panx"].rows[0].cells["de"].value == 50.0
    assert "hole: NER th (no data), so no average over it" in tables.tasks.notes


def test_task_not_run_is_named() -> None:
    tables = build_tables([make_record("xnli")], XTREME)
    assert any(note.startswith("not run: PAWS-X, POS") for note in tables.tasks.notes)


def test_profiles_are_never_mixed() -> None:
    records = [make_record("xnli"), make_record("pawsx", profile="strict")]
    with pytest.raises(InputError, match="different profiles: official, strict"):
        build_tables(records, XTREME)


def test_two_records_of_one_cell_are_refused() -> None:
    with pytest.raises(InputError, match="two records of m on xnli with seed 1"):
        build_tables([make_record(), make_record()], XTREME)


def test_markdown_escapes_model_names() -> None:
    text = markdown(build_tables([make_record(model="<script>|x_y")], XTREME))
    assert "<script>" not in text
    assert "&lt;script&gt;\\|x\\_y" in text


def test_gap_is_english_minus_the_mean_of_the_rest() -> None:
    figures: dict[str, float | None] = {"en": 80.0, "de": 64.0}  # the other 13 languages have 50
    text = terminal(build_tables([make_record(figures=figures)], XTREME))
    gap = next(line for line in text.splitlines() if line.startswith("gap"))
    assert gap.split()[1] == "29.0"  # 80 - (64 + 13 * 50) / 14


def test_limits_are_marked() -> None:
    text = markdown(build_tables([make_record(limit=7)], XTREME))
    assert "XNLI: tested on at most 7 examples a language" in text


def test_data_of_different_revisions_are_never_mixed_unawares() -> None:
    one, other = make_record(model="a"), make_record(model="b")
    data = other.data.model_copy(update={"test": {"de": {"xnli/test-de.tsv": "f" * 64}}})
    one = one.model_copy(
        update={
            "data": one.data.model_copy(update={"test": {"de": {"xnli/test-de.tsv": "0" * 64}}})
        }
    )
    other = other.model_copy(update={"data": data})
    with pytest.raises(
        InputError, match=r"XNLI: the data of de differs between a seed 1 and b seed 1"
    ):
        build_tables([one, other], XTREME)
    notes = build_tables([one, other], XTREME, mixed=True).tasks.notes
    assert any(note.startswith("mixed: XNLI: the data of de differs") for note in notes)


def test_specifications_that_differ_are_never_mixed_unawares() -> None:
    other = make_record(model="b").model_copy(update={"spec_sha256": "f" * 64})
    with pytest.raises(InputError, match="the specification differs"):
        build_tables([make_record(model="a"), other], XTREME)


def test_degenerate_seed_is_named() -> None:
    record = make_record()
    training = {
        "degenerate": True,
        "dev_scores": [[10, 34.0]],
        "chosen_step": 10,
        "dev_chance": 33.3,
    }
    protocol = record.protocol.model_copy(update={"training": training})
    tables = build_tables([record.model_copy(update={"protocol": protocol})], XTREME)
    assert any("seed 1 is degenerate: 34.0 on English dev" in note for note in tables.tasks.notes)


def test_a_suite_scores_its_own_languages_whatever_the_record_averaged() -> None:
    # XTREME-R's XQuAD has Romanian, XTREME's has not: 11 languages of 50 and Romanian missing give a hole there.
    record = make_record("xquad")
    assert record.score == 50.0
    tables = build_tables([record], benchmark_of_suite("xtreme-r"))
    row = tables.tasks.rows[0]
    assert row.cells["xquad"].value is None
    assert row.holes["xquad"] == "ro (not in the record)"
    assert row.holes["xnli"] == "not run"


def test_a_question_task_shows_both_figures() -> None:
    languages = benchmark_of_suite("xtreme").task("xquad").languages
    record = make_record("xquad")
    figures = {"f1": 80.0, "exact_match": 60.0}
    results = {
        code: record.languages[code].model_copy(update={"figures": figures}) for code in languages
    }
    record = record.model_copy(update={"languages": results})
    tables = build_tables([record], XTREME)
    cell = tables.tasks.rows[0].cells["xquad"]
    assert cell.value == 70.0
    assert cell.in_parts(tables.tasks.parts["xquad"]) == "60.0/80.0"
    assert tables.by_task["xquad"].rows[0].cells["de"].parts == figures


def test_gap_and_groups_are_formed_for_each_seed() -> None:
    # PAWS-X: English 90 and 80, the six others 60 in both seeds, so the gaps are 30 and 20.
    others: dict[str, float | None] = dict.fromkeys(("de", "es", "fr", "ja", "ko", "zh"), 60.0)
    records = [
        make_record("pawsx", seed, "m", {**others, "en": english})
        for seed, english in ((1, 90.0), (2, 80.0))
    ]
    row = build_tables(records, XTREME).by_task["pawsx"].rows[0]
    assert row.gap is not None
    assert (row.gap.value, row.gap.seeds) == (25.0, 2)
    assert row.gap.deviation == pytest.approx(50**0.5)
    # de, en, es and fr: (60 * 3 + 90) / 4 and (60 * 3 + 80) / 4.
    assert row.families["Indo-European"].value == pytest.approx((67.5 + 65.0) / 2)
    assert row.families["Korean (isolate)"].value == 60.0
    assert row.scripts["Latn"].value == pytest.approx(66.25)
    assert {"Hans", "Jpan", "Kore"} < set(row.scripts)


def test_retrieval_has_no_gap_without_english() -> None:
    row = build_tables([make_record("tatoeba")], XTREME).by_task["tatoeba"].rows[0]
    assert row.gap is None


def test_rows_are_ranked_by_the_average_and_holes_come_last() -> None:
    low, high, holed = full_set("low", 1), full_set("high", 1, shift=5.0), full_set("holed", 1)
    tables = build_tables([*low, *holed[:8], *high], XTREME)
    assert [row.model for row in tables.tasks.rows] == ["high", "low", "holed"]
    assert [row.ranks.get("average") for row in tables.tasks.rows] == [1, 2, None]
    assert [row.ranks["xnli"] for row in tables.tasks.rows] == [1, 2, 2]


def test_two_records_that_disagree_are_named_with_their_scores() -> None:
    other = make_record(figures=dict.fromkeys(XTREME.task("xnli").languages, 60.0))
    with pytest.raises(InputError, match=r"m on xnli with seed 1 that disagree: 50\.00 and 60\.00"):
        build_tables([make_record(), other], XTREME)


def test_one_name_for_two_sets_of_weights_is_refused() -> None:
    other = make_record("pawsx").model_copy(
        update={"model": {"name": "m", "weights_sha256": "2" * 64}}
    )
    with pytest.raises(InputError, match="model m: the digest of the weights differs"):
        build_tables([make_record(), other], XTREME)


def test_seeds_that_were_limited_in_different_ways_are_refused() -> None:
    with pytest.raises(
        InputError, match="the training or the limit differs between m seed 1 and m seed 2"
    ):
        build_tables([make_record(), make_record(seed=2, limit=5)], XTREME)


def test_profiles_that_are_mixed_on_demand_have_rows_of_their_own() -> None:
    records = [make_record(), make_record(profile="strict")]
    tables = build_tables(records, XTREME, mixed=True)
    assert [row.model for row in tables.tasks.rows] == ["m [official]", "m [strict]"]
    assert "mixed: scoring profiles official, strict" in tables.tasks.notes
    assert "mixed: scoring profiles official, strict" in tables.by_task["xnli"].notes


def test_every_table_names_its_profile_and_only_its_own_limits() -> None:
    records = [make_record(limit=7), make_record("pawsx", model="other")]
    tables = build_tables(records, XTREME)
    for name in ("xnli", "pawsx"):
        assert "scoring profile: official" in tables.by_task[name].notes
    limit = "XNLI: tested on at most 7 examples a language (m)"
    assert limit in tables.tasks.notes
    assert limit.removesuffix(" (m)") in tables.by_task["xnli"].notes
    assert not any("tested on" in note for note in tables.by_task["pawsx"].notes)
