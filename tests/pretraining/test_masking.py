"""Masking: how many tokens, which, and what stands in their place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from xharness.pretraining.masking import MaskedRows, mask_tokens, predictions_in_row
from xharness.pretraining.vocabulary import Vocabulary

IntArray = npt.NDArray[np.int64]

#: Ids 0 to 4 are special, 5 to 54 begin a word, 55 to 104 go on with one.
PAD, UNKNOWN, BEGIN, END, MASK = range(5)
STARTS = np.arange(105)
VOCABULARY = Vocabulary(
    path=Path("made-up"),
    size=105,
    pad_id=PAD,
    unknown_id=UNKNOWN,
    begin_id=BEGIN,
    end_id=END,
    mask_id=MASK,
    starts_word=(STARTS >= 5) & (STARTS < 55),
    special=STARTS < 5,
    sha256="",
    tokenizer_json="",
)


def rows_of(*texts: Sequence[int]) -> IntArray:
    return np.array([[BEGIN, *text, END] for text in texts], np.int64)


def mask(ids: IntArray, seed: int = 0, rate: float = 0.15, words: bool = False) -> MaskedRows:
    draws = np.random.default_rng(seed).random((len(ids), 3, ids.shape[1]))
    return mask_tokens(ids, draws, VOCABULARY, rate, words)


def texts(length: int, special: bool = True) -> st.SearchStrategy[IntArray]:
    text = st.lists(st.integers(0 if special else 5, 104), min_size=length - 2, max_size=length - 2)
    return st.lists(text, min_size=1, max_size=5).map(lambda rows: rows_of(*rows))


ROWS = st.integers(3, 40).flatmap(texts)


def words_of(row: IntArray) -> list[list[int]]:
    """Return the positions of each word of a row, one token at a time."""
    words: list[list[int]] = []
    inside = False
    for at, id_ in enumerate(row.tolist()):
        if id_ < 5:
            inside = False
        elif id_ < 55 or not inside:
            words.append([at])
            inside = True
        else:
            words[-1].append(at)
    return words


@pytest.mark.parametrize(
    ("length", "rate", "count"), [(128, 0.15, 19), (512, 0.15, 77), (12, 0.15, 2), (3, 0.15, 1)]
)
def test_number_of_predictions(length: int, rate: float, count: int) -> None:
    """0.15 x 126 = 18.9, 0.15 x 510 = 76.5 (rounded up), 0.15 x 10 = 1.5, and never none."""
    assert predictions_in_row(length, rate) == count


@given(ROWS, st.integers(0, 2**32), st.floats(0.01, 1.0), st.booleans())
def test_what_holds_for_every_row(ids: IntArray, seed: int, rate: float, whole_words: bool) -> None:
    before = ids.copy()
    masked = mask(ids, seed, rate, whole_words)
    assert (ids == before).all()
    length = ids.shape[1]
    count = predictions_in_row(length, rate)
    assert (np.diff(masked.positions) > 0).all()
    assert (masked.labels == ids.reshape(-1)[masked.positions]).all()
    assert (masked.labels >= 5).all()
    untouched = np.ones(ids.size, np.bool_)
    untouched[masked.positions] = False
    assert (masked.input_ids.reshape(-1)[untouched] == ids.reshape(-1)[untouched]).all()
    put_in = masked.input_ids.reshape(-1)[masked.positions]
    assert ((put_in == MASK) | (put_in >= 5)).all()
    in_row = np.bincount(masked.positions // length, minlength=len(ids))
    ordinary = (ids >= 5).sum(axis=1)
    if whole_words:
        assert (in_row <= count).all()
        assert ((in_row > 0) == (ordinary > 0)).all()
    else:
        assert in_row.tolist() == np.minimum(count, ordinary).tolist()


@given(ROWS, st.integers(0, 2**32), st.floats(0.01, 1.0))
def test_whole_words(ids: IntArray, seed: int, rate: float) -> None:
    """Chosen are whole words; a word left out would exceed the number, or none fits and one is cut."""
    masked = mask(ids, seed, rate, words=True)
    length = ids.shape[1]
    count = predictions_in_row(length, rate)
    for number, row in enumerate(ids):
        own = masked.positions[masked.positions // length == number] % length
        chosen = set(own.tolist())
        words = words_of(row)
        if words and min(map(len, words)) > count:
            assert any(sorted(chosen) == word[:count] for word in words)
            continue
        for word in words:
            taken = chosen & set(word)
            assert taken in (set(), set(word))
            if not taken:
                assert len(chosen) + len(word) > count


def test_words_are_chosen_evenly() -> None:
    """Of ten words of one piece, two are chosen: each in a fifth of the rows."""
    ids = rows_of(*[range(5, 15)] * 20_000)
    for words in (False, True):
        masked = mask(ids, 1, words=words)
        often = np.bincount(masked.labels, minlength=15)[5:]
        assert often.sum() == 40_000
        for count in often.tolist():
            assert binomtest(count, 20_000, 0.2).pvalue > 1e-4


def test_what_becomes_of_the_chosen() -> None:
    """80% mask token; 10% a piece drawn evenly, of 100 once the same again; the rest unchanged (BERT)."""
    ids = rows_of(*[[5] * 98] * 4000)
    masked = mask(ids, 2)
    put_in = masked.input_ids.reshape(-1)[masked.positions]
    chosen = 15 * 4000
    assert len(put_in) == chosen
    for observed, share in (
        ((put_in == MASK).sum(), 0.8),
        ((put_in == 5).sum(), 0.1 + 0.1 / 100),
        ((put_in > 5).sum(), 0.1 - 0.1 / 100),
        ((put_in == 104).sum(), 0.1 / 100),
    ):
        assert binomtest(int(observed), chosen, share).pvalue > 1e-4
    assert set(put_in[put_in >= 5].tolist()) == set(range(5, 105))


@given(texts(24), st.integers(0, 2**32), st.booleans())
def test_rows_do_not_depend_on_each_other(ids: IntArray, seed: int, whole_words: bool) -> None:
    draws = np.random.default_rng(seed).random((len(ids), 3, 24))
    together = mask_tokens(ids, draws, VOCABULARY, 0.3, whole_words)
    for row in range(len(ids)):
        one = slice(row, row + 1)
        alone = mask_tokens(ids[one], draws[one], VOCABULARY, 0.3, whole_words)
        own = together.positions // 24 == row
        assert (alone.input_ids == together.input_ids[one]).all()
        assert (alone.positions == together.positions[own] % 24).all()
        assert (alone.labels == together.labels[own]).all()


def test_a_row_of_special_tokens_alone_has_no_prediction() -> None:
    ids = rows_of([UNKNOWN] * 4, [7, 8, 9, 10])
    for words in (False, True):
        masked = mask(ids, words=words)
        assert (masked.positions // 6).tolist() == [1]
