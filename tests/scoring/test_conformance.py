"""Every figure of the official evaluate.py, under both seqeval versions, on the shared inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from xharness.scoring import check_with_seqeval, score_submission
from xharness.specs.registry import benchmark_of_suite

RELEASES = {"official": "1.2.2", "official-2020": "0.0.12"}
TOLERANCE = 1e-9


@pytest.mark.shared
@pytest.mark.parametrize("profile", RELEASES)
@pytest.mark.parametrize("folder", ["mock", "medium"])
def test_official_figures(shared: Path, folder: str, profile: str) -> None:
    place = shared / "conformance" / folder
    release = RELEASES[profile]
    expected = json.loads((place / f"expected_seqeval_{release}.json").read_text(encoding="utf-8"))
    scores = score_submission(
        place / "predictions", place / "labels", benchmark_of_suite("xtreme"), profile
    )
    assert scores["complete"]
    wrong = [
        (name, ours, value)
        for name, ours, value in figure_pairs(expected, scores)
        if ours != pytest.approx(value, rel=0, abs=TOLERANCE)
    ]
    assert wrong == []
    # 162 language files with one to three figures each, their averages, categories and the whole.
    assert len(list(figure_pairs(expected, scores))) == 375


def figure_pairs(expected: dict[str, Any], scores: dict[str, Any]) -> list[tuple[str, Any, float]]:
    pairs: list[tuple[str, Any, float]] = []
    for name, value in expected.items():
        if name == "all_task":
            pairs.append((name, scores["overall"], value))
        elif not isinstance(value, dict):
            pairs.append((name, scores["categories"][name], value))
        else:
            task = scores["tasks"][name]
            for figure, figures in value.items():
                if figure == "avg_metric":
                    pairs.append((f"{name} {figure}", task["score"], figures))
                elif figure.startswith("avg_"):
                    average = task["averages"][figure.removeprefix("avg_")]
                    pairs.append((f"{name} {figure}", average, figures))
                else:
                    pairs.extend(
                        (f"{name} {figure} {code}", task["metrics"][figure].get(code), one)
                        for code, one in figures.items()
                    )
    return pairs


@pytest.mark.shared
def test_empty_gold_answers_and_colliding_ids_are_counted(shared: Path) -> None:
    """TyDiQA as XTREME rewrites it: Bengali gold is blank, English ids collide. Scored alike, and said."""
    place = shared / "conformance" / "medium"
    scores = score_submission(place / "predictions", place / "labels", benchmark_of_suite("xtreme"))
    counts = scores["tasks"]["tydiqa"]["counts"]
    assert counts["bn"]["gold_empty_answers"] == counts["bn"]["examples"] == 20
    assert counts["en"]["gold_duplicate_ids"] > 0


@pytest.mark.shared
@pytest.mark.parametrize("profile", ["official", "strict"])
def test_seqeval_agrees(shared: Path, profile: str) -> None:
    place = shared / "conformance" / "medium"
    compared = check_with_seqeval(
        place / "predictions", place / "labels", benchmark_of_suite("xtreme"), profile
    )
    # 40 NER languages with three figures; 33 POS languages with four, or accuracy alone.
    assert compared == 40 * 3 + 33 * (4 if profile == "official" else 1)
