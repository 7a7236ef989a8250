"""Chosen answers as JSON lines, XCOPA's submission format."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scoring.submission import write
from xharness.errors import InputError
from xharness.scoring.choices import score_choices
from xharness.scoring.language_score import LanguageScore
from xharness.scoring.scores import score_task
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec


def choices_score(folder: Path, gold: str, predicted: str) -> LanguageScore:
    return score_choices(
        write(folder / "answers.jsonl", predicted), write(folder / "gold.jsonl", gold)
    )


def lines(*labels: int) -> str:
    return "".join(f'{{"label": {label}}}\n' for label in labels)


def test_accuracy_and_a_data_file_as_gold(tmp_path: Path) -> None:
    gold = '{"premise": "p", "label": 1, "idx": 0}\r\n{"premise": "q", "label": 0, "idx": 1}\r\n'
    score = choices_score(tmp_path, gold, lines(1, 1))
    assert score.figures == {"accuracy": 50.0}
    assert score.counts == {"examples": 2, "unanswered": 0, "gold_crlf_lines": 2}


def test_a_blank_line_is_unanswered(tmp_path: Path) -> None:
    score = choices_score(tmp_path, lines(1, 0), "\n" + lines(0))
    assert score.figures == {"accuracy": 50.0}
    assert score.counts["unanswered"] == 1


def test_blanked_labels_are_not_scored(tmp_path: Path) -> None:
    """XTREME's own copy of XCOPA's test files has the label 0 in every row (pitfall 23)."""
    score = choices_score(tmp_path, lines(*[0] * 500), lines(*[0, 1] * 250))
    assert score.status == "unscored"
    assert "constant gold" in str(score.reason)


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        (lines(1), r"answers.jsonl:2: 1 predictions for the 2 labels"),
        (lines(1) + "1\n", r"answers.jsonl:2: not an object with a label"),
        (lines(1) + '{"choice": 1}\n', r"answers.jsonl:2: not an object with a label"),
        (lines(1) + '{"label": "1"}\n', r"answers.jsonl:2: label '1' is not a whole number"),
        (lines(1) + '{"label": true}\n', r"answers.jsonl:2: label True is not a whole number"),
        (lines(1) + "{\n", r"answers.jsonl:2: not an object with a label"),
    ],
)
def test_faults_are_refused(tmp_path: Path, predicted: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        choices_score(tmp_path, lines(1, 0), predicted)


def test_xcopa_files_are_found_by_their_official_name(tmp_path: Path) -> None:
    task = load(TaskSpec, "xcopa").model_copy(update={"languages": ("et",)})
    write(tmp_path / "predictions/xcopa/test-et.jsonl", lines(0, 1, 1, 0))
    write(tmp_path / "labels/xcopa/test-et.jsonl", lines(0, 1, 0, 0))
    assert score_task(task, tmp_path / "predictions", tmp_path / "labels").score == 75.0
