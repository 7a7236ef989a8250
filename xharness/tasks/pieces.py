"""Pieces: what a tokenizer makes of words and texts, before special tokens are put around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int32]
IndexArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ragged:
    """Rows of unequal length in one flat array.

    Attributes:
        values: All rows one after the other.
        starts: Row ``i`` is ``values[starts[i]:starts[i + 1]]``; one entry more than there are rows.
    """

    values: IntArray
    starts: IndexArray

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Ragged:
        """Make one from a list of rows."""
        lengths = np.fromiter((len(row) for row in rows), np.int64, len(rows))
        starts = starts_of(lengths)
        values = np.fromiter((v for row in rows for v in row), np.int32, int(starts[-1]))
        return cls(values, starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> IntArray:
        return self.values[self.starts[row] : self.starts[row + 1]]

    @property
    def lengths(self) -> IndexArray:
        """Length of each row."""
        return np.diff(self.starts)

    def take(self, rows: npt.ArrayLike, lengths: npt.ArrayLike | None = None) -> Ragged:
        """Return the chosen rows, in that order, each cut to ``lengths`` where given."""
        rows = np.asarray(rows, np.int64)
        kept = self.lengths[rows] if lengths is None else np.minimum(self.lengths[rows], lengths)
        return Ragged(self.values[ranges(self.starts[rows], kept)], starts_of(kept))


def starts_of(lengths: npt.ArrayLike) -> IndexArray:
    """Return the row starts that lengths give: a leading 0 and the running sum."""
    lengths = np.asarray(lengths, np.int64)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def ranges(starts: npt.ArrayLike, lengths: npt.ArrayLike) -> IndexArray:
    """Return ``start, start + 1, ... start + length - 1`` of every row, concatenated."""
    starts, lengths = np.asarray(starts, np.int64), np.asarray(lengths, np.int64)
    before = starts_of(lengths)
    return np.arange(before[-1]) + np.repeat(starts - before[:-1], lengths)


@dataclass(frozen=True)
class Template:
    """The special tokens of one or two segments, and their token types.

    Attributes:
        single: Ids before and after a lone segment.
        pair: Ids before, between and after two segments.
        pair_types: Token types of: before, first segment, between, second segment, after.
        cls_position: Position in ``pair[0]`` that stands for "no answer here".
        cut_specials: Special tokens that the official tagger allows for when it cuts a sentence: 3 for
            tokenizers that put two separators between segments, as XLM-R's does, else 2.
    """

    single: tuple[tuple[int, ...], tuple[int, ...]]
    pair: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    pair_types: tuple[int, int, int, int, int]
    cls_position: int
    cut_specials: int

    @property
    def single_specials(self) -> int:
        """Number of special tokens around one segment."""
        return sum(map(len, self.single))

    @property
    def pair_specials(self) -> int:
        """Number of special tokens around two segments."""
        return sum(map(len, self.pair))


class PieceTokenizer(Protocol):
    """What the kinds need of a tokenizer.

    Attributes:
        template: Its special tokens.
        unknown_id: Id of the unknown token.
        uses_token_types: Whether the model is given token types.
        max_length: Longest window the model takes.
        fingerprint: Hash of everything that decides its output.
    """

    template: Template
    unknown_id: int
    uses_token_types: bool
    max_length: int
    fingerprint: str

    def words(self, words: Sequence[str]) -> Ragged:
        """Return the pieces of each word, cut as inside a sentence; a word may have none."""
        ...

    def texts(self, texts: Sequence[str]) -> Ragged:
        """Return the pieces of each text, no special tokens."""
        ...

    def texts_with_offsets(self, texts: Sequence[str]) -> tuple[Ragged, npt.NDArray[np.int32]]:
        """Return the pieces of each text and their character ranges, (pieces, 2), in code points.

        Raises:
            InputError: The tokenizer has no character offsets.
        """
        ...
