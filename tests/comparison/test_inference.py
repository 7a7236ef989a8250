"""Intervals and p-values against scipy and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.comparison.test_resampling import means, spans
from xharness.comparison.inference import (
    examples_outcome,
    expanded_percentiles,
    holm,
    interval_p,
    mid_p,
    seeds_outcome,
    smallest_p,
)
from xharness.comparison.resampling import bootstrap, exchange


@pytest.mark.parametrize(("gained", "lost"), [(3, 12), (20, 30), (1, 4), (0, 5), (6, 6)])
def test_accuracy_gives_the_mid_p_mcnemar_test(gained: int, lost: int) -> None:
    """Exact McNemar: twice the lower binomial tail; mid-p takes half of the observed value's probability away."""
    first = np.array([0.0] * gained + [1.0] * lost + [1.0] * 100)
    second = np.array([1.0] * gained + [0.0] * lost + [1.0] * 100)
    difference, draws = exchange(means(first, second), 100_000, np.random.default_rng(0))
    mine = mid_p(difference.item(), draws[:, 0])
    exact = stats.binomtest(gained, gained + lost).pvalue
    expected = exact - stats.binom.pmf(gained, gained + lost, 0.5) if gained != lost else 1.0
    assert mine == pytest.approx(expected, abs=0.006)
    assert mine <= exact + 0.006


def test_scores_give_the_p_value_of_a_paired_t_test() -> None:
    """With hundreds of examples the exchange test and the t test are the same but for Monte Carlo error."""
    random = np.random.default_rng(2)
    first = random.random(500)
    second = first + random.normal(0.012, 0.12, size=500)
    difference, draws = exchange(means(first, second), 50_000, np.random.default_rng(0))
    theirs = stats.ttest_rel(second, first).pvalue
    assert 0.005 < theirs < 0.2
    assert mid_p(difference.item(), draws[:, 0]) == pytest.approx(theirs, abs=0.006)


def test_losing_the_only_right_span_is_not_significant() -> None:
    """One right span of 40 sentences lost, while three times as much is predicted: F1 falls from 2 % to 0.

    Exchange alone finds the difference in what is predicted. The bootstrap leaves that sentence out in
    (39/40)^40 = 36 % of draws, which then tie at 0.
    """
    counts = np.tile([0.0, 1.0, 0.0, 3.0, 1.0], (40, 1))
    counts[0, 0] = 1.0
    paired = spans(counts)
    first, second = bootstrap(paired, 10_000, np.random.default_rng(0))
    difference, exchanged = exchange(paired, 10_000, np.random.default_rng(0))
    draws, observed = (second - first)[:, 0, 0], difference.item()
    assert paired.rare("en")
    careless = examples_outcome(draws, exchanged[:, 0], observed, 40, 0.95, rare=False)
    careful = examples_outcome(draws, exchanged[:, 0], observed, 40, 0.95, rare=True)
    assert careless.p_value < 0.01
    assert careful.p_value == pytest.approx(0.36, abs=0.03)


@given(st.integers(2, 500), st.floats(-4, 4), st.floats(0.6, 0.99))
def test_interval_excludes_nought_when_its_p_value_says_so(
    examples: int, shift: float, level: float
) -> None:
    draws = np.random.default_rng(0).normal(shift, 1, size=999)
    low, high = expanded_percentiles(draws, examples, level)
    p_value = interval_p(draws, examples)
    if p_value < 1 - level - 0.01:
        assert not low <= 0 <= high
    if p_value > 1 - level + 0.01:
        assert low <= 0 <= high


@pytest.mark.parametrize("examples", [1, 20, 2000])
def test_interval_never_keeps_a_clear_drop_from_the_smallest_p(examples: int) -> None:
    assert interval_p(np.full(1000, -5.0), examples) == smallest_p(1000)


def test_no_difference_has_p_1_and_a_large_one_the_smallest() -> None:
    draws = np.array([0.5, -0.5, 0.1])
    assert mid_p(0.0, draws) == 1.0
    assert mid_p(9.0, draws) == smallest_p(3) == 0.125
    # Two of three draws lie beyond 0.3, and the difference itself counts half.
    assert mid_p(0.3, draws) == (2 + 0.5) / 4


