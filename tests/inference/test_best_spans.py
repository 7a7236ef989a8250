"""The choice of a window's best span, against a plain search over all pairs and rule by rule."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from xharness.inference.prediction import best_spans

#: Numbers that float32 adds without rounding, so that equal sums are equal.
logits = st.integers(-64, 64).map(lambda n: n / 4) | st.sampled_from(
    [math.nan, math.inf, -math.inf]
)


def reference(
    start: list[float],
    end: list[float],
    may_start: list[bool],
    may_end: list[bool],
    max_length: int,
) -> float:
    """Return the highest sum over all pairs that the rules allow."""
    sums = [
        start[i] + end[j]
        for i in range(len(start))
        for j in range(i, min(i + max_length, len(end)))
        if may_start[i] and may_end[j] and math.isfinite(start[i]) and math.isfinite(end[j])
    ]
    return max(sums, default=-math.inf)


def best(
    start: list[list[float]],
    end: list[list[float]],
    may_start: list[list[bool]] | None = None,
    may_end: list[list[bool]] | None = None,
    n_best: int = 99,
    max_length: int = 99,
) -> list[tuple[float, int, int]]:
    everywhere = [[True] * len(start[0])] * len(start)
    found = best_spans(
        torch.tensor(start, dtype=torch.float32),
        torch.tensor(end, dtype=torch.float32),
        torch.tensor(may_start or everywhere),
        torch.tensor(may_end or everywhere),
        n_best=n_best,
        max_answer_length=max_length,
    )
    return list(zip(*(tensor.tolist() for tensor in found), strict=True))


@given(st.data(), st.integers(1, 3), st.integers(1, 7), st.integers(1, 8))
def test_finds_the_best_of_all_spans(
    data: st.DataObject, batch: int, length: int, max_length: int
) -> None:
    def table(values: st.SearchStrategy[float] | st.SearchStrategy[bool]) -> list[list[float]]:
        row = st.lists(values, min_size=length, max_size=length)
        return data.draw(st.lists(row, min_size=batch, max_size=batch))

    start, end = table(logits), table(logits)
    may_start = [[bool(v) for v in row] for row in table(st.booleans())]
    may_end = [[bool(v) for v in row] for row in table(st.booleans())]
    found = best(start, end, may_start, may_end, n_best=length, max_length=max_length)
    for row, (score, first, last) in enumerate(found):
        args = (start[row], end[row], may_start[row], may_end[row])
        assert score == reference(*args, max_length)
        assert 0 <= first < length
        assert 0 <= last < length
        if score > -math.inf:
            assert first <= last < first + max_length
            assert may_start[row][first]
            assert may_end[row][last]
            assert start[row][first] + end[row][last] == score


def test_an_end_may_not_lie_before_its_start() -> None:
    assert best([[0, 1, 8]], [[9, 2, 0]]) == [(9.0, 0, 0)]
    assert best([[0, 1, 9]], [[8, 2, 0]]) == [(9.0, 2, 2)]


@pytest.mark.parametrize(
    ("max_length", "expected"), [(1, (5.0, 0, 0)), (2, (9.0, 1, 2)), (3, (14.0, 0, 2))]
)
def test_a_span_may_not_be_too_long(max_length: int, expected: tuple[float, int, int]) -> None:
    assert best([[5, 0, -9]], [[0, 1, 9]], max_length=max_length) == [expected]


def test_both_ends_must_be_allowed() -> None:
    start, end = [[9.0, 1.0, 0.0]], [[0.0, 1.0, 9.0]]
    assert best(start, end) == [(18.0, 0, 2)]
    assert best(start, end, may_start=[[False, True, True]]) == [(10.0, 1, 2)]
    assert best(start, end, may_end=[[True, True, False]]) == [(10.0, 0, 1)]


def test_only_the_best_starts_and_ends_are_paired() -> None:
    # The best start lies behind the best end: with one candidate on each side nothing is left.
    start, end = [[1.0, 0.0, 9.0]], [[9.0, 1.0, 0.0]]
    assert best(start, end, n_best=1)[0][0] == -math.inf
    assert best(start, end, n_best=2) == [(10.0, 0, 0)]


def test_candidates_are_drawn_from_allowed_positions_only() -> None:
    # The highest logits lie outside the context; one candidate on each side is enough all the same.
    start, end = [[9.0, 9.0, 2.0, 0.0]], [[9.0, 9.0, 0.0, 3.0]]
    context = [[False, False, True, True]]
    assert best(start, end, context, context, n_best=1) == [(5.0, 2, 3)]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_logits_that_are_not_finite_never_win(bad: float) -> None:
    assert best([[bad, 1.0, 0.0]], [[0.0, bad, 1.0]]) == [(2.0, 1, 2)]
    assert best([[bad] * 3], [[0.0, 1.0, 2.0]])[0][0] == -math.inf
    assert best([[0.0, 1.0, 2.0]], [[bad] * 3])[0][0] == -math.inf


def test_no_candidate_scores_minus_infinity_and_leaves_the_other_windows_alone() -> None:
    none, every = [False, False], [True, True]
    found = best([[1.0, 2.0]] * 2, [[1.0, 2.0]] * 2, [none, every], [every, every])
    assert found[0][0] == -math.inf
    assert found[1] == (4.0, 1, 1)


def test_more_candidates_than_positions() -> None:
    assert best([[1.0]], [[2.0]], n_best=20) == [(3.0, 0, 0)]
