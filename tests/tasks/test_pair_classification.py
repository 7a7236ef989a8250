"""Pairs in one window, the longer side cut first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tasks.counted_pieces import DOUBLE, SINGLE, CountedPieces
from xharness.data.examples import PairExample
from xharness.specs.recipe import Settings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.pair_classification import encode, labels_of, longest_first
from xharness.tasks.pieces import Template

XNLI = load(TaskSpec, "xnli")


def cut_one_by_one(first: int, second: int, room: int) -> tuple[int, int]:
    """The official truncation: one piece at a time from the longer side, from the second where both are equal."""
    while first + second > room:
        if first > second:
            first -= 1
        else:
            second -= 1
    return first, second


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=20),
    st.integers(1, 40),
)
def test_longest_first_is_the_official_loop(lengths: list[tuple[int, int]], room: int) -> None:
    first, second = np.array(lengths, np.int64).T
    kept = longest_first(first, second, room)
    assert list(zip(*(k.tolist() for k in kept), strict=True)) == [
        cut_one_by_one(a, b, room) for a, b in lengths
    ]


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=8),
    st.integers(8, 20),
    st.sampled_from([DOUBLE, SINGLE]),
)
def test_windows_hold_what_is_kept_of_both(
    lengths: list[tuple[int, int]], max_length: int, template: Template
) -> None:
    tokenizer = CountedPieces({f"w{n}": n for n in range(13)}, template)
    examples = [PairExample(str(i), f"w{a}", f"w{b}", None) for i, (a, b) in enumerate(lengths)]
    encoding = encode(examples, XNLI, tokenizer, Settings(max_length=max_length))
    room = max_length - template.pair_specials
    before, between, after = template.pair
    for i, (a, b) in enumerate(lengths):
        kept_a, kept_b = cut_one_by_one(a, b, room)
        window = slice(encoding.starts[i], encoding.starts[i + 1])
        first = [*before, *tokenizer.pieces_of(f"w{a}")[:kept_a], *between]
        second = [*tokenizer.pieces_of(f"w{b}")[:kept_b], *after]
        assert encoding.ids[window].tolist() == first + second
        if template is SINGLE:
            assert encoding.types[window].tolist() == [0] * len(first) + [1] * len(second)
    assert encoding.counts.get("truncated_pairs", 0) == sum(a + b > room for a, b in lengths)
    assert len(encoding.types) == (len(encoding.ids) if template is SINGLE else 0)


def test_labels_are_numbered_as_in_the_specification() -> None:
    tokenizer = CountedPieces({"a": 1})
    examples = [PairExample("0", "a", "a", label) for label in (*XNLI.labels, None)]
    encoding = encode(examples, XNLI, tokenizer, Settings(max_length=16))
    assert encoding.labels.tolist() == [0, 1, 2, -1]
    assert labels_of(encoding.labels[:3], XNLI) == list(XNLI.labels)


@pytest.mark.parametrize("side", ["premise", "hypothesis"])
def test_empty_sentence_is_a_window_all_the_same(side: str) -> None:
    tokenizer = CountedPieces({"a": 1})
    texts = {"premise": "a", "hypothesis": "a", side: ""}
    encoding = encode(
        [PairExample("0", **texts, label=None)], XNLI, tokenizer, Settings(max_length=16)
    )
    assert encoding.lengths.tolist() == [5]