@pytest.mark.parametrize("examples", [10, 40, 1000])
def test_expanded_percentiles_are_the_t_interval_of_a_mean(examples: int) -> None:
    """Bootstrap draws of a mean are normal with variance (n - 1)/n of the unbiased one; t widens them back."""
    random = np.random.default_rng(0)
    error = np.sqrt((examples - 1) / examples)
    low, high = expanded_percentiles(random.normal(0, error, size=400_000), examples, 0.95)
    expected = stats.t(examples - 1).ppf(0.975)
    assert high == pytest.approx(expected, rel=0.015)
    assert low == pytest.approx(-expected, rel=0.015)


def test_seeds_alone_give_the_two_sample_t_test() -> None:
    """Where examples add nothing beyond what they do to single seeds, scipy's pooled t test comes out."""
    baseline, candidate = np.array([70.0, 71.5, 70.4]), np.array([68.0, 69.9, 68.2, 69.0])
    fixed = (np.tile(baseline, (100, 1)), np.tile(candidate, (100, 1)))
    outcome = seeds_outcome(baseline, candidate, *fixed, 0.95)
    theirs = stats.ttest_ind(candidate, baseline)
    interval = theirs.confidence_interval(0.95)
    assert outcome.p_value == pytest.approx(theirs.pvalue)
    assert (outcome.low, outcome.high) == pytest.approx((interval.low, interval.high))


def test_seeds_that_agree_leave_the_examples() -> None:
    """All seeds with the same predictions: a normal interval from the bootstrap of the one difference."""
    draws = np.random.default_rng(0).normal(0, 2.0, size=(50_000, 1))
    baseline, candidate = np.full(3, 70.0), np.full(3, 73.0)
    outcome = seeds_outcome(
        baseline, candidate, np.full((50_000, 3), 70.0), 73.0 + np.tile(draws, (1, 3)), 0.95
    )
    assert outcome.p_value == pytest.approx(2 * stats.norm.sf(1.5), rel=0.03)
    assert outcome.high - outcome.low == pytest.approx(2 * 1.96 * 2.0, rel=0.02)


def test_parts_of_the_variance_add_up() -> None:
    """Between seeds 2 (1/2 + 1/2), and between examples 3 (shared by a side's seeds) without the peculiar part."""
    random = np.random.default_rng(0)
    shared = random.normal(0, np.sqrt(3.0), size=(200_000, 1))
    peculiar = random.normal(0, 0.5, size=(4, 200_000))
    baseline, candidate = np.array([69.0, 71.0]), np.array([74.0, 76.0])
    first = baseline + peculiar[:2].T
    second = candidate + shared + peculiar[2:].T
    outcome = seeds_outcome(baseline, candidate, first, second, 0.95)
    variance = 2.0 + 3.0
    freedom = 2 * (variance / 2.0) ** 2
    width = stats.t(freedom).ppf(0.975) * np.sqrt(variance)
    assert (outcome.low, outcome.high) == pytest.approx((5 - width, 5 + width), abs=0.05)


def test_seeds_that_tie_by_chance_do_not_make_it_certain() -> None:
    random = np.random.default_rng(0)
    baseline, candidate = np.full(2, 70.0), np.full(2, 70.5)
    draws = [70 + random.normal(0, 1.0, size=(10_000, 2)) for _ in range(2)]
    assert seeds_outcome(baseline, candidate, draws[0], draws[1], 0.95).p_value > 0.5


def test_holm_by_hand() -> None:
    # 4 x 0.005, 3 x 0.011, 2 x 0.02, then 0.04 raised to the one before it
    assert holm([0.02, 0.005, 0.04, 0.011]) == pytest.approx([0.04, 0.02, 0.04, 0.033])
    assert holm([0.9, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=30))
def test_holm_keeps_the_order_and_lies_between_p_and_bonferroni(p_values: list[float]) -> None:
    corrected = holm(p_values)
    for p_value, value in zip(p_values, corrected, strict=True):
        assert p_value <= value <= min(1.0, len(p_values) * p_value) + 1e-12
    pairs = sorted(zip(p_values, corrected, strict=True))
    assert [value for _, value in pairs] == sorted(value for _, value in pairs)
