"""Perplexity against cases computed by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.language_modelling.perplexity import Perplexity


def test_by_hand() -> None:
    """Words of probability 1/2, 1/4 and 1/8: the geometric mean is 1/4, the perplexity 4."""
    found = Perplexity(math.log(2) + math.log(4) + math.log(8), 3)
    assert found.value == pytest.approx(4)
    assert found.mean_loss == pytest.approx(math.log(4))


@given(st.integers(1, 100_000), st.integers(1, 1000))
def test_equal_choices(choices: int, words: int) -> None:
    """Guessing among n equally likely words has a perplexity of n."""
    assert Perplexity(words * math.log(choices), words).value == pytest.approx(choices)


def test_ends_of_the_scale() -> None:
    assert Perplexity(0.0, 5).value == 1
    assert Perplexity(1e6, 5).value == math.inf
    assert math.isnan(Perplexity(0.0, 0).value)
    assert math.isnan(Perplexity(math.nan, 5).value)
