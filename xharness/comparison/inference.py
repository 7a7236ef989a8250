"""Intervals and p-values of differences, and the correction for their number.

**One trained model a side** (or several on one side only, which are then averaged): the question is about these models,
and the examples are what is random. The interval is the bootstrap's, by percentiles that are widened to the t
distribution's as for a mean of as many examples (the expanded percentile interval of Hesterberg 2015, The American
Statistician 69): a plain percentile interval is too short in small sets. The p-value comes from exchanging the sides of
each example at random, which keeps its level whatever the distribution; ties count by half (the mid-p of Lancaster
1961, JASA 56), without which accuracies, which have few distinct values, would be tested at less than the level stated.
F1 scores can be equal where the sides are not exchangeable, one predicting little and the other much; with few right
spans exchanging then finds that difference instead. So where fewer than 20 examples have anything right, the p-value of
an F1 is the larger of that test's and the interval's own, which makes it rather too large.

**Several seeds on both sides**: the question is about the two ways of training, and seeds are random too. Seeds are
few, so they are not drawn: percentiles of two to five values are far too narrow, and drawing seeds and examples both
counts what is peculiar to a seed on an example three times (Owen 2007, The pigeonhole bootstrap, Annals of Applied
Statistics 1). The variance is instead put together from its parts, as for readers and cases in diagnostic studies
(Obuchowski and Rockette 1995; degrees of freedom of Hillis 2007, Statistics in Medicine 26):

* between seeds, pooled over the two sides: ``s^2 (1/m1 + 1/m2)``, with m1 + m2 - 2 degrees of freedom. It holds
  whatever the examples do to single seeds.
* between examples, from the bootstrap of the difference of means over seeds, less what single seeds already explain
  (from the bootstrap of each seed's departure from its side's mean), and never below 0.

The difference over the root of their sum is referred to a t distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from xharness.scoring.examples import FloatArray

#: Values closer than this are ties, in points; sums in another order differ by less.
_TIE = 1e-9


@dataclass(frozen=True)
class Outcome:
    """An interval in points and a two-sided p-value."""

    low: float
    high: float
    p_value: float


def examples_outcome(
    draws: FloatArray,
    exchanged: FloatArray,
    difference: float,
    examples: int,
    level: float,
    *,
    rare: bool,
) -> Outcome:
    """Test a difference with the examples as what is random.

    Args:
        draws: The difference in bootstrap resamples, in points. (resamples,)
        exchanged: The difference with sides exchanged at random. (resamples,)
        difference: What ``exchanged`` is compared with.
        examples: Number of examples.
        level: Confidence level, a fraction.
        rare: Whether the figure is a ratio of which too few examples have anything right.
    """
    low, high = expanded_percentiles(draws, examples, level)
    p_value = mid_p(difference, exchanged)
    if rare:
        p_value = max(p_value, interval_p(draws, examples))
    return Outcome(low, high, p_value)


def expanded_percentiles(draws: FloatArray, examples: int, level: float) -> tuple[float, float]:
    """Return the expanded percentile interval of bootstrap draws."""
    tail = (1 - level) / 2
    if examples > 1:
        stretch = np.sqrt(examples / (examples - 1))
        tail = float(ndtr(stretch * stdtrit(examples - 1, tail)))
    low, high = np.quantile(draws, [tail, 1 - tail])
    return float(low), float(high)


def interval_p(draws: FloatArray, examples: int) -> float:
    """Return the p-value at which the expanded percentile interval just reaches 0; draws of 0 count by half."""
    ties = int(np.count_nonzero(np.abs(draws) <= _TIE))
    below = int(np.count_nonzero(draws < -_TIE))
    beyond = min(below, len(draws) - ties - below)
    tail = (beyond + 0.5 * ties) / len(draws)
    if examples > 1:
        shrink = np.sqrt((examples - 1) / examples)
        tail = float(stdtr(examples - 1, shrink * ndtri(tail)))
    return max(smallest_p(len(draws)), min(1.0, 2 * tail))


def mid_p(difference: float, draws: FloatArray) -> float:
    """Return the two-sided mid-p of a difference among draws under no difference; the difference itself is one of them.

    >>> mid_p(2.0, np.array([1.0, -2.0, 0.5, -1.0, 3.0, 0.0, 1.5, -0.5, 0.0]))
    0.2
    """
    if abs(difference) <= _TIE:
        return 1.0
    excess = np.abs(draws) - abs(difference)
    beyond = int(np.count_nonzero(excess > _TIE))
    ties = int(np.count_nonzero(np.abs(excess) <= _TIE)) + 1
    return (beyond + 0.5 * ties) / (len(draws) + 1)


def smallest_p(resamples: int) -> float:
    """Return the smallest p-value that so many resamples can give."""
    return 0.5 / (resamples + 1)


def seeds_outcome(
    baseline: FloatArray,
    candidate: FloatArray,
    baseline_draws: FloatArray,
    candidate_draws: FloatArray,
    level: float,
) -> Outcome:
    """Test a difference with seeds and examples as what is random; each side has two seeds or more.

    Args:
        baseline: The baseline's figure by seed, in percent. (seeds,)
        candidate: The candidate's. (seeds,)
        baseline_draws: The baseline's figure by seed in bootstrap resamples. (resamples, seeds)
        candidate_draws: The candidate's, in the same resamples.
        level: Confidence level, a fraction.
    """
    sides, draws = (baseline, candidate), (baseline_draws, candidate_draws)
    freedom = sum(len(side) - 1 for side in sides)
    scale = sum(1 / len(side) for side in sides)
    seeds = scale * sum(_sum_of_squares(side) for side in sides) / freedom
    peculiar = (
        scale
        * sum(float((d - d.mean(axis=1, keepdims=True)).var(axis=0).sum()) for d in draws)
        / freedom
    )
    total = float((candidate_draws.mean(axis=1) - baseline_draws.mean(axis=1)).var())
    if seeds <= _TIE**2:
        # Seeds that tie to the last digit say nothing of how far they spread; at least this far.
        seeds = peculiar
    examples = max(0.0, total - peculiar)
    variance = seeds + examples
    difference = float(candidate.mean() - baseline.mean())
    floor = smallest_p(len(baseline_draws))
    if variance <= _TIE**2:
        return Outcome(difference, difference, 1.0 if abs(difference) <= _TIE else floor)
    # The variance between examples rests on hundreds of them: its own degrees of freedom are left out. Two seeds may
    # lie close together by chance; the share of the examples must not look larger for it.
    least = max(seeds, peculiar)
    effective = freedom * ((least + examples) / least) ** 2 if least > 0 else np.inf
    error = np.sqrt(variance)
    width = error * _t_quantile(effective, (1 + level) / 2)
    p_value = 2 * _t_below(effective, -abs(difference) / error)
    return Outcome(difference - width, difference + width, max(p_value, floor))


def _sum_of_squares(values: FloatArray) -> float:
    return float(((values - values.mean()) ** 2).sum())


def _t_below(freedom: float, value: float) -> float:
    return float(stdtr(min(freedom, 1e9), value))


def _t_quantile(freedom: float, probability: float) -> float:
    return float(stdtrit(min(freedom, 1e9), probability))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number, in the same order (Holm 1979, Scandinavian Journal of Statistics 6).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(p_values)
    so_far = 0.0
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    for rank, place in enumerate(order):
        so_far = max(so_far, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = so_far
    return corrected
