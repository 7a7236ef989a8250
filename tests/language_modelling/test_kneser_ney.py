"""The n-gram model against a case computed by hand, its own definition, and the sum of its probabilities."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xharness.errors import InputError
from xharness.language_modelling.kneser_ney import KneserNey
from xharness.language_modelling.words import Ids

TEXTS = st.lists(st.integers(0, 4), min_size=1, max_size=40)


def ids(*numbers: int) -> Ids:
    return np.array(numbers, np.int32)


def test_by_hand() -> None:
    """a b a b a after an end of line, in a vocabulary of <unk> 0, <eos> 1, a 2 and b 3.

    Pairs: <eos> a once, a b and b a twice: the discount is 1 / (1 + 2 x 2) = 1/5. Before a stand two different
    words, before b one: 1 / (1 + 2 x 1) = 1/3 of 3 kinds, two followers, so 2/9 is left to the uniform 1/4.
    """
    model = KneserNey(ids(2, 3, 2, 3, 2), 4, 2, end_id=1)
    unigram = np.array([1, 1, 11, 5]) / 18
    assert model.distribution(ids(0)) == pytest.approx(unigram)  # <unk> was never a context
    after_a = 0.2 * 1 / 2 * unigram + np.array([0, 0, 0, 1.8 / 2])
    assert model.distribution(ids(2)) == pytest.approx(after_a)
    assert model.distribution(ids()) == pytest.approx(0.2 * unigram + np.array([0, 0, 0.8, 0]))
    assert model.probabilities(ids(2, 3)) == pytest.approx(
        [0.8 + 0.2 * 11 / 18, 0.9 + 0.1 * 5 / 18]
    )
    assert model.perplexity(ids(2, 3)).value == pytest.approx(
        ((0.8 + 0.2 * 11 / 18) * (0.9 + 0.1 * 5 / 18)) ** -0.5
    )


def plain(text: list[int], order: int, word: int, context: tuple[int, ...]) -> float:
    """Follow the definition with dictionaries: the probability among five words."""
    padded = [1] * (order - 1) + text
    grams = [tuple(padded[at : at + order]) for at in range(len(text))]
    counts = {order: Counter(grams)}
    for length in range(order - 1, 0, -1):
        counts[length] = Counter(gram[1:] for gram in counts[length + 1])
    found = 1 / 5
    for length in range(1, order + 1):
        ones, twos = (sum(n == k for n in counts[length].values()) for k in (1, 2))
        discount = ones / (ones + 2 * twos) if ones else 0.5
        before = context[len(context) - length + 1 :]
        same = {gram: n for gram, n in counts[length].items() if gram[:-1] == before}
        if same:
            total = sum(same.values())
            own = max(same.get((*before, word), 0) - discount, 0) / total
            found = own + discount * len(same) / total * found
    return found


@settings(max_examples=40)
@given(TEXTS, TEXTS, st.integers(1, 4))
def test_as_defined(text: list[int], other: list[int], order: int) -> None:
    model = KneserNey(ids(*text), 5, order, end_id=1)
    padded = [1] * (order - 1) + other
    expected = [
        plain(text, order, word, tuple(padded[at : at + order - 1]))
        for at, word in enumerate(other)
    ]
    assert model.probabilities(ids(*other)) == pytest.approx(expected)


@settings(max_examples=40)
@given(TEXTS, TEXTS, st.integers(1, 5))
def test_sums_to_one(text: list[int], context: list[int], order: int) -> None:
    found = KneserNey(ids(*text), 5, order, end_id=1).distribution(ids(*context))
    assert found.sum() == pytest.approx(1)
    assert found.min() > 0


def test_longer_contexts_help_where_text_repeats() -> None:
    """With the pattern 2 3 2 4, only two words before tell what follows a 2."""
    text = np.tile(ids(2, 3, 2, 4), 50)
    short, long = (KneserNey(text, 5, order, 1).perplexity(text).value for order in (2, 3))
    assert 1 < long < 1.1 < short < 1.6


def test_without_text() -> None:
    with pytest.raises(InputError, match="an order of 2 over 0 words"):
        KneserNey(ids(), 5, 2, 1)
    with pytest.raises(InputError, match="an order of 0"):
        KneserNey(ids(2), 5, 0, 1)
