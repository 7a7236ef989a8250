from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xharness.errors import InputError
from xharness.translation.batches import (
    EncodedPairs,
    encode_pairs,
    epoch_batches,
    length_batches,
    pair_batch,
)
from xharness.translation.vocabulary import BEGIN, END, PAD

lengths = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=60)


def pairs_of(sizes: list[tuple[int, int]]) -> EncodedPairs:
    return encode_pairs([[7] * s for s, _ in sizes], [[8] * t for _, t in sizes], None)


@settings(max_examples=50)
@given(lengths, st.integers(2, 120), st.integers(0, 9))
def test_an_epoch_holds_each_pair_once_within_the_budget(
    sizes: list[tuple[int, int]], tokens: int, seed: int
) -> None:
    pairs = pairs_of(sizes)
    batches = epoch_batches(pairs, tokens, seed, 3)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(sizes)))
    for chosen in batches:
        batch = pair_batch(pairs, chosen)
        padded = batch.source.size + batch.inputs.size
        assert padded <= tokens or len(chosen) == 1


def test_epochs_differ_and_can_be_had_again() -> None:
    pairs = pairs_of([(3, 4)] * 50)
    first, again, second = (epoch_batches(pairs, 45, 1, epoch) for epoch in (0, 0, 1))
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert np.concatenate(first).tolist() != np.concatenate(second).tolist()


def test_pairs_of_like_length_share_a_batch() -> None:
    pairs = pairs_of([(9, 9), (1, 1), (9, 9), (1, 1)])
    assert [sorted(chosen.tolist()) for chosen in length_batches(pairs, 40)] == [[1, 3], [0, 2]]


def test_a_batch_is_padded_and_predicts_every_piece_and_the_end() -> None:
    pairs = encode_pairs([[5, 6], [7]], [[8], [9, 10]], None)
    batch = pair_batch(pairs, np.array([0, 1]))
    assert batch.source.tolist() == [[5, 6, END], [7, END, PAD]]
    assert batch.inputs.tolist() == [[BEGIN, 8, PAD], [BEGIN, 9, 10]]
    assert batch.positions.tolist() == [0, 1, 3, 4, 5]
    assert batch.labels.tolist() == [8, END, 9, 10, END]


def test_long_pairs_are_left_out_and_counted() -> None:
    # The end counts: three pieces and the end are four.
    pairs = encode_pairs([[5] * 3, [5] * 4, [5]], [[6], [6], [6] * 9], 4)
    assert (len(pairs), pairs.left_out) == (1, 2)
    with pytest.raises(InputError, match="no sentence pair has 3 pieces or fewer"):
        encode_pairs([[5] * 3], [[6]], 3)
