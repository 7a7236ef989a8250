"""Nearest neighbours, mining and thresholds: against brute force, and independent of the order of the files."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.tasks.counted_pieces import SINGLE, CountedPieces
from xharness.data.examples import Bitext, Sentences, Split
from xharness.errors import InputError
from xharness.specs.recipe import Settings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.predictions import gold_text
from xharness.tasks.retrieval import (
    MinedPairs,
    Pair,
    Vectors,
    best_threshold,
    cross_fitted,
    cut,
    encode_sentences,
    first_of_equal,
    fold_of,
    mine,
    nearest_neighbours,
)

# Whole numbers and few of them: ties, equal rows and zero rows all occur.
WIDTH = 3


def vectors(rows: int) -> st.SearchStrategy[Vectors]:
    return hnp.arrays(np.float32, (rows, WIDTH), elements=st.integers(-1, 1).map(float))


def random_vectors(rows: int, seed: int, width: int = 8) -> Vectors:
    return np.random.default_rng(seed).normal(size=(rows, width)).astype(np.float32)


def bitext_of(sources: list[str], targets: list[str], gold: list[Pair] | None = None) -> Bitext:
    return Bitext(
        Sentences(tuple(sources), tuple(f"s {name}" for name in sources)),
        Sentences(tuple(targets), tuple(f"t {name}" for name in targets)),
        None if gold is None else tuple(gold),
    )


# -- nearest neighbours ----------------------------------------------------------------------------------


@st.composite
def searches(draw: Any) -> tuple[Vectors, Vectors, list[str], list[int]]:
    """Sources, targets whose equal texts have equal vectors, and an order of the targets."""
    texts = draw(st.lists(st.sampled_from("abcde"), min_size=1, max_size=8))
    of_text = draw(vectors(5))
    target = of_text[["abcde".index(text) for text in texts]]
    order = draw(st.permutations(range(len(texts))))
    return draw(vectors(4)), target, texts, list(order)


@given(searches())
def test_order_of_targets_does_not_change_the_chosen_text(
    case: tuple[Vectors, Vectors, list[str], list[int]],
) -> None:
    source, target, texts, order = case
    chosen = nearest_neighbours(source, target, texts)
    permuted = nearest_neighbours(source, target[order], [texts[i] for i in order])
    assert [texts[i] for i in chosen] == [texts[order[i]] for i in permuted]
    assert all(texts.index(texts[i]) == i for i in chosen)


@given(searches())
def test_chosen_target_has_the_highest_cosine_and_sorts_first_of_equals(
    case: tuple[Vectors, Vectors, list[str], list[int]],
) -> None:
    source, target, texts, _ = case
    chosen = nearest_neighbours(source, target, texts)
    x, y = source.astype(np.float64), target.astype(np.float64)
    norms = np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1))
    cosines = np.divide(x @ y.T, norms, out=np.zeros(norms.shape), where=norms > 0)
    for row, choice in zip(cosines, chosen, strict=True):
        # Cosines of these small whole numbers are equal or far apart.
        tied = [text for text, value in zip(texts, row, strict=True) if value > row.max() - 1e-6]
        assert texts[choice] == min(tied)


def test_ties_of_exactly_equal_vectors_go_to_the_text_that_sorts_first() -> None:
    same = np.ones((3, WIDTH), np.float32)
    assert nearest_neighbours(same[:1], same, ["c", "a", "b"]).tolist() == [1]


def test_equal_texts_count_as_the_first() -> None:
    target = np.eye(3, dtype=np.float32)[[2, 1, 1]]
    assert nearest_neighbours(target[1:2], target, ["x", "same", "same"]).tolist() == [1]


def test_zero_vectors_are_no_neighbours_of_anything_that_agrees() -> None:
    target = np.array([[0, 0], [1, 0]], np.float32)
    source = np.array([[2, 0], [0, 0], [-1, 0]], np.float32)
    # Cosine 1 beats 0; a zero source ties everywhere and takes the first text; 0 beats -1.
    assert nearest_neighbours(source, target, ["zero", "one"]).tolist() == [1, 1, 0]


def test_blocks_of_sources_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = random_vectors(10, 0), random_vectors(12, 1)
    texts = [str(i) for i in range(12)]
    whole = nearest_neighbours(source, target, texts)
    monkeypatch.setattr("xharness.tasks.retrieval.BLOCK", 3)
    assert nearest_neighbours(source, target, texts).tolist() == whole.tolist()


def test_broken_vectors_are_refused() -> None:
    target = np.array([[1, 0], [np.nan, 0]], np.float32)
    with pytest.raises(InputError, match="1 of 2 sentence vectors are not finite"):
        nearest_neighbours(target[:1], target, ["a", "b"])


def test_first_of_equal() -> None:
    assert first_of_equal(["a", "b", "a", "c", "b"]).tolist() == [0, 1, 0, 3, 1]


def test_gold_of_equal_targets_is_the_same_line_for_both() -> None:
    bitext = Bitext(
        Sentences(("0", "1", "2"), ("eins", "zwei", "drei")),
        Sentences(("0", "1", "2"), ("same", "other", "same")),
        (("0", "0"), ("1", "1"), ("2", "2")),
    )
    split = Split("tatoeba", "test", "de", [bitext])
    assert "".join(gold_text(load(TaskSpec, "tatoeba"), split) or ()) == "0\n1\n0\n"


# -- mining ----------------------------------------------------------------------------------------------


def mine_slowly(x: Vectors, y: Vectors, bitext: Bitext, k: int) -> list[tuple[str, str, float]]:
    """Ratio margin and greedy matching as the paper tells them, pair by pair in float64."""
    x, y = (
        v / np.linalg.norm(v, axis=1, keepdims=True) for v in (x.astype(float), y.astype(float))
    )
    cosines = x @ y.T
    mean_x = [np.mean(sorted(row)[-k:]) for row in cosines]
    mean_y = [np.mean(sorted(column)[-k:]) for column in cosines.T]

    def margin(i: int, j: int) -> float:
        return float(cosines[i, j] / ((mean_x[i] + mean_y[j]) / 2))

    proposals = []
    for i in range(len(x)):
        near = np.argsort(-cosines[i])[:k]
        proposals.append(max((margin(i, j), i, int(j)) for j in near))
    for j in range(len(y)):
        near = np.argsort(-cosines[:, j])[:k]
        proposals.append(max((margin(i, j), int(i), j) for i in near))
    found, taken_x, taken_y = [], set(), set()
    for score, i, j in sorted(proposals, key=lambda p: -p[0]):
        if i not in taken_x and j not in taken_y:
            taken_x.add(i)
            taken_y.add(j)
            found.append((bitext.source.ids[i], bitext.target.ids[j], score))
    return found


def noisy_bitext(size: int, extra: int, seed: int) -> tuple[Vectors, Vectors, Bitext]:
    """Vectors with a positive mean, of which the first ``size`` of both sides are translations."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(size, 8)) + 2.0
    x = np.concatenate([shared, rng.normal(size=(extra, 8)) + 2.0]).astype(np.float32)
    noise = rng.normal(size=(size, 8)) * 0.3
    y = np.concatenate([shared + noise, rng.normal(size=(2 * extra, 8)) + 2.0]).astype(np.float32)
    sources = [f"x-{i:03}" for i in rng.permutation(len(x))]
    targets = [f"y-{i:03}" for i in rng.permutation(len(y))]
    gold = list(zip(sources[:size], targets[:size], strict=True))
    return x, y, bitext_of(sources, targets, gold)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 4, 100])
