"""Answers in languages without blanks: the official rules as they are, a character-level rule beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pitfalls.submission import figures


def squad(answer: str) -> str:
    qa = {"id": "1", "question": "?", "answers": [{"text": answer, "answer_start": 0}]}
    document = {
        "version": "1.1",
        "data": [{"title": "", "paragraphs": [{"context": "", "qas": [qa]}]}],
    }
    return json.dumps(document, ensure_ascii=False)


def scores(
    folder: Path, task: str, language: str, gold: str, answer: str, profile: str
) -> tuple[float, float]:
    found = figures(
        folder, task, squad(gold), json.dumps({"1": answer}), language=language, profile=profile
    )
    return found["exact_match"], found["f1"]


@pytest.mark.parametrize(
    ("task", "language", "profile", "f1"),
    [
        ("xquad", "zh", "official", 0.0),  # one token each, and they differ
        ("mlqa", "zh", "official", 600 / 7),  # three of four characters, all that were given right
        ("xquad", "zh", "strict", 600 / 7),
    ],
)
def test_three_of_four_characters(
    tmp_path: Path, task: str, language: str, profile: str, f1: float
) -> None:
    exact, found = scores(tmp_path, task, language, "天气很好", "天气好", profile)
    assert exact == 0.0
    assert found == pytest.approx(f1)


@pytest.mark.parametrize(("profile", "partly"), [("official", False), ("strict", True)])
def test_part_of_a_thai_answer(tmp_path: Path, profile: str, partly: bool) -> None:
    exact, f1 = scores(tmp_path, "xquad", "th", "กรุงเทพมหานคร", "กรุงเทพ", profile)
    assert exact == 0.0
    assert (f1 > 50) == partly
    assert partly or f1 == 0.0


@pytest.mark.parametrize(
    ("task", "profile", "exact"),
    [("xquad", "official", 0.0), ("mlqa", "official", 100.0), ("xquad", "strict", 100.0)],
)
def test_an_ideographic_full_stop(tmp_path: Path, task: str, profile: str, exact: float) -> None:
    assert scores(tmp_path, task, "zh", "北京", "北京。", profile)[0] == exact
