"""Accuracy and mined pairs; the plain file faults of the official scorer (pitfall 31)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scoring.submission import write
from xharness.errors import InputError
from xharness.scoring import lines as lines_module
from xharness.scoring.labels import score_labels, score_pairs
from xharness.scoring.language_score import LanguageScore

LABELS = ("contradiction", "entailment", "neutral")


def labels_score(folder: Path, gold: str | bytes, predicted: str | bytes) -> LanguageScore:
    return score_labels(write(folder / "answers", predicted), write(folder / "gold", gold), LABELS)


@pytest.fixture(params=[1 << 20, 1], ids=["whole", "a line at a time"], autouse=True)
def block_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", request.param)


def test_accuracy(tmp_path: Path) -> None:
    score = labels_score(tmp_path, "neutral\nentailment\nneutral\n", "neutral\nneutral\nneutral\n")
    assert score.figures == {"accuracy": pytest.approx(200 / 3)}
    assert score.counts == {"examples": 3, "unanswered": 0}


@pytest.mark.parametrize(
    ("predicted", "counted"),
    [
        # Officially a third prediction, an assertion.
        (b"neutral\nentailment\n\n", {"trailing_blank_lines": 1}),
        (b"neutral\nentailment\n \n\n", {"trailing_blank_lines": 2, "padded_lines": 1}),
        # Officially part of the first label, which is then wrong.
        (b"\xef\xbb\xbfneutral\nentailment\n", {"byte_order_marks": 1}),
        (b"neutral\r\nentailment\r\n", {"crlf_lines": 2}),
        (b"neutral\x1c\nentailment\xc2\xa0\n", {"padded_lines": 2}),
        (b"neutral\nentailment", {}),
    ],
)
def test_mended_and_counted(tmp_path: Path, predicted: bytes, counted: dict[str, int]) -> None:
    score = labels_score(tmp_path, "neutral\nentailment\n", predicted)
    assert score.figures == {"accuracy": 100.0}
    assert score.counts == {"examples": 2, "unanswered": 0, **counted}


def test_the_same_in_the_gold_file(tmp_path: Path) -> None:
    score = labels_score(
        tmp_path, b"\xef\xbb\xbfneutral\r\nentailment\r\n\r\n", "neutral\nneutral\n"
    )
    assert score.figures == {"accuracy": 50.0}
    assert score.counts == {
        "examples": 2,
        "unanswered": 0,
        "gold_byte_order_marks": 1,
        "gold_crlf_lines": 3,
        "gold_trailing_blank_lines": 1,
    }


def test_one_right_prediction_of_three_is_not_100_percent(tmp_path: Path) -> None:
    """The official accuracy divides by the number of predictions."""
    with pytest.raises(InputError) as caught:
        labels_score(tmp_path, "neutral\nentailment\nneutral\n", "neutral\n")
    assert str(caught.value).startswith(f"{tmp_path / 'answers'}:2: 1 predictions for the 3 labels")


def test_too_many_predictions(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        labels_score(tmp_path, "neutral\n", "neutral\nneutral\nneutral\n")
    assert str(caught.value).startswith(f"{tmp_path / 'answers'}:2: 3 predictions for the 1 labels")


@pytest.mark.parametrize(
    ("gold", "predicted", "line", "numbers"),
    [
        (4, "neutral\n\n\n", 2, "3 predictions for the 4"),
        (4, "\n\n", 1, "2 predictions for the 4"),
        (2, "neutral\n\n\n\nneutral\n\n", 3, "5 predictions for the 2"),
    ],
)
def test_blank_lines_among_too_few_or_many(
    tmp_path: Path, gold: int, predicted: str, line: int, numbers: str
) -> None:
    with pytest.raises(InputError) as caught:
        labels_score(tmp_path, "neutral\n" * gold + "\n", predicted)
    assert str(caught.value).startswith(f"{tmp_path / 'answers'}:{line}: {numbers} labels")


def test_empty_prediction_file(tmp_path: Path) -> None:
    """Officially a division by zero."""
    with pytest.raises(InputError, match=":1: 0 predictions for the 2 labels"):
        labels_score(tmp_path, "neutral\nneutral\n", "")


def test_empty_gold_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="gold: no label in the file"):
        labels_score(tmp_path, "", "neutral\n")


def test_blank_line_between_predictions_is_unanswered(tmp_path: Path) -> None:
    score = labels_score(tmp_path, "neutral\nneutral\nentailment\n", "neutral\n\n\n")
    assert score.figures == {"accuracy": pytest.approx(100 / 3)}
    assert score.counts == {"examples": 3, "unanswered": 2}


def test_unknown_labels_are_counted(tmp_path: Path) -> None:
    score = labels_score(tmp_path, "-\nneutral\n", "neutral\ncontradictory\n")
    assert score.counts == {
        "examples": 2,
        "unanswered": 0,
        "unknown_labels": 1,
        "gold_unknown_labels": 1,
    }


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (b"neutral\n\nneutral\n", b"a\nb\nc\n", "gold:2: blank line"),
        (b"neutral\n\n\nneutral\n", b"a\nb\nc\nd\n", "gold:2: blank line"),
        (b"\nneutral\n", b"a\nb\n", "gold:1: blank line"),
        (b"\n\n", b"a\nb\n", "gold: no label in the file"),
        (b"\xef\xbb\xbf", b"a\n", "gold: no label in the file"),
        (b"neutral\n", b"\xef\xbb\xbf", "answers:1: 0 predictions for the 1 labels"),
        (b"neutral\n", b"neutral\tpremise\n", "answers:1: more than a label in the line"),
        (b"premise\tneutral\n", b"neutral\n", "gold:1: more than a label in the line"),
        (b"neutral\nneutral\n", b"neutral\nneutr\xe4l\n", r"answers:2: not UTF-8 \(byte 0xe4\)"),
        (b"neutral\nneutral\n", b"neutral\rneutral\n", "answers:1: carriage return inside a line"),
    ],
)
def test_refused(tmp_path: Path, gold: bytes, predicted: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        labels_score(tmp_path, gold, predicted)


@pytest.mark.parametrize(("lines", "status"), [(5, "scored"), (6, "unscored")])
def test_constant_gold(tmp_path: Path, lines: int, status: str) -> None:
    """Pitfall 23: placeholder labels are not scored, once there are more than a handful."""
    score = labels_score(tmp_path, "neutral\n" * lines, "neutral\n" * lines)
    assert score.status == status
    if status == "unscored":
        assert score.figures == {}
        assert score.reason == (
            f"constant gold: all 6 examples of {tmp_path / 'gold'} have the label 'neutral'"
        )
        assert score.counts["examples"] == 6


def pairs_score(folder: Path, gold: str, predicted: str) -> LanguageScore:
    return score_pairs(write(folder / "answers", predicted), write(folder / "gold", gold))


def test_pairs(tmp_path: Path) -> None:
    """Two of three predicted pairs are right, two of four found: P 66.7, R 50, F1 57.1."""
    score = pairs_score(
        tmp_path, "d1\te1\nd2\te2\nd3\te3\nd4\te4\n", "d1\te1\nd2\te2\nd3\te9\nd1\te1\n"
    )
    assert score.figures == {
        "f1": pytest.approx(400 / 7),
        "precision": pytest.approx(200 / 3),
        "recall": 50.0,
    }
    assert score.counts == {
        "examples": 4,
        "unanswered": 1,
        "predicted": 3,
        "duplicate_pairs": 1,
    }


def test_pair_with_a_blank(tmp_path: Path) -> None:
    """Officially the pair is wrong."""
    score = pairs_score(tmp_path, "d1\te1\n", "d1 \te1\n")
    assert score.figures["f1"] == 100.0
    assert score.counts["padded_fields"] == 1


def test_no_pair_mined_scores_zero(tmp_path: Path) -> None:
    score = pairs_score(tmp_path, "d1\te1\n", "")
    assert score.figures == {"f1": 0.0, "precision": 0.0, "recall": 0.0}
    assert score.counts == {"examples": 1, "unanswered": 1}


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        ("d1\te1\nd2 e2\n", "answers:2: 1 fields"),
        ("d1\te1\t0.9\n", "answers:1: 3 fields"),
        ("d1\te1\n\nd2\te2\n", "answers:2: 1 fields"),
    ],
)
def test_lines_that_are_no_pairs(tmp_path: Path, predicted: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        pairs_score(tmp_path, "d1\te1\n", predicted)
