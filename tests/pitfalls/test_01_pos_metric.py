"""POS has two metrics, span F1 and token accuracy: both are reported, and a profile chooses one openly."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pitfalls.submission import figures, score
from xharness.specs.registry import benchmark_of_suite

GOLD = [["NOUN", "NOUN", "NOUN", "VERB"]]
PREDICTED = [["NOUN", "VERB", "NOUN", "VERB"]]


def test_both_figures_are_reported_under_their_own_names(tmp_path: Path) -> None:
    found = figures(tmp_path, "udpos", GOLD, PREDICTED)
    # Gold has the spans NOUN 0-2 and VERB 3; predicted are four spans of one word, of which VERB 3 is right.
    assert found["f1"] == pytest.approx(100 / 3)
    assert found["precision"] == pytest.approx(25)
    assert found["recall"] == pytest.approx(50)
    assert found["accuracy"] == pytest.approx(75)


@pytest.mark.parametrize(
    ("profile", "figure", "value"), [("official", "f1", 100 / 3), ("strict", "accuracy", 75)]
)
def test_the_score_is_the_figure_of_the_profile(
    tmp_path: Path, profile: str, figure: str, value: float
) -> None:
    assert benchmark_of_suite("xtreme").task("udpos").score_figures(profile) == (figure,)
    assert score(tmp_path, "udpos", GOLD, PREDICTED, profile=profile).score == pytest.approx(value)
