"""Retrieval: the nearest translation of a sentence, mining of translation pairs, and rankings of candidates.

In turn Tatoeba, BUCC and LAReQA.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from xharness.data.examples import Bitext
from xharness.errors import InputError
from xharness.specs.recipe import Settings
from xharness.tasks.encoding import Encoding, window_room, wrap_single
from xharness.tasks.pieces import PieceTokenizer

Vectors = npt.NDArray[np.float32]
Pair = tuple[str, str]

#: Decimals of cosines and margins that count: below lies the rounding of float32 sums, which differs between
#: equal rows of one product and between machines.
DECIMALS = 6

#: Rows of the similarity matrix that exist at one time.
BLOCK = 1024


@dataclass(frozen=True)
class SentenceEncoding(Encoding):
    """One window a sentence."""

    kind: ClassVar[str] = "sentences"


def encode_sentences(
    texts: Sequence[str], tokenizer: PieceTokenizer, settings: Settings
) -> SentenceEncoding:
    """Encode sentences, each cut to ``max_length``."""
    pieces = tokenizer.texts(texts)
    room = window_room(settings, tokenizer, tokenizer.template.single_specials)
    cut = int(np.sum(pieces.lengths > room))
    pieces = pieces.take(np.arange(len(pieces)), room)
    ids, starts = wrap_single(pieces, tokenizer.template)
    types = np.zeros(len(ids) if tokenizer.uses_token_types else 0, np.uint8)
    return SentenceEncoding(ids, starts, types, {"sentences_cut": cut} if cut else {})


def first_of_equal(texts: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return for each text the index of the first text equal to it."""
    first: dict[str, int] = {}
    return np.array([first.setdefault(text, i) for i, text in enumerate(texts)], np.int64)


def nearest_neighbours(
    source: Vectors, target: Vectors, target_texts: Sequence[str]
) -> npt.NDArray[np.int64]:
    """Return for each source the index of the target of highest cosine.

    The result does not depend on the order of the targets: equal texts count as one, under the lowest index,
    and of different texts with equal cosine (to six decimals) the one that sorts first is taken. A zero vector
    has cosine 0 with everything.

    Args:
        source: (N, H).
        target: (M, H).
        target_texts: The M target sentences.
    """
    canonical = first_of_equal(target_texts)
    distinct = sorted(set(canonical.tolist()), key=lambda i: target_texts[i])
    candidates = unit(target[distinct])
    queries = unit(source)
    best = [
        np.argmax(np.round(queries[at : at + BLOCK] @ candidates.T, DECIMALS), axis=1)
        for at in range(0, len(queries), BLOCK)
    ]
    chosen: npt.NDArray[np.int64] = np.array(distinct, np.int64)[np.concatenate(best)]
    return chosen


def ranked(
    source: Vectors, target: Vectors, target_ids: Sequence[str], count: int
) -> npt.NDArray[np.int64]:
    """Return for each source the indices of the ``count`` targets of highest cosine, best first.

    Targets of equal cosine (to six decimals) are taken in the order of their ids, so the order of the files does
    not matter.

    Args:
        source: (N, H).
        target: (M, H).
        target_ids: The ids of the M targets.
        count: Targets to keep of each source.

    Returns:
        (N, the smaller of ``count`` and M).
    """
    order = _id_order(target_ids)
    candidates, queries = unit(target[order]), unit(source)
    best = []
    for at in range(0, len(queries), BLOCK):
        cosine = np.round(queries[at : at + BLOCK] @ candidates.T, DECIMALS)
        best.append(np.argsort(-cosine, axis=1, kind="stable")[:, :count])
    chosen: npt.NDArray[np.int64] = order[np.concatenate(best)]
    return chosen


def unit(vectors: Vectors) -> Vectors:
    """Return the rows divided by their Euclidean norm; zero rows stay zero.

    Raises:
        InputError: A norm is not finite: the largest cosine would then be NaN, and every decision arbitrary.
    """
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    broken = int(np.sum(~np.isfinite(norms)))
    if broken:
        raise InputError(
            f"{broken} of {len(vectors)} sentence vectors are not finite",
            where="sentence embeddings",
            mend="use --dtype float32, or a checkpoint whose weights are finite",
        )
    return (vectors / np.where(norms > 0, norms, 1)).astype(np.float32)


@dataclass(frozen=True)
class MinedPairs:
    """Candidate pairs, best first, one to one.

    Attributes:
        pairs: (source id, target id).
        scores: Ratio margin of each, non-increasing.
    """

    pairs: tuple[Pair, ...]
    scores: npt.NDArray[np.float64]

    def of(self, keep: npt.NDArray[np.bool_]) -> MinedPairs:
        """Return the chosen candidates."""
        chosen = tuple(pair for pair, kept in zip(self.pairs, keep.tolist(), strict=True) if kept)
        return MinedPairs(chosen, self.scores[keep])


