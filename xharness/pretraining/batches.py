"""Masked batches of packed rows: a pure function of seed, step and row.

All random numbers come from Philox, a generator whose state is a key and a counter, so that those of any row can be
had without making those before it. A resumed run, and each of several processes, gets the rows that one
uninterrupted process would get.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.random import Generator, Philox

from xharness.errors import InputError
from xharness.pretraining.masking import DRAWS, mask_tokens
from xharness.pretraining.shards import Shards, Split
from xharness.pretraining.vocabulary import Vocabulary

IntArray = npt.NDArray[np.int64]

#: What random numbers are for: the second half of the generator's key.
_LANGUAGES, _BLOCKS, _MASKS, _HELD_OUT_MASKS = range(1, 5)

#: Numbers that Philox makes of one value of its counter.
_PER_COUNT = 4

#: Language draws replayed at one time; bounds memory.
_REPLAYED = 1 << 20


@dataclass(frozen=True)
class Masking:
    """How tokens are masked.

    Attributes:
        rate: Share of a row's tokens to predict, a fraction.
        whole_words: Choose all pieces of a word together.
    """

    rate: float = 0.15
    whole_words: bool = False


@dataclass(frozen=True)
class MaskedBatch:
    """Rows to train or evaluate on.

    Attributes:
        input_ids: (B, L); each row is full, so there is no padding.
        positions: (M,), sorted, flat indices into B x L of the tokens to predict.
        labels: (M,), those tokens.
        languages: (B,), index of each row's language in the stream's ``languages``.
    """

    input_ids: IntArray
    positions: IntArray
    labels: IntArray
    languages: IntArray


class BatchStream:
    """Training batches without end, and held-out batches.

    A row is the begin token, ``sequence_length - 2`` tokens of one language's text and the end token. A language's
    text is cut into such blocks; they are passed over in an order that each pass draws anew, as it draws where the
    first block begins, so that no tokens at the end are left out for good.

    Args:
        shards: The text.
        probabilities: Share of rows of each language; languages that are not named are not used.
        vocabulary: The tokenizer that the shards were made with.
        batch_size: Rows of a whole batch, B, over all processes.
        sequence_length: Tokens of a row, L.
        masking: How tokens are masked.
        seed: Decides order and masks, 0 to 2^64 - 1.
        split: The text to train on.

    Attributes:
        languages: Names of the languages, sorted.

    Raises:
        InputError: A language has no shards or less text than one row, or the shards are another tokenizer's.
    """

    def __init__(
        self,
        shards: Shards,
        probabilities: Mapping[str, float],
        vocabulary: Vocabulary,
        *,
        batch_size: int,
        sequence_length: int,
        masking: Masking,
        seed: int,
        split: Split = "train",
    ):
        self.languages = tuple(sorted(probabilities))
        self.batch_size = batch_size
        self.sequence_length = sequence_length
        self._shards = shards
        self._split: Split = split
        self._vocabulary = vocabulary
        self._masking = masking
        self._seed = seed
        self._body = sequence_length - 2
        self._check(probabilities)
        shares = np.array([probabilities[language] for language in self.languages])
        self._bounds = np.cumsum(shares / shares.sum())[:-1]
        self._codes = [_code(language) for language in self.languages]
        self._tokens = [shards.tokens(language, split) for language in self.languages]
        self._drawn_before = (0, np.zeros(len(self.languages), np.int64))
        self._passes: dict[int, tuple[int, int, IntArray]] = {}

    def _check(self, probabilities: Mapping[str, float]) -> None:
        if self.sequence_length < 3 or self.batch_size < 1:
            raise InputError(
                f"a batch of {self.batch_size} rows of {self.sequence_length} tokens holds no text",
                mend="rows need 3 tokens at least",
            )
        if self._shards.index.vocabulary != self._vocabulary.sha256:
            raise InputError(
                f"the token shards were made with another tokenizer than {self._vocabulary.path}",
                where=self._shards.folder,
                mend="build them again",
            )
        for language, share in probabilities.items():
            if not share > 0:
                raise InputError(
                    f"the share of language {language} is {share}", mend="leave it out"
                )
            if language not in self._shards.languages:
                raise InputError(f"no token shards of {language}", where=self._shards.folder)
            for split in {self._split, *self._held_out_splits(language)}:
                tokens = self._shards.tokens(language, split)
                if tokens < self._body:
                    raise InputError(
                        f"language {language} has {tokens} tokens of {split} text, a row of "
                        f"{self.sequence_length} takes {self._body}",
                        mend="add text, shorten the rows or leave the language out",
                    )

    def _held_out_splits(self, language: str) -> tuple[Split, ...]:
        return () if self._shards.part(language, "dev") is None else ("dev",)

    def batch(self, step: int, rows: slice = slice(None)) -> MaskedBatch:
        """Return the rows of a step's batch, all or a contiguous part.

        Args:
            step: Number of the batch, from 0.
            rows: Which of its ``batch_size`` rows; ``positions`` then refer to those alone.
        """
        first, stop, stride = rows.indices(self.batch_size)
        if stride != 1 or stop <= first:
            raise ValueError(f"rows {rows} are no contiguous part of {self.batch_size} rows")
        drawn = self._languages_of(step * self.batch_size, self.batch_size)
        ordinals = self._counts_before(step)[drawn] + _ranks_among_equal(drawn)
        chosen = drawn[first:stop]
        ids = self._empty_rows(stop - first)
        for row, (language, ordinal) in enumerate(
            zip(chosen.tolist(), ordinals[first:stop].tolist(), strict=True)
        ):
            start = self._block_start(language, ordinal)
            ids[row, 1:-1] = self._shards.read(
                self.languages[language], self._split, start, self._body
            )
        return self._masked(ids, chosen, (self._seed, _MASKS), first, step)

    def held_out(self, language: str) -> Iterator[MaskedBatch]:
        """Yield a language's held-out text in order, with the same masks whatever the seed and the other languages.

        Tokens at the end that fill no row are left out; the last batch may have fewer rows.

        Raises:
            InputError: The language has no held-out text.
        """
        if not self._held_out_splits(language):
            raise InputError(
                f"language {language} has no held-out text", mend=f"add {language}.dev.txt"
            )
        index = self.languages.index(language)
        blocks = self._shards.tokens(language, "dev") // self._body
        for first in range(0, blocks, self.batch_size):
            count = min(self.batch_size, blocks - first)
            ids = self._empty_rows(count)
            text = self._shards.read(language, "dev", first * self._body, count * self._body)
            ids[:, 1:-1] = text.reshape(count, self._body)
            languages = np.full(count, index, np.int64)
            yield self._masked(ids, languages, (0, _HELD_OUT_MASKS), first, self._codes[index])

    def _empty_rows(self, count: int) -> IntArray:
        ids = np.empty((count, self.sequence_length), np.int64)
        ids[:, 0] = self._vocabulary.begin_id
        ids[:, -1] = self._vocabulary.end_id
        return ids

    def _masked(
        self, ids: IntArray, languages: IntArray, key: tuple[int, int], first: int, word: int
    ) -> MaskedBatch:
        """Mask rows that begin at row ``first`` of what ``word`` numbers."""
        counts = -(-DRAWS * self.sequence_length // _PER_COUNT)  # of each row
        draws = _generator(key, (first * counts, word)).random((len(ids), counts * _PER_COUNT))
        masked = mask_tokens(
            ids,
            draws[:, : DRAWS * self.sequence_length].reshape(len(ids), DRAWS, -1),
            self._vocabulary,
            self._masking.rate,
            self._masking.whole_words,
        )
        return MaskedBatch(masked.input_ids, masked.positions, masked.labels, languages)

    def _languages_of(self, first: int, count: int) -> IntArray:
        """Return the languages of the stream's rows ``first`` to ``first + count - 1``."""
        skipped = first % _PER_COUNT
        generator = _generator((self._seed, _LANGUAGES), (first // _PER_COUNT,))
        draws = generator.random(skipped + count)[skipped:]
        return np.searchsorted(self._bounds, draws, side="right")

    def _counts_before(self, step: int) -> IntArray:
        """Return how often each language was drawn before a step, replaying the draws since the last call."""
        known, counts = self._drawn_before
        if step < known:
            known, counts = 0, np.zeros_like(counts)
        end = step * self.batch_size
        for first in range(known * self.batch_size, end, _REPLAYED):
            drawn = self._languages_of(first, min(_REPLAYED, end - first))
            counts = counts + np.bincount(drawn, minlength=len(counts))
        self._drawn_before = (step, counts)
        return counts

    def _block_start(self, language: int, ordinal: int) -> int:
        """Return where the block begins that a language's draw number ``ordinal`` gets."""
        blocks, left_over = divmod(self._tokens[language], self._body)
        number, at = divmod(ordinal, blocks)
        known = self._passes.get(language)
        if known is None or known[0] != number:
            generator = _generator((self._seed, _BLOCKS), (0, number, self._codes[language]))
            offset = int(generator.integers(left_over + 1))
            known = self._passes[language] = (number, offset, generator.permutation(blocks))
        _, offset, order = known
        return offset + int(order[at]) * self._body


def _generator(key: tuple[int, int], counter: tuple[int, ...]) -> Generator:
    """Return a generator; the first word of ``counter`` is the one that counts up."""
    words = [*counter, *[0] * (4 - len(counter))]
    return Generator(Philox(key=np.array(key, np.uint64), counter=np.array(words, np.uint64)))


def _code(language: str) -> int:
    """Return a number for a language that does not depend on which others there are."""
    return int.from_bytes(hashlib.sha256(language.encode()).digest()[:8], "little")


def _ranks_among_equal(values: IntArray) -> IntArray:
    """Return for each value how many equal ones stand before it."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    ranks = np.empty_like(values)
    ranks[order] = np.arange(len(values)) - np.searchsorted(ordered, ordered)
    return ranks
