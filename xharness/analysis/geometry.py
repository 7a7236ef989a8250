"""How an embedding table fills its space, and how far two tables agree on neighbours."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from xharness.tasks.retrieval import unit

Table = npt.NDArray[np.float32]

#: Rows that are worked on at a time.
_BLOCK = 8192
_QUERY_BLOCK = 128


@dataclass(frozen=True)
class Isotropy:
    """How evenly vectors point.

    Attributes:
        mean_cosine: Mean cosine of random pairs of different vectors, -1 to 1; 0 where directions are even
            (Ethayarajh 2019, arXiv 1909.00512).
        participation_ratio: How many dimensions the variance spreads over: the squared sum of the covariance's
            eigenvalues over the sum of their squares, 1 to the width.
        isoscore: The same between 0 (one dimension) and 1 (all alike): Rudman et al. 2022, arXiv 2108.07344, whose
            score is (participation ratio - 1) / (width - 1).
        width: Dimensions.
    """

    mean_cosine: float
    participation_ratio: float
    isoscore: float
    width: int

    def as_json(self) -> dict[str, float]:
        """Return what a JSON file holds of it."""
        return asdict(self)


def isotropy(table: Table, *, pairs: int = 20_000, seed: int = 0) -> Isotropy:
    """Measure a table.

    Args:
        table: (vectors, width), two vectors or more.
        pairs: Random pairs for the mean cosine.
        seed: Of their choice.
    """
    generator = np.random.default_rng(seed)
    one = generator.integers(len(table), size=pairs)
    other = (one + generator.integers(1, len(table), size=pairs)) % len(table)
    total = 0.0
    for at in range(0, pairs, _BLOCK):
        a, b = unit(table[one[at : at + _BLOCK]]), unit(table[other[at : at + _BLOCK]])
        total += float(np.einsum("ij,ij->", a, b, dtype=np.float64))
    ratio = _participation_ratio(table)
    width = table.shape[1]
    return Isotropy(total / pairs, ratio, (ratio - 1) / (width - 1) if width > 1 else 1.0, width)


def _participation_ratio(table: Table) -> float:
    """Return it from the covariance's trace and squared entries: no eigenvalue is needed."""
    mean = table.mean(axis=0, dtype=np.float64)
    products = np.zeros((table.shape[1], table.shape[1]))
    for at in range(0, len(table), _BLOCK):
        rows = table[at : at + _BLOCK].astype(np.float64) - mean
        products += rows.T @ rows
    squares = float(np.square(products).sum())
    return float(np.trace(products) ** 2 / squares) if squares > 0 else 1.0


def neighbour_overlap(
    one: Table, other: Table, *, neighbours: int = 10, sample: int = 1000, seed: int = 0
) -> float:
    """Return the share, in percent, of nearest neighbours by cosine that two tables have in common.

    Args:
        one: (vectors, width).
        other: (vectors, another width), of the same pieces.
        neighbours: Neighbours of each vector.
        sample: Vectors looked at; all are candidates.
        seed: Of their choice.
    """
    generator = np.random.default_rng(seed)
    chosen = np.sort(generator.permutation(len(one))[:sample])
    count = min(neighbours, len(one) - 1)
    first, second = (_neighbours(unit(table), chosen, count) for table in (one, other))
    shared = [len(np.intersect1d(a, b)) for a, b in zip(first, second, strict=True)]
    return float(100 * np.mean(shared) / count)


def _neighbours(vectors: Table, chosen: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """Return the nearest others of the chosen unit vectors, (chosen, count), in no order."""
    found = []
    for at in range(0, len(chosen), _QUERY_BLOCK):
        rows = chosen[at : at + _QUERY_BLOCK]
        cosines = vectors[rows] @ vectors.T
        cosines[np.arange(len(rows)), rows] = -np.inf
        found.append(np.argpartition(-cosines, count - 1, axis=1)[:, :count])
    return np.concatenate(found)
