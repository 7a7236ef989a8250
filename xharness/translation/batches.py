"""Batches of sentence pairs: a pure function of the seed and the epoch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xharness.errors import InputError
from xharness.translation.vocabulary import BEGIN, END, PAD

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EncodedPairs:
    """Sentence pairs as pieces.

    Attributes:
        source: Pieces of each source sentence and the end.
        target: Pieces of each target sentence and the end.
        left_out: Pairs that were left out because a side was too long.
    """

    source: tuple[IntArray, ...]
    target: tuple[IntArray, ...]
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, eq=False)
class PairBatch:
    """Sentence pairs to train or evaluate on.

    Attributes:
        source: (B, S), filled up with padding.
        inputs: (B, T), what the decoder reads: the begin, then the target without its end.
        positions: (M,), flat indices into B x T of the pieces to predict: all but the padding.
        labels: (M,), those pieces.
    """

    source: IntArray
    inputs: IntArray
    positions: IntArray
    labels: IntArray


def with_end(pieces: Sequence[int]) -> IntArray:
    """Return pieces and the end."""
    return np.array([*pieces, END], np.int64)


def encode_pairs(
    source: Sequence[Sequence[int]], target: Sequence[Sequence[int]], max_length: int | None
) -> EncodedPairs:
    """Close pairs with the end, and leave out those with a side of more than ``max_length`` pieces.

    Raises:
        InputError: None is left.
    """
    pairs = [(with_end(s), with_end(t)) for s, t in zip(source, target, strict=True)]
    kept = [p for p in pairs if max_length is None or max(map(len, p)) <= max_length]
    if not kept:
        raise InputError(
            f"no sentence pair has {max_length} pieces or fewer a side",
            mend="raise training.max_length",
        )
    return EncodedPairs(
        tuple(s for s, _ in kept), tuple(t for _, t in kept), len(pairs) - len(kept)
    )


def length_batches(
    pairs: EncodedPairs, tokens: int, random: np.random.Generator | None = None
) -> list[IntArray]:
    """Cut pairs sorted by length into batches of at most ``tokens`` padded pieces of both sides.

    A pair that alone has more is a batch of its own.

    Args:
        pairs: The pairs.
        tokens: The budget.
        random: Decides the order of pairs of equal lengths, hence which share a batch, and the order of batches;
            the order by length where absent.

    Returns:
        The indices of each batch's pairs.
    """
    source = np.array([len(side) for side in pairs.source])
    target = np.array([len(side) for side in pairs.target])
    start = np.arange(len(pairs)) if random is None else random.permutation(len(pairs))
    order = start[np.lexsort((target[start], source[start]))]
    batches: list[IntArray] = []
    first = longest_source = longest_target = 0
    for at, pair in enumerate(order.tolist()):
        longest_source = max(longest_source, int(source[pair]))
        longest_target = max(longest_target, int(target[pair]))
        if at > first and (at + 1 - first) * (longest_source + longest_target) > tokens:
            batches.append(order[first:at])
            first, longest_source, longest_target = at, int(source[pair]), int(target[pair])
    batches.append(order[first:])
    if random is not None:
        batches = [batches[number] for number in random.permutation(len(batches))]
    return batches


def epoch_batches(pairs: EncodedPairs, tokens: int, seed: int, epoch: int) -> list[IntArray]:
    """Return the batches of an epoch, counted from 0, in their order."""
    return length_batches(pairs, tokens, np.random.default_rng([seed, epoch]))


def pair_batch(pairs: EncodedPairs, chosen: IntArray) -> PairBatch:
    """Pad some pairs to arrays."""
    targets = [pairs.target[pair] for pair in chosen.tolist()]
    inputs = padded([np.concatenate(([BEGIN], target[:-1])) for target in targets])
    positions = np.concatenate(
        [row * inputs.shape[1] + np.arange(len(target)) for row, target in enumerate(targets)]
    )
    source = padded([pairs.source[pair] for pair in chosen.tolist()])
    return PairBatch(source, inputs, positions, np.concatenate(targets))


def padded(rows: Sequence[IntArray]) -> IntArray:
    """Return rows as one array, (rows, longest), filled up with padding."""
    array = np.full((len(rows), max(map(len, rows))), PAD, np.int64)
    for number, row in enumerate(rows):
        array[number, : len(row)] = row
    return array


def evaluation_batches(pairs: EncodedPairs, tokens: int) -> Iterator[PairBatch]:
    """Yield all pairs, by length."""
    for chosen in length_batches(pairs, tokens):
        yield pair_batch(pairs, chosen)
