"""Character ranges of pieces, mended where a tokenizer's own leave characters of a word outside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from xharness.tasks.pieces import IndexArray

Ranges = npt.NDArray[np.int32]

#: Characters looked at in one go; bounds memory, not results.
CHUNK = 1 << 20

#: Every code point that ``str.isspace`` holds for is below this one.
_SPACES_END = 0x3001
_IS_SPACE = np.array([chr(code).isspace() for code in range(_SPACES_END)] + [False])


def piece_ranges(contexts: Sequence[str], starts: IndexArray, raw: Ranges) -> Ranges:
    """Return the character range that each piece stands for.

    Two things are mended. A byte-level tokenizer counts the blank before a word to its first piece: blanks at
    the edges are taken off. A normaliser may drop characters (a combining mark, a zero-width joiner) that then
    belong to no piece: those that follow a piece with no blank between are given to it, so that an answer that
    ends on such a character can still be cut from the text exactly. Dropped characters at the beginning of a
    word (a byte order mark) stay outside: answers begin after them.

    Args:
        contexts: The texts.
        starts: Piece row starts, one more than texts.
        raw: (pieces, 2) ranges as the tokenizer gives them, in code points.

    Returns:
        (pieces, 2) ranges, both columns non-decreasing within a text.
    """
    mended = raw.copy()
    lengths = np.fromiter(map(len, contexts), np.int64, len(contexts))
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    at = 0
    while at < len(contexts):
        end = max(at + 1, int(np.searchsorted(before, before[at] + CHUNK, side="right")) - 1)
        rows = slice(int(starts[at]), int(starts[end]))
        mended[rows] = _mended(contexts[at:end], np.diff(starts[at : end + 1]), raw[rows])
        at = end
    return mended


def _mended(contexts: Sequence[str], pieces: IndexArray, raw: Ranges) -> Ranges:
    """Mend the ranges of some texts, which are laid end to end with a blank after each.

    Args:
        contexts: The texts.
        pieces: Number of pieces of each text.
        raw: (pieces, 2) ranges within each text.
    """
    flat = "".join(f"{context} " for context in contexts)
    codes = np.frombuffer(flat.encode("utf-32-le", "surrogatepass"), "<u4")
    blank = _IS_SPACE[np.minimum(codes, _SPACES_END)]
    lengths = np.fromiter(map(len, contexts), np.int64, len(contexts)) + 1
    base = np.repeat(np.cumsum(lengths) - lengths, pieces)
    begins = np.maximum.accumulate(raw[:, 0] + base)
    ends = np.maximum.accumulate(raw[:, 1] + base)

    positions = np.arange(len(flat) + 1)
    # next_ink[p]: first non-blank character at or after p; last_ink[p]: one past the last one before p.
    next_ink = np.where(np.append(~blank, True), positions, len(flat))
    next_ink = np.minimum.accumulate(next_ink[::-1])[::-1]
    last_ink = np.maximum.accumulate(np.where(np.insert(~blank, 0, True), positions, 0))
    trimmed_begins, trimmed_ends = next_ink[begins], last_ink[ends]
    inked = trimmed_begins < trimmed_ends
    begins = np.where(inked, trimmed_begins, begins)
    ends = np.where(inked, trimmed_ends, ends)

    size = len(flat) + 1
    covering = np.cumsum(np.bincount(begins, minlength=size) - np.bincount(ends, minlength=size))
    dropped = np.concatenate([[False], (covering[:-1] <= 0) & ~blank, [False]])
    firsts = np.flatnonzero(dropped[1:-1] & ~dropped[:-2])
    grown = positions.copy()
    grown[firsts] = np.flatnonzero(dropped[1:-1] & ~dropped[2:]) + 1
    return np.stack([begins - base, grown[ends] - base], axis=1).astype(np.int32)
