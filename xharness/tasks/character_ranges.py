"""Character ranges of pieces, mended where a tokenizer's own leave characters of a word outside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from xharness.tasks.pieces import IndexArray

Ranges = npt.NDArray[np.int32]


def piece_ranges(contexts: Sequence[str], starts: IndexArray, raw: Ranges) -> Ranges:
    """Return the character range that each piece stands for.

    Two things are mended. A byte-level tokenizer counts the blank before a word to its first piece: blanks at
    the edges are taken off. A normaliser may drop characters (a combining mark, a zero-width joiner) that then
    belong to no piece: those next to a piece with no blank between are given to it, to the one before if both
    touch, so that an answer that ends on such a character can still be cut from the text exactly.

    Args:
        contexts: The texts.
        starts: Piece row starts, one more than texts.
        raw: (pieces, 2) ranges as the tokenizer gives them.

    Returns:
        (pieces, 2) ranges, both columns non-decreasing within a text.
    """
    mended = raw.copy()
    for i, context in enumerate(contexts):
        rows = mended[starts[i] : starts[i + 1]]
        if len(rows):
            _mend(context, rows)
    return mended


def _mend(context: str, rows: Ranges) -> None:
    begins, ends = rows[:, 0], rows[:, 1]
    np.maximum.accumulate(begins, out=begins)
    np.maximum.accumulate(ends, out=ends)
    blank = np.fromiter((c.isspace() for c in context), np.bool_, len(context))
    positions = np.arange(len(context) + 1)
    # next_ink[p]: first non-blank character at or after p; last_ink[p]: one past the last one before p.
    marks = np.where(np.append(~blank, True), positions, len(context))
    next_ink = np.minimum.accumulate(marks[::-1])[::-1]
    marks = np.where(np.insert(~blank, 0, True), positions, 0)
    last_ink = np.maximum.accumulate(marks)
    trimmed_begin, trimmed_end = next_ink[begins], last_ink[ends]
    inked = trimmed_begin < trimmed_end
    begins[inked], ends[inked] = trimmed_begin[inked], trimmed_end[inked]
    covered = np.zeros(len(context) + 1, np.int64)
    np.add.at(covered, begins, 1)
    np.add.at(covered, ends, -1)
    lost = (np.cumsum(covered)[:-1] <= 0) & ~blank
    if not lost.any():
        return
    for run in np.split(
        np.flatnonzero(lost), np.flatnonzero(np.diff(np.flatnonzero(lost)) > 1) + 1
    ):
        first, past = int(run[0]), int(run[-1]) + 1
        before = np.flatnonzero(ends == first)
        if len(before):
            ends[before] = past
            continue
        after = np.flatnonzero((begins == past) & (ends > past))
        begins[after] = first
