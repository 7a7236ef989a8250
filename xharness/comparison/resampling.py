"""Resampling paired examples: the bootstrap, and random exchange of the two sides.

Both are matrix products of random weights with the examples' numerators and denominators, in blocks of bounded memory.
The draws depend on the seed and on the name of what is resampled alone, not on what else is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256

import numpy as np

from xharness.comparison.pairing import PairedExamples
from xharness.scoring.examples import FloatArray

#: Weights of one matrix product (4 MiB), and random numbers drawn at a time (256 KiB, so that they stay in the cache).
_BLOCK = 1 << 19
_CHUNK = 1 << 15


def generator(seed: int, *names: str) -> np.random.Generator:
    """Return the random generator of something named."""
    digest = sha256("\0".join(names).encode()).digest()[:16]
    return np.random.default_rng([seed, int.from_bytes(digest, "big")])


def figures_of(sums: FloatArray) -> FloatArray:
    """Return figures in percent from sums over examples; an undefined ratio is 0, as in scoring.

    Args:
        sums: Numerators and denominators. (..., figures, 2)
    """
    numerators, denominators = sums[..., 0], sums[..., 1]
    ratios = np.zeros_like(numerators)
    np.divide(numerators, denominators, out=ratios, where=denominators > 0)
    means: FloatArray = 100.0 * ratios.mean(axis=-1)
    return means


def observed(paired: PairedExamples) -> tuple[FloatArray, FloatArray]:
    """Return both sides' figures in percent, (languages, seeds) each."""
    return figures_of(paired.baseline.sum(axis=0)), figures_of(paired.candidate.sum(axis=0))


def bootstrap(
    paired: PairedExamples, resamples: int, random: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw examples with replacement, the same for both sides, all languages and all seeds (Efron 1979).

    Returns:
        Both sides' figures in percent, (resamples, languages, seeds) each.
    """
    size = paired.size
    shapes = (paired.baseline.shape[1:], paired.candidate.shape[1:])
    table = np.hstack([side.reshape(size, -1) for side in (paired.baseline, paired.candidate)])
    split = int(np.prod(shapes[0]))
    draws = tuple(np.empty((resamples, *shape[:2])) for shape in shapes)
    for rows, sums in _products(random, resamples, table, _multinomial):
        for side, part in enumerate((sums[:, :split], sums[:, split:])):
            draws[side][rows] = figures_of(part.reshape(len(part), *shapes[side]))
    return draws[0], draws[1]


def exchange(
    paired: PairedExamples, resamples: int, random: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Exchange the two sides of each example with probability one half (approximate randomization, Noreen 1989).

    Returns:
        The difference and its draws, as ``contributions`` defines it, in points. (languages,), (resamples, languages)
    """
    shares = contributions(paired)
    difference = shares.sum(axis=0)
    # An example on which both sides are the same everywhere adds nothing, whichever way round.
    shares = shares[shares.any(axis=1)]
    draws = np.empty((resamples, len(paired.languages)))
    for rows, kept in _products(random, resamples, shares, _coins):
        draws[rows] = 2.0 * kept - difference
    return difference, draws


def contributions(paired: PairedExamples) -> FloatArray:
    """Return what each example adds to the difference of the two sides, in points. (examples, languages).

    With numerators N, denominators D, the common ratio ``f = (N1 + N2) / (D1 + D2)`` and the mean denominator
    ``(D1 + D2) / 2``, the sum over examples of ``((n2 - f d2) - (n1 - f d1)) / mean`` is the difference of two means
    itself, and that of two F1 scores to first order. Exchanging an example's sides leaves ``f`` and ``mean`` as they
    are and turns its share's sign, so the test of this sum is exact where the sides are exchangeable, and linear. Seeds
    are averaged.
    """
    first, second = paired.baseline.mean(axis=2), paired.candidate.mean(axis=2)
    sums = first.sum(axis=0) + second.sum(axis=0)  # (languages, figures, 2)
    common = np.zeros_like(sums[..., 0])
    np.divide(sums[..., 0], sums[..., 1], out=common, where=sums[..., 1] > 0)
    gain = second - first  # (examples, languages, figures, 2)
    shares = gain[..., 0] - common * gain[..., 1]
    scaled = np.zeros_like(shares)
    np.divide(shares, sums[..., 1] / 2, out=scaled, where=sums[..., 1] > 0)
    total: FloatArray = 100.0 * scaled.mean(axis=-1)
    return total


#: Fills an array of weights, (rows, size).
_Fill = Callable[[np.random.Generator, FloatArray], None]


def _products(
    random: np.random.Generator, resamples: int, table: FloatArray, fill: _Fill
) -> Iterator[tuple[slice, FloatArray]]:
    """Yield random weights times a table, block by block.

    Args:
        random: The random generator.
        resamples: Rows of weights in all.
        table: The table. (size, columns)
        fill: What makes the weights.

    Yields:
        The rows, and their product. (rows, columns)
    """
    size = len(table)
    rows, chunk = (max(1, numbers // max(1, size)) for numbers in (_BLOCK, _CHUNK))
    weights = np.empty((min(rows, resamples), size))
    for start in range(0, resamples, rows):
        block = weights[: min(rows, resamples - start)]
        for first in range(0, len(block), chunk):
            fill(random, block[first : first + chunk])
        yield slice(start, start + len(block)), block @ table


def _multinomial(random: np.random.Generator, weights: FloatArray) -> None:
    """Fill in how often each example is drawn in samples of ``size`` with replacement."""
    rows, size = weights.shape
    drawn = random.integers(0, size, size=(rows, size))
    drawn += np.arange(rows)[:, None] * size
    weights[:] = np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size)


def _coins(random: np.random.Generator, weights: FloatArray) -> None:
    """Fill in 0 or 1, with probability one half each."""
    rows, size = weights.shape
    raw = random.integers(0, 256, size=(rows, -(-size // 8)), dtype=np.uint8)
    weights[:] = np.unpackbits(raw, axis=1, count=size)