def test_mining_against_brute_force(seed: int, k: int) -> None:
    x, y, bitext = noisy_bitext(size=20, extra=7, seed=seed)
    mined = mine(x, y, bitext, neighbours=k)
    slow = mine_slowly(x, y, bitext, min(k, len(x), len(y)))
    # By pair: with one neighbour many margins are exactly 1, and equal ones have no order in the slow version.
    assert sorted(mined.pairs) == sorted((s, t) for s, t, _ in slow)
    assert mined.scores == pytest.approx([score for _, _, score in slow], abs=1e-5)


@given(vectors(6), vectors(5), st.permutations(range(6)), st.permutations(range(5)))
def test_order_of_both_files_does_not_change_the_pairs(
    x: Vectors, y: Vectors, order_x: list[int], order_y: list[int]
) -> None:
    sources, targets = list("uvwxyz"), list("abcde")
    mined = mine(x, y, bitext_of(sources, targets), 3)
    permuted = mine(
        x[list(order_x)],
        y[list(order_y)],
        bitext_of([sources[i] for i in order_x], [targets[i] for i in order_y]),
        3,
    )
    assert mined.pairs == permuted.pairs
    assert np.array_equal(mined.scores, permuted.scores)


@given(vectors(6), vectors(5))
def test_pairs_are_one_to_one_and_best_first(x: Vectors, y: Vectors) -> None:
    mined = mine(x, y, bitext_of(list("uvwxyz"), list("abcde")), 3)
    sources, targets = zip(*mined.pairs, strict=True)
    assert len(set(sources)) == len(sources)
    assert len(set(targets)) == len(targets)
    assert all(a >= b for a, b in pairwise(mined.scores.tolist()))
    assert np.all(np.isfinite(mined.scores))


def test_identical_sentences_with_different_ids_are_both_candidates() -> None:
    x, y, bitext = noisy_bitext(size=8, extra=0, seed=3)
    gold = list(bitext.gold or ())
    assert set(mine(x, y, bitext, 4).pairs) == set(gold)
    # The first sentence once more on either side, under an id that sorts last, then under one that sorts first.
    for copy, chosen in (("zz", gold[0]), ("aa", ("aa", "aa"))):
        copied = bitext_of([*bitext.source.ids, copy], [*bitext.target.ids, copy])
        mined = mine(np.concatenate([x, x[:1]]), np.concatenate([y, y[:1]]), copied, 4)
        assert chosen in mined.pairs
        assert set(gold[1:]) <= set(mined.pairs)


# -- thresholds ------------------------------------------------------------------------------------------


