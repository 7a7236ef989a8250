"""Batches by length: a partition of the rows within a budget; padding that comes off again."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from xharness.inference.batching import MAX_ROWS, collate, length_batches
from xharness.tasks.encoding import Encoding
from xharness.tasks.pieces import starts_of

lengths_lists = st.lists(st.integers(0, 40), max_size=60)
CPU = torch.device("cpu")


@given(lengths_lists, st.integers(1, 200), st.data())
def test_batches_are_a_partition_within_the_budget(
    values: list[int], tokens: int, data: st.DataObject
) -> None:
    lengths = np.array(values, np.int64)
    rows = None
    subsets = st.lists(st.sampled_from(range(len(values) or 1)), unique=True)
    chosen = data.draw(st.none() | subsets) if values else None
    if chosen is not None:
        rows = np.array(chosen, np.int64)
    batches = length_batches(lengths, tokens, rows)
    flat = [row for batch in batches for row in batch.tolist()]
    assert sorted(flat) == sorted(range(len(values)) if rows is None else rows.tolist())
    for batch in batches:
        assert 1 <= len(batch) <= MAX_ROWS
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= tokens
    # Longest first; of equal lengths the one that comes first in the input.
    place = {row: i for i, row in enumerate(range(len(values)) if rows is None else rows.tolist())}
    assert flat == sorted(flat, key=lambda row: (-lengths[row], place[row]))


@given(lengths_lists, st.integers(1, 200))
def test_no_two_neighbouring_batches_would_fit_in_one(values: list[int], tokens: int) -> None:
    lengths = np.array(values, np.int64)
    batches = length_batches(lengths, tokens)
    for first, second in pairwise(batches):
        assert (len(first) + 1) * max(lengths[first].max(), 1) > tokens or len(first) == MAX_ROWS
        assert lengths[first].min() >= lengths[second].max()


@given(lengths_lists, st.integers(1, 200), st.integers(0, 40))
def test_a_batch_is_closed_before_its_padding_grows_too_large(
    values: list[int], tokens: int, most: int
) -> None:
    lengths = np.array(values, np.int64)
    batches = length_batches(lengths, tokens, most_padding=most)
    assert sorted(row for batch in batches for row in batch.tolist()) == list(range(len(values)))
    for first, second in pairwise(batches):
        longest = lengths[first].max()
        padding = int(np.sum(longest - lengths[first]))
        assert padding <= most
        full = (len(first) + 1) * max(longest, 1) > tokens or len(first) == MAX_ROWS
        assert full or padding + longest - lengths[second[0]] > most


def test_padding_closes_batches_of_known_lengths() -> None:
    lengths = np.array([4, 9, 10, 3, 10])
    # 10, 10 and 9 leave one piece of padding; 4 would leave seven. 4 and 3 go together.
    batches = length_batches(lengths, 100, most_padding=6)
    assert [batch.tolist() for batch in batches] == [[2, 4, 1], [0, 3]]


def test_short_windows_are_held_to_a_number_of_rows() -> None:
    batches = length_batches(np.ones(MAX_ROWS + 1, np.int64), 10**9)
    assert [len(batch) for batch in batches] == [MAX_ROWS, 1]


def test_no_windows_are_no_batches() -> None:
    assert length_batches(np.zeros(0, np.int64), 64) == []


@given(
    st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=9), min_size=1, max_size=12),
    st.booleans(),
    st.data(),
)
def test_padding_comes_off_again(
    windows: list[list[int]], with_types: bool, data: st.DataObject
) -> None:
    flat = np.array([piece for window in windows for piece in window], np.int32)
    types = (flat % 2).astype(np.uint8) if with_types else np.zeros(0, np.uint8)
    encoding = Encoding(flat, starts_of([len(window) for window in windows]), types, {})
    chosen = data.draw(st.lists(st.sampled_from(range(len(windows))), min_size=1, unique=True))
    pad = data.draw(st.integers(0, 99))
    inputs = collate(encoding, np.array(chosen, np.int64), pad, CPU)
    longest = max(len(windows[row]) for row in chosen)
    expected = {"input_ids", "attention_mask"} | ({"token_type_ids"} if with_types else set())
    assert set(inputs) == expected
    for tensor in inputs.values():
        assert tensor.shape == (len(chosen), longest)
        assert tensor.dtype == torch.int64
    for i, row in enumerate(chosen):
        length = len(windows[row])
        ids, mask = inputs["input_ids"][i].tolist(), inputs["attention_mask"][i].tolist()
        assert ids == windows[row] + [pad] * (longest - length)
        assert mask == [1] * length + [0] * (longest - length)
        if with_types:
            kinds = [piece % 2 for piece in windows[row]]
            assert inputs["token_type_ids"][i].tolist() == kinds + [0] * (longest - length)


@pytest.mark.parametrize("pad", [0, 7])
def test_the_order_of_the_rows_is_kept(pad: int) -> None:
    encoding = Encoding(
        np.array([1, 2, 3, 4], np.int32), np.array([0, 1, 4]), np.zeros(0, np.uint8), {}
    )
    inputs = collate(encoding, np.array([1, 0]), pad, CPU)
    assert inputs["input_ids"].tolist() == [[2, 3, 4], [1, pad, pad]]
