"""Resampling against scipy and against enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from xharness.comparison import resampling
from xharness.comparison.pairing import PairedExamples
from xharness.comparison.resampling import bootstrap, contributions, exchange, observed
from xharness.scoring.examples import FloatArray

RANDOM = np.random.default_rng(3)


def means(baseline: FloatArray, candidate: FloatArray) -> PairedExamples:
    """Pair values whose figure is their mean, one language and seed."""

    def side(values: FloatArray) -> FloatArray:
        return np.stack([values, np.ones_like(values)], axis=1)[:, None, None, None, :]

    return PairedExamples(("en",), side(baseline), side(candidate))


def spans(counts: FloatArray) -> PairedExamples:
    """Pair (correct, predicted) of both sides and gold, (examples, 5), by F1."""

    def side(correct: FloatArray, predicted: FloatArray) -> FloatArray:
        ratios = np.stack([2 * correct, predicted + counts[:, 4]], axis=1)
        return ratios[:, None, None, None, :]

    return PairedExamples(
        ("en",), side(counts[:, 0], counts[:, 1]), side(counts[:, 2], counts[:, 3])
    )


def made_spans(size: int) -> PairedExamples:
    gold = RANDOM.poisson(1.5, size=size)
    first, second = RANDOM.binomial(gold, 0.7), RANDOM.binomial(gold, 0.6)
    extra = RANDOM.poisson(0.4, size=(2, size))
    return spans(
        np.stack([first, first + extra[0], second, second + extra[1], gold], axis=1).astype(float)
    )


def test_bootstrap_has_the_spread_of_scipys() -> None:
    first = (RANDOM.random(300) < 0.7).astype(float)
    second = (RANDOM.random(300) < 0.6).astype(float)
    draws = bootstrap(means(first, second), 20_000, np.random.default_rng(0))
    difference = (draws[1] - draws[0])[:, 0, 0]
    theirs = stats.bootstrap(
        (second, first),
        lambda a, b, axis: 100 * (a.mean(axis=axis) - b.mean(axis=axis)),
        paired=True,
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(1),
    )
    # A quantile of 20,000 draws is known to about 0.02 standard errors of the draws (Monte Carlo error), twice.
    assert difference.std() == pytest.approx(theirs.standard_error, rel=0.03)
    low, high = np.quantile(difference, [0.025, 0.975])
    tolerance = 0.06 * theirs.standard_error
    assert low == pytest.approx(theirs.confidence_interval.low, abs=tolerance)
    assert high == pytest.approx(theirs.confidence_interval.high, abs=tolerance)


def test_bootstrap_of_f1_draws_numerators_and_denominators_together() -> None:
    paired = made_spans(200)
    draws = bootstrap(paired, 10_000, np.random.default_rng(0))

    def f1(rows: FloatArray, side: FloatArray) -> float:
        sums = side[rows, 0, 0, 0].sum(axis=0)
        return float(100 * sums[0] / sums[1])

    picks = np.random.default_rng(5).integers(0, 200, size=(10_000, 200))
    plain = [f1(rows, paired.candidate) - f1(rows, paired.baseline) for rows in picks]
    mine = (draws[1] - draws[0])[:, 0, 0]
    assert mine.mean() == pytest.approx(np.mean(plain), abs=float(4 * np.std(plain) / 70))
    assert mine.std() == pytest.approx(np.std(plain), rel=0.04)


def test_both_sides_get_the_same_draws() -> None:
    values = RANDOM.random(50)
    first, second = bootstrap(means(values, values), 500, np.random.default_rng(0))
    assert (first == second).all()
    assert first.std() > 0


def test_shares_add_up_to_a_difference_of_means_and_nearly_to_one_of_f1() -> None:
    first, second = RANDOM.random(40), RANDOM.random(40)
    total = contributions(means(first, second)).sum()
    assert total == pytest.approx(100 * (second.mean() - first.mean()))
    paired = made_spans(400)
    figures = [figure.item() for figure in observed(paired)]
    assert contributions(paired).sum() == pytest.approx(figures[1] - figures[0], rel=0.1)


def test_exchanging_sides_of_f1_only_turns_signs() -> None:
    """All 2^8 exchanges by hand: each has the sum of the shares with some signs turned."""
    paired = made_spans(8)
    shares = contributions(paired)[:, 0]
    for turned in itertools.product([False, True], repeat=8):
        mask = np.array(turned)[:, None, None, None, None]
        swapped = PairedExamples(
            ("en",),
            np.where(mask, paired.candidate, paired.baseline),
            np.where(mask, paired.baseline, paired.candidate),
        )
        expected = np.where(turned, -shares, shares).sum()
        assert contributions(swapped).sum() == pytest.approx(expected, abs=1e-9)


def test_exchange_agrees_with_scipys_paired_permutation_test() -> None:
    first = RANDOM.random(60)
    second = first + RANDOM.normal(0.03, 0.1, size=60)
    difference, draws = exchange(means(first, second), 50_000, np.random.default_rng(0))
    theirs = stats.permutation_test(
        (second, first),
        lambda a, b, axis: 100 * (a.mean(axis=axis) - b.mean(axis=axis)),
        permutation_type="samples",
        n_resamples=50_000,
        rng=np.random.default_rng(1),
    )
    assert difference.item() == pytest.approx(theirs.statistic)
    mine = (np.abs(draws) >= abs(difference)).mean()
    assert 0.001 < theirs.pvalue < 0.5
    assert mine == pytest.approx(theirs.pvalue, abs=0.006)


def test_exchange_where_nothing_differs() -> None:
    values = RANDOM.random(20)
    difference, draws = exchange(means(values, values), 100, np.random.default_rng(0))
    assert difference.tolist() == [0.0]
    assert not draws.any()


def test_undefined_ratio_is_nought() -> None:
    assert resampling.figures_of(np.array([[[0.0, 0.0]], [[1.0, 2.0]]])).tolist() == [0.0, 50.0]


def test_draws_do_not_depend_on_the_size_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    paired = made_spans(30)
    before = bootstrap(paired, 200, np.random.default_rng(0))
    monkeypatch.setattr(resampling, "_BLOCK", 210)
    monkeypatch.setattr(resampling, "_CHUNK", 70)
    after = bootstrap(paired, 200, np.random.default_rng(0))
    assert all((one == other).all() for one, other in zip(before, after, strict=True))


def test_generators_differ_by_name_and_seed_only() -> None:
    def first(seed: int, *names: str) -> int:
        return int(resampling.generator(seed, *names).integers(1 << 40))

    assert first(0, "xnli", "de") == first(0, "xnli", "de")
    assert len({first(0, "xnli", "de"), first(1, "xnli", "de"), first(0, "xnlide", "")}) == 3
