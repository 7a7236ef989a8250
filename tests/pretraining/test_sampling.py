"""Shares of languages."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.errors import InputError
from xharness.pretraining.sampling import language_probabilities

LINES = st.dictionaries(st.text(min_size=1, max_size=3), st.integers(1, 10**12), min_size=1)


def test_worked_example() -> None:
    """Square roots of 900 and 100 lines are as 3 to 1."""
    assert language_probabilities({"en": 900, "sw": 100}, 0.5) == pytest.approx(
        {"en": 0.75, "sw": 0.25}
    )


@given(LINES, st.floats(0, 1))
def test_they_sum_to_one_and_keep_the_ratio(lines: dict[str, int], alpha: float) -> None:
    shares = language_probabilities(lines, alpha)
    assert math.fsum(shares.values()) == pytest.approx(1)
    first = next(iter(lines))
    for language, count in lines.items():
        assert shares[language] / shares[first] == pytest.approx((count / lines[first]) ** alpha)


def test_the_ends_of_alpha() -> None:
    lines = {"en": 7, "sw": 1}
    assert language_probabilities(lines, 1) == pytest.approx({"en": 7 / 8, "sw": 1 / 8})
    assert language_probabilities(lines, 0) == pytest.approx({"en": 0.5, "sw": 0.5})


@pytest.mark.parametrize(
    ("lines", "alpha", "message"),
    [
        ({}, 0.5, "no language"),
        ({"en": 3, "sw": 0}, 0.5, "language sw has 0 lines"),
        ({"en": 3}, -0.1, "alpha is -0.1"),
        ({"en": 3}, math.nan, "alpha is nan"),
    ],
)
def test_bad_input(lines: dict[str, int], alpha: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        language_probabilities(lines, alpha)
