"""Rankings of candidates by cosine."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xharness.tasks.retrieval import ranked

IDS = [f"c{number:02}" for number in range(30)]


def test_best_first_and_no_more_than_asked() -> None:
    source = np.array([[1, 0], [0, 2]], np.float32)
    target = np.array([[0, 1], [3, 0], [1, 1], [0, 0]], np.float32)
    assert ranked(source, target, IDS[:4], 3).tolist() == [[1, 2, 0], [0, 2, 1]]
    assert ranked(source, target, IDS[:4], 9).shape == (2, 4)


@given(st.integers(0, 2**32 - 1))
def test_the_order_of_the_targets_does_not_matter(seed: int) -> None:
    random = np.random.default_rng(seed)
    source = random.normal(size=(4, 3)).astype(np.float32)
    # Few different vectors, so that ties are many.
    target = random.integers(-1, 2, size=(30, 3)).astype(np.float32)
    shuffled = random.permutation(30)
    first = np.array(IDS)[ranked(source, target, IDS, 20)]
    names = [IDS[at] for at in shuffled]
    again = np.array(names)[ranked(source, target[shuffled], names, 20)]
    assert (first == again).all()
