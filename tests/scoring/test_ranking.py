"""Mean average precision at 20: hand-computed values, the official rule for Mewsli-X, file faults."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scoring.submission import write
from xharness.errors import InputError
from xharness.scoring.language_score import LanguageScore
from xharness.scoring.ranking import average_precision, score_rankings
from xharness.scoring.scores import score_submission
from xharness.specs.registry import benchmark_of_suite


def rankings_score(folder: Path, gold: object, predicted: object) -> LanguageScore:
    return score_rankings(
        write(folder / "answers.json", json.dumps(predicted)),
        write(folder / "gold.json", json.dumps(gold)),
    )


@pytest.mark.parametrize(
    ("relevant", "ranked", "expected"),
    [
        ({"a"}, ["a", "b"], 1.0),
        ({"a"}, ["b", "c", "a"], 1 / 3),
        ({"a"}, [], 0.0),
        ({"a", "b"}, ["a", "x", "b"], (1 / 1 + 2 / 3) / 2),
        ({"a", "b"}, ["x", "a"], (1 / 2) / 2),
        # A repeated candidate counts once, and takes the place that it stands in.
        ({"a", "b"}, ["a", "a", "b"], (1 / 1 + 2 / 3) / 2),
        # Beyond the twentieth nothing counts.
        ({"a"}, ["x"] * 20 + ["a"], 0.0),
        ({"a"}, ["x"] * 19 + ["a"], 1 / 20),
        # 25 right candidates: a perfect list of 20 is all that can be had.
        (set(map(str, range(25))), list(map(str, range(20))), 1.0),
    ],
)
def test_average_precision(relevant: set[str], ranked: list[str], expected: float) -> None:
    assert average_precision(relevant, ranked) == pytest.approx(expected, abs=1e-15)


names = st.sampled_from([f"Q{n}" for n in range(30)])


@given(names, st.lists(names, max_size=30))
def test_one_right_candidate_gives_its_reciprocal_rank(gold: str, ranked: list[str]) -> None:
    """What the official script computes for Mewsli-X, bit for bit."""
    best = next((1.0 / rank for rank, name in enumerate(ranked[:20], 1) if name == gold), 0.0)
    assert average_precision({gold}, ranked) == best


@given(st.sets(names, min_size=1), st.lists(names, max_size=30))
def test_average_precision_by_its_definition(relevant: set[str], ranked: list[str]) -> None:
    firsts = [name if name not in ranked[:at] else None for at, name in enumerate(ranked[:20])]
    right = [name in relevant for name in firsts]
    precisions = [sum(right[:at]) / at for at in range(1, len(right) + 1)]
    expected = sum(p for p, is_right in zip(precisions, right, strict=True) if is_right)
    expected /= min(len(relevant), 20)
    assert average_precision(relevant, ranked) == pytest.approx(expected, abs=1e-12)
    assert 0 <= expected <= 1 + 1e-12


def test_mean_over_queries_counts_the_unanswered_as_zero(tmp_path: Path) -> None:
    gold = {"q1": ["a"], "q2": ["b", "c"], "q3": ["d"]}
    predicted = {"q1": ["x", "a"], "q2": ["b", "c"], "q9": ["a"], "q3": []}
    score = rankings_score(tmp_path, gold, predicted)
    assert score.figures == {"map@20": pytest.approx(100 * (1 / 2 + 1 + 0) / 3)}
    assert score.counts == {"examples": 3, "unanswered": 1, "extra_ids": 1}


def test_blanks_are_taken_off_gold_only_as_officially(tmp_path: Path) -> None:
    score = rankings_score(tmp_path, {"q": [" a "], "r": ["b"]}, {"q": ["a"], "r": ["b "]})
    assert score.figures == {"map@20": 50.0}


def test_long_and_repeating_rankings_are_counted(tmp_path: Path) -> None:
    predicted = {"q": [f"x{n}" for n in range(25)], "r": ["a", "a"]}
    counts = rankings_score(tmp_path, {"q": ["y"], "r": ["a"]}, predicted).counts
    assert counts["rankings_beyond_20"] == 1
    assert counts["repeated_candidates"] == 1


def test_placeholder_gold_is_not_scored(tmp_path: Path) -> None:
    gold = {f"q{n}": ["Q0"] for n in range(10)}
    score = rankings_score(tmp_path, gold, {f"q{n}": ["Q0"] for n in range(10)})
    assert score.status == "unscored"
    assert score.figures == {}
    assert "constant gold" in str(score.reason)


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ({}, {}, r"gold.json: no query"),
        ({"q": []}, {}, r"gold.json:1: query 'q' has no right candidate"),
        ({"q": ["a"]}, [], r"answers.json:1: not a JSON object"),
        ({"q": ["a"]}, {"q": "a"}, r"answers.json:1: the candidates of 'q' are not a list"),
        ({"q": ["a"]}, {"q": [1]}, r"answers.json:1: the candidates of 'q' are not a list"),
        ({"q": "a"}, {}, r"gold.json:1: the candidates of 'q' are not a list"),
    ],
)
def test_faults_are_refused(tmp_path: Path, gold: object, predicted: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rankings_score(tmp_path, gold, predicted)


@pytest.mark.shared
def test_the_official_mock_submission(shared: Path) -> None:
    """One mention a language, so the figure is 100 over the gold entity's rank."""
    place = shared / "conformance" / "mock"
    benchmark = benchmark_of_suite("xtreme-r")
    scores = score_submission(place / "predictions", place / "labels", benchmark)
    expected = {}
    for path in sorted((place / "labels" / "mewslix").iterdir()):
        (query, (entity,)) = next(iter(json.loads(path.read_text(encoding="utf-8")).items()))
        ranked = json.loads((place / "predictions" / "mewslix" / path.name).read_text())[query]
        expected[path.stem.removeprefix("test-")] = 1 / (ranked.index(entity) + 1) * 100
    task = scores["tasks"]["mewslix"]
    assert len(expected) == 11
    assert task["metrics"]["map@20"] == expected
    assert task["score"] == pytest.approx(sum(expected.values()) / 11, abs=1e-9)
    # A partial folder: what is there is scored, what needs more is null and named.
    assert scores["tasks"]["mlqa"]["score"] is not None
    assert scores["categories"] == dict.fromkeys(benchmark.categories)
    assert scores["overall"] is None
    assert {"task": "xcopa", "language": "et"} in scores["missing"]
    assert scores["ignored"] == ["bucc2018/", "pawsx/"]
