"""Dynamic masking: which tokens are predicted, and what stands in their place (BERT, arXiv 1810.04805, section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xharness.pretraining.vocabulary import Vocabulary

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

#: Of the chosen tokens 80% become the mask token and 10% another piece; the rest stays.
MASKED, REPLACED = 0.8, 0.1

#: Uniform numbers that one position of a row takes: which token, what happens to it, what replaces it.
DRAWS = 3

#: Above every uniform number: a position or word that is never chosen.
_NEVER = 2.0


@dataclass(frozen=True)
class MaskedRows:
    """Rows after masking.

    Attributes:
        input_ids: (rows, length), what the model is given.
        positions: (predictions,), sorted, flat indices into ``input_ids``.
        labels: (predictions,), the tokens that stood there.
    """

    input_ids: IntArray
    positions: IntArray
    labels: IntArray


def predictions_in_row(length: int, rate: float) -> int:
    """Return how many tokens of a packed row are predicted: ``rate`` of all but its first and last, at least 1.

    A row has the same number whatever it holds, so that shapes stay constant; only a row with fewer tokens that
    are no special ones has less.
    """
    return max(1, int(rate * (length - 2) + 0.5))


def mask_tokens(
    ids: IntArray,
    draws: FloatArray,
    vocabulary: Vocabulary,
    rate: float = 0.15,
    whole_words: bool = False,
) -> MaskedRows:
    """Choose tokens to predict and mask them; special tokens are never chosen and never put in.

    Each row depends on its own ids and draws alone.

    Args:
        ids: (rows, length), packed rows: a special token, text, a special token. Left as they are.
        draws: (rows, 3, length), uniform in [0, 1).
        vocabulary: What the ids mean.
        rate: Share of a row's tokens to predict, a fraction.
        whole_words: Choose all pieces of a word together. A word that would exceed the row's number of
            predictions is passed over, so a row may have fewer; where no word fits, the first drawn is cut.
    """
    count = predictions_in_row(ids.shape[1], rate)
    ordinary = ~vocabulary.special[ids]
    if whole_words:
        chosen = _choose_words(ids, ordinary, draws[:, 0], vocabulary, count)
    else:
        chosen = _choose_tokens(ordinary, draws[:, 0], count)
    positions = np.flatnonzero(chosen)
    labels = ids.reshape(-1)[positions]
    fate = draws[:, 1].reshape(-1)[positions]
    pieces = vocabulary.ordinary
    replacement = pieces[(draws[:, 2].reshape(-1)[positions] * len(pieces)).astype(np.int64)]
    masked = ids.copy()
    masked.reshape(-1)[positions] = np.where(
        fate < MASKED,
        vocabulary.mask_id,
        np.where(fate < MASKED + REPLACED, replacement, labels),
    )
    return MaskedRows(masked, positions, labels)


def _choose_tokens(ordinary: BoolArray, draws: FloatArray, count: int) -> BoolArray:
    keys = np.where(ordinary, draws, _NEVER)
    chosen = np.zeros_like(ordinary)
    smallest = np.argpartition(keys, count - 1, axis=1)[:, :count]
    np.put_along_axis(chosen, smallest, True, axis=1)
    chosen &= ordinary
    return chosen


def _choose_words(
    ids: IntArray, ordinary: BoolArray, draws: FloatArray, vocabulary: Vocabulary, count: int
) -> BoolArray:
    rows, length = ids.shape
    starts = vocabulary.starts_word[ids] | ~ordinary
    starts[:, 0] = True
    starts[:, 1:] |= ~ordinary[:, :-1]
    word = np.cumsum(starts, axis=1) - 1  # (rows, length): number of the word in its row
    flat = (word + np.arange(rows)[:, None] * length).reshape(-1)
    sizes = np.bincount(flat, minlength=rows * length).reshape(rows, length)  # (rows, words)
    keys = np.full((rows, length), _NEVER)
    keys.reshape(-1)[flat[starts.reshape(-1)]] = np.where(ordinary, draws, _NEVER)[starts]
    order = np.argsort(keys, axis=1)
    sizes = np.take_along_axis(sizes, order, axis=1)
    possible = np.take_along_axis(keys, order, axis=1) < _NEVER
    # One rank of all rows at a time: a word is taken if it still fits into its row.
    taken = np.zeros_like(possible)
    used = np.zeros(rows, np.int64)
    for rank in range(int(possible.sum(axis=1).max(initial=0))):
        fits = possible[:, rank] & (used + sizes[:, rank] <= count)
        taken[:, rank] = fits
        used += sizes[:, rank] * fits
        if (used == count).all():
            break
    chosen_words = np.zeros_like(possible)
    np.put_along_axis(chosen_words, order, taken, axis=1)
    chosen = np.take_along_axis(chosen_words, word, axis=1)
    empty = (used == 0) & possible[:, 0]
    if empty.any():
        first = word[empty] == order[empty, :1]
        chosen[empty] = first & (np.cumsum(first, axis=1) <= count)
    return chosen
