"""Averages: over tasks and not over categories, and null where a language or task is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pitfalls.submission import one_language, write
from tests.records.examples import make_record
from xharness.leaderboards.table import build_tables
from xharness.records.record import Record
from xharness.scoring import score_submission
from xharness.specs.registry import Benchmark, load
from xharness.specs.task import TaskSpec

NAMES = ("xnli", "xquad", "mlqa", "tydiqa")
CATEGORIES = {"classification": NAMES[:1], "qa": NAMES[1:]}


def benchmark(*tasks: TaskSpec) -> Benchmark:
    return Benchmark(
        name="small",
        title="Small",
        tasks=tasks,
        categories=CATEGORIES,
        overall=NAMES,
        recipe="xtreme",
    )


def records(**holes: float | None) -> list[Record]:
    """XNLI at 90 in every language, the three question tasks at 30."""
    made = []
    for name in NAMES:
        value = 90.0 if name == "xnli" else 30.0
        languages = load(TaskSpec, name).languages
        figures: dict[str, float | None] = dict.fromkeys(languages, value)
        made.append(make_record(name, figures={**figures, **(holes if name == "mlqa" else {})}))
    return made


def test_the_overall_score_is_the_mean_of_four_tasks_not_of_two_categories() -> None:
    tables = build_tables(records(), benchmark(*(load(TaskSpec, name) for name in NAMES)))
    (categories,) = tables.categories.rows
    assert {key: cell.value for key, cell in categories.cells.items()} == {
        "classification": 90.0,
        "qa": 30.0,
    }
    (row,) = tables.tasks.rows
    assert row.average is not None
    assert row.average.value == pytest.approx(45.0)  # not 60


def test_a_missing_language_is_null_up_to_the_overall_score() -> None:
    tables = build_tables(records(hi=None), benchmark(*(load(TaskSpec, name) for name in NAMES)))
    (row,) = tables.tasks.rows
    (categories,) = tables.categories.rows
    assert row.cells["mlqa"].value is None
    assert row.cells["xquad"].value == 30.0
    assert categories.cells["qa"].value is None
    assert categories.cells["classification"].value == 90.0
    assert row.average is not None
    assert row.average.value is None
    assert any("hi" in note and "no average" in note for note in tables.tasks.notes)


def squad(name: str) -> str:
    qas = [{"id": name, "question": "?", "answers": [{"text": "a", "answer_start": 0}]}]
    return json.dumps({"data": [{"paragraphs": [{"context": "a", "qas": qas}]}]})


@pytest.mark.parametrize("missing", [False, True])
def test_scores_of_files_follow_the_same_rules(tmp_path: Path, missing: bool) -> None:
    tasks = tuple(one_language(name, "en") for name in NAMES)
    write(tmp_path / "gold/xnli/test-en.tsv", "neutral\nneutral\n")
    write(tmp_path / "predictions/xnli/test-en.tsv", "neutral\nneutral\n")
    for name in NAMES[1:]:
        write(tmp_path / f"gold/{name}/test-en.json", squad(name))
        if not (missing and name == "tydiqa"):
            write(tmp_path / f"predictions/{name}/test-en.json", json.dumps({name: "b"}))
    found = score_submission(tmp_path / "predictions", tmp_path / "gold", benchmark(*tasks))
    assert found["categories"] == {"classification": 100.0, "qa": None if missing else 0.0}
    assert found["overall"] == (None if missing else 25.0)
    assert found["missing"] == ([{"task": "tydiqa", "language": "en"}] if missing else [])
