"""Character ranges of pieces: blanks taken off, dropped characters given back, linear in the text."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tasks.trained_tokenizers import TEXTS, byte_level_bpe, pieces, unigram, wordpiece
from xharness.tasks import character_ranges
from xharness.tasks.character_ranges import piece_ranges
from xharness.tasks.pieces import starts_of


def mended(text: str, *ranges: tuple[int, int]) -> list[list[int]]:
    raw = np.array(ranges, np.int32).reshape(-1, 2)
    found: list[list[int]] = piece_ranges([text], np.array([0, len(raw)]), raw).tolist()
    return found


def test_blank_before_a_word_is_no_part_of_its_piece() -> None:
    assert mended("one  two", (0, 3), (3, 8)) == [[0, 3], [5, 8]]


def test_piece_of_blanks_alone_stays_as_it_is() -> None:
    assert mended("one  two", (0, 3), (3, 5), (5, 8)) == [[0, 3], [3, 5], [5, 8]]


def test_dropped_mark_belongs_to_the_piece_before() -> None:
    # "cafe" + U+0301: the accent was stripped, so no piece holds it.
    assert mended("cafe\u0301 noir", (0, 4), (6, 10)) == [[0, 5], [6, 10]]


def test_several_dropped_marks_in_a_row() -> None:
    assert mended("a\u0301\u0302\u0303b", (0, 1), (4, 5)) == [[0, 4], [4, 5]]


def test_dropped_byte_order_mark_before_a_word_stays_outside() -> None:
    assert mended("see \ufeffSchulen", (0, 3), (5, 12)) == [[0, 3], [5, 12]]


def test_dropped_character_after_a_blank_is_not_given_over_it() -> None:
    assert mended("a \u200eb", (0, 1), (3, 4)) == [[0, 1], [3, 4]]


def test_pieces_that_share_a_dropped_neighbour_all_grow() -> None:
    # One character that became two pieces, then a dropped mark.
    assert mended("½\u0301", (0, 1), (0, 1)) == [[0, 2], [0, 2]]


def test_surrogate_and_text_without_pieces() -> None:
    raw = np.array([[0, 1]], np.int32)
    found = piece_ranges(["", "\ud800", "x"], np.array([0, 0, 0, 1]), raw)
    assert found.tolist() == [[0, 1]]


Text = st.text(st.sampled_from("ab \u0301\u3000\u200e\U0001f600"), max_size=12)


@st.composite
def texts_with_ranges(draw: Any) -> tuple[list[str], list[list[tuple[int, int]]]]:
    """Texts, and pieces in order as tokenizers give them: some touch, some share, some leave gaps."""
    texts = draw(st.lists(Text, max_size=4))
    rows = []
    for text in texts:
        cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
        row = [(a, b) for a, b in pairwise(cuts) if a < b and draw(st.booleans())]
        rows.append([r for r in row for _ in range(draw(st.integers(1, 2)))])
    return texts, rows


def slowly(text: str, row: list[tuple[int, int]]) -> list[list[int]]:
    """Mend one text's ranges character by character, as the docstring says it."""
    found = []
    for begin, end in row:
        inked = [i for i in range(begin, end) if not text[i].isspace()]
        found.append([inked[0], inked[-1] + 1] if inked else [begin, end])
    held = {i for begin, end in found for i in range(begin, end)}
    for piece in found:
        while piece[1] < len(text) and piece[1] not in held and not text[piece[1]].isspace():
            piece[1] += 1
    return found


@given(texts_with_ranges())
def test_agrees_with_the_rule_applied_character_by_character(
    case: tuple[list[str], list[list[tuple[int, int]]]],
) -> None:
    texts, rows = case
    raw = np.array([r for row in rows for r in row], np.int32).reshape(-1, 2)
    found = piece_ranges(texts, starts_of([len(row) for row in rows]), raw)
    assert found.tolist() == [r for t, row in zip(texts, rows, strict=True) for r in slowly(t, row)]


def test_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = pieces(wordpiece(TEXTS, 300))
    found, raw = tokenizer.texts_with_offsets(TEXTS)
    whole = piece_ranges(TEXTS, found.starts, raw)
    monkeypatch.setattr(character_ranges, "CHUNK", 60)
    assert np.array_equal(piece_ranges(TEXTS, found.starts, raw), whole)


@pytest.mark.parametrize("make", [wordpiece, byte_level_bpe, unigram])
def test_every_letter_of_a_text_is_in_some_piece(make: Any) -> None:
    tokenizer = pieces(make(TEXTS, 300))
    found, raw = tokenizer.texts_with_offsets(TEXTS)
    ranges = piece_ranges(TEXTS, found.starts, raw)
    for i, text in enumerate(TEXTS):
        rows = ranges[found.starts[i] : found.starts[i + 1]].tolist()
        held = {place for begin, end in rows for place in range(begin, end)}
        assert {p for p, c in enumerate(text) if not c.isspace()} <= held
        inked = [(begin, end) for begin, end in rows if text[begin:end].strip()]
        assert all(text[begin:end] == text[begin:end].strip() for begin, end in inked)
        assert np.all(np.diff(rows, axis=0) >= 0)


def test_time_grows_with_the_text_not_its_square() -> None:
    def seconds(letters: int) -> float:
        # Every other character is dropped: the worst case for looking up what is next to each gap.
        text = "a\u0301" * letters
        raw = np.stack([np.arange(letters) * 2, np.arange(letters) * 2 + 1], axis=1)
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            found = piece_ranges([text], np.array([0, letters]), raw.astype(np.int32))
            best = min(best, time.process_time() - began)
        assert found[:, 1].tolist() == list(range(2, 2 * letters + 1, 2))
        return best

    # Sixteen times the text: 16 times as long if linear, 256 times if quadratic.
    assert seconds(320_000) < 80 * max(seconds(20_000), 1e-3)