def mined_of(scores: list[float], names: str = "abcdefghij") -> MinedPairs:
    ordered = sorted(scores, reverse=True)
    return MinedPairs(
        tuple((name, name) for name, _ in zip(names, ordered, strict=False)), np.array(ordered)
    )


def f1_at(mined: MinedPairs, gold: list[Pair], threshold: float) -> float:
    kept = cut(mined, threshold)
    right = len(set(kept) & set(gold))
    return 2 * right / (len(kept) + len(set(gold))) if kept else 0.0


def test_three_right_pairs_keep_all_three() -> None:
    mined = mined_of([3.0, 2.0, 1.5])
    threshold = best_threshold(mined, [("a", "a"), ("b", "b"), ("c", "c")])
    assert threshold == 1.5
    assert len(cut(mined, threshold)) == 3


def test_threshold_lies_halfway_to_the_first_pair_left_out() -> None:
    assert best_threshold(mined_of([3.0, 2.0, 1.0]), [("a", "a"), ("b", "b")]) == 1.5


def test_equal_scores_are_kept_or_cut_together() -> None:
    mined = mined_of([3.0, 2.0, 2.0, 2.0, 1.0])
    assert best_threshold(mined, [("a", "a"), ("b", "b")]) == 2.5


def test_neighbouring_floats_are_told_apart() -> None:
    below = np.nextafter(1.0, 0.0)
    mined = mined_of([1.0, float(below)])
    threshold = best_threshold(mined, [("a", "a")])
    assert cut(mined, threshold) == [("a", "a")]


def test_nothing_to_choose_from_keeps_nothing() -> None:
    assert best_threshold(mined_of([1.0]), []) == float("inf")
    assert best_threshold(mined_of([]), [("a", "a")]) == float("inf")


@given(
    st.lists(st.integers(0, 6).map(float), min_size=1, max_size=10),
    st.sets(st.sampled_from("abcdefghijklm"), min_size=1),
)
def test_no_other_threshold_is_better(scores: list[float], right: set[str]) -> None:
    mined = mined_of(scores)
    gold = [(name, name) for name in sorted(right)]
    threshold = best_threshold(mined, gold)
    candidates = [*(value - 0.25 for value in scores), *scores, max(scores) + 1]
    assert f1_at(mined, gold, threshold) == max(f1_at(mined, gold, t) for t in candidates)
    # Of equal F1 the highest cut.
    if f1_at(mined, gold, threshold):
        better = [t for t in candidates if f1_at(mined, gold, t) == f1_at(mined, gold, threshold)]
        assert len(cut(mined, threshold)) == min(len(cut(mined, t)) for t in better)


def test_threshold_of_dev_is_applied_to_test_unchanged() -> None:
    threshold = best_threshold(mined_of([3.0, 2.0, 1.0]), [("a", "a"), ("b", "b")])
    assert cut(mined_of([9.0, 1.5, 1.4999]), threshold) == [("a", "a"), ("b", "b")]


# -- cross-fitting ---------------------------------------------------------------------------------------


def test_folds_are_halves_that_depend_on_the_id_alone() -> None:
    folds = [fold_of(f"zh-{i:09}") for i in range(2000)]
    assert set(folds) == {0, 1}
    assert 900 < sum(folds) < 1100
    assert folds == [fold_of(f"zh-{i:09}") for i in range(2000)]


def test_threshold_of_a_fold_does_not_depend_on_its_own_pairs() -> None:
    x, y, bitext = noisy_bitext(size=60, extra=30, seed=5)
    mined = mine(x, y, bitext, 4)
    gold = list(bitext.gold or ())
    kept, thresholds = cross_fitted(mined, gold)
    for fold in (0, 1):
        # All of the fold's gold taken away: what is kept of it stays the same.
        others = [pair for pair in gold if fold_of(pair[0]) != fold]
        again, changed = cross_fitted(mined, others)
        assert changed[fold] == thresholds[fold]
        assert [p for p in again if fold_of(p[0]) == fold] == [
            p for p in kept if fold_of(p[0]) == fold
        ]
    assert thresholds[0] != thresholds[1]
    assert len(set(kept) & set(gold)) > 0.8 * len(gold)


def test_pairs_of_a_fold_are_those_above_its_threshold() -> None:
    x, y, bitext = noisy_bitext(size=40, extra=20, seed=6)
    mined = mine(x, y, bitext, 4)
    kept, thresholds = cross_fitted(mined, list(bitext.gold or ()))
    expected = [
        pair
        for pair, score in zip(mined.pairs, mined.scores.tolist(), strict=True)
        if score >= thresholds[fold_of(pair[0])]
    ]
    assert kept == sorted(expected)


# -- windows ---------------------------------------------------------------------------------------------


def test_sentences_are_cut_to_the_window_and_counted() -> None:
    tokenizer = CountedPieces({"a": 1, "b": 2}, SINGLE)
    encoding = encode_sentences(["a b", "b b b b", ""], tokenizer, Settings(max_length=8))
    assert encoding.lengths.tolist() == [5, 8, 2]
    assert encoding.counts == {"sentences_cut": 1}
    assert encoding.types.tolist() == [0] * 15
