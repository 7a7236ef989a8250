"""A test file whose labels are all one: it is told, it is not scored, and no table has a number for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pitfalls.submission import score, write
from tests.records.examples import make_record
from xharness.data.checks import check_data
from xharness.leaderboards.table import build_tables
from xharness.records.record import LanguageResult
from xharness.specs.registry import benchmark_of_tasks

PLACEHOLDERS = {
    "xnli": ("neutral\n" * 9, "neutral\nentailment\ncontradiction\n" * 3),
    "pawsx": ("0\n" * 9, "0\n" * 9),
    "panx": ([["O", "O"]] * 9, [["O", "B-PER"]] * 9),
}


@pytest.mark.parametrize("task", PLACEHOLDERS)
def test_it_is_not_scored(tmp_path: Path, task: str) -> None:
    gold, predicted = PLACEHOLDERS[task]
    scores = score(tmp_path, task, gold, predicted)
    result = scores.languages["en"]
    assert (result.status, result.figures) == ("unscored", {})
    assert "constant gold" in (result.reason or "")
    assert scores.score is None


def test_a_handful_of_equal_labels_may_be_real(tmp_path: Path) -> None:
    assert score(tmp_path, "xnli", "neutral\n" * 5, "neutral\n" * 5).score == 100.0


def test_the_table_has_a_hole_and_says_why() -> None:
    record = make_record("xnli", figures={"en": None})
    unscored = LanguageResult(status="unscored", reason="constant gold: all 9 examples")
    record = record.model_copy(update={"languages": {**record.languages, "en": unscored}})
    tables = build_tables([record], benchmark_of_tasks(["xnli"]))
    assert tables.tasks.rows[0].cells["xnli"].value is None
    assert tables.by_task["xnli"].rows[0].cells["en"].value is None
    assert any("en (constant gold" in note for note in tables.tasks.notes)


def test_the_check_of_the_data_finds_it(tmp_path: Path) -> None:
    rows = "".join(f"a{i}\tb{i}\tneutral\n" for i in range(9))
    path = write(tmp_path / "xnli/test-de.tsv", rows)
    found = [f for f in check_data(tmp_path, benchmark_of_tasks(["xnli"])) if f.file == path]
    assert [(f.code, f.count, f.language) for f in found] == [("constant_gold", 9, "de")]