def mine(source: Vectors, target: Vectors, bitext: Bitext, neighbours: int) -> MinedPairs:
    """Mine pairs by ratio margin (Artetxe and Schwenk 2019, arXiv 1811.01136).

    A pair's score is its cosine over the mean of both sides' mean cosine to their ``neighbours`` nearest. Each
    sentence of either side proposes its best neighbour; proposals are accepted best first, one to one. Scores
    that are equal to six decimals are taken in the order of their ids, so the order of the files does not
    matter, and of equal sentences under several ids the first is paired first.
    """
    # Both sides are put in the order of their ids first: even rounding then does not depend on the files' order.
    order_x, order_y = _id_order(bitext.source.ids), _id_order(bitext.target.ids)
    x, y = unit(source[order_x]), unit(target[order_y])
    k = min(neighbours, len(x), len(y))
    forward_at, forward_cosine = _top(x, y, k)
    backward_at, backward_cosine = _top(y, x, k)
    x_mean, y_mean = forward_cosine.mean(axis=1), backward_cosine.mean(axis=1)

    def margins(cosine: Vectors, own: Vectors, others: Vectors) -> npt.NDArray[np.float64]:
        scale = (own[:, None].astype(np.float64) + others) / 2
        ratios = np.zeros(scale.shape)
        np.divide(cosine, scale, out=ratios, where=scale > 0)
        return ratios.round(DECIMALS)

    forward = margins(forward_cosine, x_mean, y_mean[forward_at])
    backward = margins(backward_cosine, y_mean, x_mean[backward_at])
    best_forward, best_backward = forward.argmax(axis=1), backward.argmax(axis=1)
    rows_x, rows_y = np.arange(len(x)), np.arange(len(y))
    sources = np.concatenate([rows_x, backward_at[rows_y, best_backward]])
    targets = np.concatenate([forward_at[rows_x, best_forward], rows_y])
    scores = np.concatenate([forward[rows_x, best_forward], backward[rows_y, best_backward]])
    free_x, free_y = np.ones(len(x), np.bool_), np.ones(len(y), np.bool_)
    pairs, kept = [], []
    for at in np.lexsort((targets, sources, -scores)).tolist():
        s, t = sources[at], targets[at]
        if free_x[s] and free_y[t]:
            free_x[s] = free_y[t] = False
            pairs.append((bitext.source.ids[order_x[s]], bitext.target.ids[order_y[t]]))
            kept.append(scores[at])
    return MinedPairs(tuple(pairs), np.array(kept, np.float64))


def _top(queries: Vectors, candidates: Vectors, k: int) -> tuple[npt.NDArray[np.int64], Vectors]:
    """Return index and cosine of each query's ``k`` best candidates, in the order of the candidates."""
    index, cosine = [], []
    for at in range(0, len(queries), BLOCK):
        block = queries[at : at + BLOCK] @ candidates.T
        best = np.sort(np.argpartition(block, block.shape[1] - k, axis=1)[:, -k:], axis=1)
        index.append(best)
        cosine.append(np.take_along_axis(block, best, axis=1))
    return np.concatenate(index), np.concatenate(cosine)


def _id_order(ids: Sequence[str]) -> npt.NDArray[np.int64]:
    return np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)


def best_threshold(mined: MinedPairs, gold: Sequence[Pair]) -> float:
    """Return the score at or above which pairs are kept so that F1 on the gold pairs is highest.

    The cut lies halfway between two different scores, or at the lowest score where every candidate stays. Of
    equal F1 the highest threshold wins. Without candidates or gold it is infinite: nothing is kept.
    """
    truth = set(gold)
    if not truth or not mined.pairs:
        return float("inf")
    right = np.cumsum([pair in truth for pair in mined.pairs])
    f1 = 2 * right / (np.arange(1, len(right) + 1) + len(truth))
    last_of_equal = np.append(mined.scores[:-1] > mined.scores[1:], True)
    best = int(np.argmax(np.where(last_of_equal, f1, -1.0)))
    score = float(mined.scores[best])
    if best + 1 == len(right):
        return score
    below = float(mined.scores[best + 1])
    halfway = (score + below) / 2
    return halfway if halfway > below else score  # neighbouring floats have nothing between them


def fold_of(source_id: str) -> int:
    """Return 0 or 1, by a hash of the id: the fold of a pair in cross-fitting."""
    return hashlib.sha256(source_id.encode()).digest()[0] & 1


def cut(mined: MinedPairs, threshold: float) -> list[Pair]:
    """Return the pairs at or above a threshold, sorted by id."""
    return sorted(pair for pair, s in zip(mined.pairs, mined.scores, strict=True) if s >= threshold)


def cross_fitted(mined: MinedPairs, gold: Sequence[Pair]) -> tuple[list[Pair], list[float]]:
    """Cut dev pairs by thresholds that were not taken from themselves.

    The pairs of each fold are cut at the threshold that is best on the other fold.

    Returns:
        The pairs that stay, and the thresholds applied to fold 0 and 1.
    """
    folds = np.array([fold_of(source) for source, _ in mined.pairs], np.int64)
    kept: list[Pair] = []
    thresholds = []
    for fold in (0, 1):
        other = [pair for pair in gold if fold_of(pair[0]) != fold]
        threshold = best_threshold(mined.of(folds != fold), other)
        kept += cut(mined.of(folds == fold), threshold)
        thresholds.append(threshold)
    return sorted(kept), thresholds
