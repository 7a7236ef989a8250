"""Rows of unequal length in flat arrays."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xharness.tasks.pieces import Ragged, ranges, starts_of

Rows = st.lists(st.lists(st.integers(0, 9), max_size=5), min_size=1, max_size=6)


def rows_of(ragged: Ragged) -> list[list[int]]:
    return [ragged[i].tolist() for i in range(len(ragged))]


@given(Rows)
def test_rows_come_back(rows: list[list[int]]) -> None:
    ragged = Ragged.of(rows)
    assert rows_of(ragged) == rows
    assert ragged.lengths.tolist() == [len(row) for row in rows]


@given(Rows, st.data())
def test_rows_are_taken_in_any_order_and_cut(rows: list[list[int]], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8))
    lengths = data.draw(st.lists(st.integers(0, 6), min_size=len(chosen), max_size=len(chosen)))
    ragged = Ragged.of(rows)
    assert rows_of(ragged.take(chosen)) == [rows[i] for i in chosen]
    assert rows_of(ragged.take(chosen, lengths)) == [
        rows[i][:n] for i, n in zip(chosen, lengths, strict=True)
    ]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5)), min_size=1, max_size=8))
def test_ranges_are_concatenated(parts: list[tuple[int, int]]) -> None:
    starts, lengths = np.array(parts).T
    assert ranges(starts, lengths).tolist() == [i for s, n in parts for i in range(s, s + n)]


def test_starts_of_nothing() -> None:
    assert starts_of([]).tolist() == [0]
