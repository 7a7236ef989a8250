"""Interpolated Kneser-Ney: the n-gram model that neural language models are measured against.

Kneser and Ney 1995 in the interpolated form of Chen and Goodman 1999 (section 4.1.6), one absolute discount an order.
The highest order counts occurrences, the lower ones the different words that stand before an n-gram; the lowest is
interpolated with the uniform distribution. N-grams run over line ends, as the state of a neural model does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from xharness.errors import InputError
from xharness.language_modelling.perplexity import Perplexity
from xharness.language_modelling.words import Ids

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: A number that no n-gram has.
_ABSENT = -1


@dataclass(frozen=True)
class _Grams:
    """The different suffixes of windows of words, by length.

    Attributes:
        vocabulary: Size of the vocabulary.
        keys: For each length the sorted keys: the number of the suffix one word shorter, and the word before it.
    """

    vocabulary: int
    keys: tuple[Ints, ...]

    @classmethod
    def of(cls, windows: Ints, vocabulary: int) -> _Grams:
        """Collect the suffixes of (windows, length)."""
        keys: list[Ints] = []
        shorter = np.zeros(len(windows), np.int64)
        for length in range(1, windows.shape[1] + 1):
            level, shorter = np.unique(
                shorter * vocabulary + windows[:, -length], return_inverse=True
            )
            keys.append(level)
        return cls(vocabulary, tuple(keys))

    def find(self, windows: Ints) -> list[Ints]:
        """Return, for each length, the numbers of the windows' suffixes, ``_ABSENT`` where they never occurred."""
        found: list[Ints] = []
        shorter = np.zeros(len(windows), np.int64)
        for length, level in enumerate(self.keys, 1):
            keys = shorter * self.vocabulary + windows[:, -length]
            at = np.minimum(np.searchsorted(level, keys), len(level) - 1)
            shorter = np.where((shorter != _ABSENT) & (level[at] == keys), at, _ABSENT)
            found.append(shorter)
        return found


@dataclass(frozen=True)
class _Order:
    """Counts of one order.

    Attributes:
        counts: Of each n-gram.
        totals: Of each context: the sum over its n-grams.
        followers: Of each context: its different n-grams.
    """

    counts: Floats
    totals: Floats
    followers: Floats

    @cached_property
    def discount(self) -> float:
        """n1 / (n1 + 2 n2) over the n-grams counted once and twice (Ney et al. 1994); 1/2 where none occurs once."""
        once, twice = (int((self.counts == number).sum()) for number in (1, 2))
        return once / (once + 2 * twice) if once else 0.5


class KneserNey:
    """An n-gram model of a text.

    Args:
        ids: The training text, (words,).
        vocabulary: Size of the vocabulary; every probability is above 0.
        order: Words of the longest n-grams.
        end_id: Stands before the first word as often as the order asks.

    Raises:
        InputError: The text is empty, or the order is not at least 1.
    """

    def __init__(self, ids: Ids, vocabulary: int, order: int, end_id: int) -> None:
        if order < 1 or not len(ids):
            raise InputError(f"an order of {order} over {len(ids)} words", where="Kneser-Ney")
        self.order = order
        self._vocabulary, self._end_id = vocabulary, end_id
        windows = self._windows(ids)
        self._grams = _Grams.of(windows, vocabulary)
        self._contexts = _Grams.of(windows[:, :-1], vocabulary)
        self._orders = self._count(windows)

    def probabilities(self, ids: Ids) -> Floats:
        """Return the probability of each word of a text given those before it, (words,)."""
        return self._probabilities(self._windows(ids))

    def distribution(self, context: Ids) -> Floats:
        """Return the probability of every word after a context, (vocabulary,)."""
        padded = np.concatenate((np.full(self.order - 1, self._end_id), context))
        before = padded[len(padded) - self.order + 1 :]
        windows = np.empty((self._vocabulary, self.order), np.int64)
        windows[:, :-1] = before
        windows[:, -1] = np.arange(self._vocabulary)
        return self._probabilities(windows)

    def perplexity(self, ids: Ids) -> Perplexity:
        """Return the perplexity of a text."""
        return Perplexity(-float(np.log(self.probabilities(ids)).sum()), len(ids))

    def _windows(self, ids: Ids) -> Ints:
        """Return each word with those before it, (words, order)."""
        padded = np.concatenate((np.full(self.order - 1, self._end_id), ids)).astype(np.int64)
        return np.lib.stride_tricks.sliding_window_view(padded, self.order)

    def _count(self, windows: Ints) -> list[_Order]:
        grams, contexts = self._grams.find(windows), self._context_ids(windows)
        sizes = [1, *(len(level) for level in self._contexts.keys)]
        orders = []
        for level in range(self.order):
            kinds = len(self._grams.keys[level])
            # Where each different n-gram, and each one a word longer, first stands.
            first = np.unique(grams[level], return_index=True)[1]
            if level == self.order - 1:
                counts = np.bincount(grams[level], minlength=kinds)
            else:
                longer = np.unique(grams[level + 1], return_index=True)[1]
                counts = np.bincount(grams[level][longer], minlength=kinds)
            of = contexts[level][first]
            totals = np.bincount(of, weights=counts, minlength=sizes[level])
            followers = np.bincount(of, minlength=sizes[level])
            orders.append(
                _Order(
                    counts.astype(np.float64),
                    totals.astype(np.float64),
                    followers.astype(np.float64),
                )
            )
        return orders

    def _context_ids(self, windows: Ints) -> list[Ints]:
        """Return the numbers of each word's contexts, from the empty one to the longest."""
        empty = np.zeros(len(windows), np.int64)
        return [empty, *self._contexts.find(windows[:, :-1])]

    def _probabilities(self, windows: Ints) -> Floats:
        grams, contexts = self._grams.find(windows), self._context_ids(windows)
        found = np.full(len(windows), 1 / self._vocabulary)
        for order, gram, context in zip(self._orders, grams, contexts, strict=True):
            counts = np.where(gram == _ABSENT, 0.0, order.counts[gram])
            totals = order.totals[context]
            own = np.maximum(counts - order.discount, 0) / totals
            left = order.discount * order.followers[context] / totals
            found = np.where(context == _ABSENT, found, own + left * found)
        return found
