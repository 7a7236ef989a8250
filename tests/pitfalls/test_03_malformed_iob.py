"""Tags outside IOB2: the official profile is as lenient as seqeval, the strict one is not, none divides by zero."""

from __future__ import annotations

from pathlib import Path

import pytest
from seqeval.metrics import f1_score

from tests.pitfalls.submission import figures, score


@pytest.mark.parametrize(
    ("profile", "f1"), [("official", 100.0), ("official-2020", 100.0), ("strict", 0.0)]
)
def test_an_entity_that_begins_with_i(tmp_path: Path, profile: str, f1: float) -> None:
    gold, predicted = [["B-PER", "I-PER"]], [["I-PER", "I-PER"]]
    found = score(tmp_path, "panx", gold, predicted, profile=profile).languages["en"]
    assert found.figures["f1"] == f1
    assert found.counts.get("malformed_tags", 0) == 0  # I- is a tag of IOB2, in the wrong place


@pytest.mark.parametrize("profile", ["official", "official-2020", "strict"])
def test_nothing_but_outside_is_zero(tmp_path: Path, profile: str) -> None:
    outside = [["O", "O"], ["O"]]
    found = figures(tmp_path, "panx", outside, outside, profile=profile)
    assert found == {"f1": 0.0, "precision": 0.0, "recall": 0.0}


#: Sentences with tags of other schemes, and what an IOB2 reader sees of them.
ODD = {
    "bare": [["B", "I", "O"], ["I", "B"]],
    "iobes": [["S-LOC", "O", "B-LOC", "E-LOC"], ["E-LOC", "S-LOC"]],
    "hyphen": [["B-MISC-x", "I-MISC-x"], ["B-PER-x"]],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ODD)
def test_other_schemes_count_as_the_library_counts_them(tmp_path: Path, name: str) -> None:
    gold = [["B-PER", "I-PER", "O"], ["B-LOC", "O"]]
    for truth, predicted in ((ODD[name], ODD[name]), (ODD[name], _like(ODD[name], gold))):
        ours = figures(tmp_path, "panx", truth, predicted)["f1"]
        assert ours == pytest.approx(100 * f1_score(truth, predicted), abs=1e-9)


def _like(shape: list[list[str]], tags: list[list[str]]) -> list[list[str]]:
    """Return tags in sentences of the same lengths."""
    flat = [tag for sentence in tags for tag in sentence] * 2
    return [[flat.pop(0) for _ in sentence] for sentence in shape]


@pytest.mark.parametrize(
    ("profile", "f1"),
    [
        ("official", 0.0),  # the type is all after the first hyphen
        ("official-2020", 100.0),  # after the last
        ("strict", 0.0),
    ],
)
def test_a_hyphen_inside_a_type(tmp_path: Path, profile: str, f1: float) -> None:
    assert figures(tmp_path, "panx", [["B-MISC-x"]], [["B-PER-x"]], profile=profile)["f1"] == f1


def test_tags_outside_the_scheme_are_counted(tmp_path: Path) -> None:
    found = score(tmp_path, "panx", [["B-LOC", "O"]], [["S-LOC", "B"]], profile="strict")
    assert found.languages["en"].figures["f1"] == 0.0
    assert found.languages["en"].counts["malformed_tags"] == 2
    assert found.languages["en"].counts["unknown_labels"] == 2
