"""Isotropy, and neighbours that two tables share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.analysis.geometry import Table, isotropy, neighbour_overlap


def drawn(rows: int, width: int, seed: int) -> Table:
    generator = np.random.default_rng(seed)
    scales = generator.uniform(0.1, 3.0, size=width)
    return (generator.normal(size=(rows, width)) * scales).astype(np.float32)


def isoscore_step_by_step(points: Table) -> float:
    """Algorithm 1 of Rudman et al. 2022 (arXiv 2108.07344), written out from its steps."""
    n = points.shape[1]
    variances = np.linalg.eigvalsh(np.cov(points.astype(np.float64), rowvar=False))
    normalised = np.sqrt(n) * variances / np.linalg.norm(variances)
    defect = np.linalg.norm(normalised - 1) / np.sqrt(2 * (n - np.sqrt(n)))
    share = (n - defect**2 * (n - np.sqrt(n))) ** 2 / n**2
    return float((n * share - 1) / (n - 1))


@given(st.integers(2, 9), st.integers(0, 1000))
def test_isoscore_is_that_of_its_authors(width: int, seed: int) -> None:
    points = drawn(40, width, seed)
    found = isotropy(points)
    assert found.isoscore == pytest.approx(isoscore_step_by_step(points), abs=1e-5)
    assert 1 <= found.participation_ratio <= width + 1e-6


def test_points_on_a_line_and_points_on_all_axes() -> None:
    """One direction has ratio 1 and score 0; the same variance along each axis has ratio 4 and score 1."""
    line = np.outer(np.arange(6), [1.0, 2, 3, 4]).astype(np.float32)
    assert isotropy(line).isoscore == pytest.approx(0, abs=1e-9)
    axes = np.concatenate([np.eye(4), -np.eye(4)]).astype(np.float32)
    even = isotropy(axes)
    assert (even.participation_ratio, even.isoscore) == pytest.approx((4, 1))


def test_the_mean_cosine_is_over_different_vectors() -> None:
    """Of two vectors at 60 degrees every random pair is the two: cosine 0.5, never 1 with itself."""
    two = np.array([[1, 0], [0.5, np.sqrt(3) / 2]], np.float32)
    assert isotropy(two).mean_cosine == pytest.approx(0.5, abs=1e-6)


def test_large_tables_are_worked_on_in_parts() -> None:
    """More rows than a block: the covariance is numpy's."""
    points = drawn(9000, 3, 1) + np.float32(5)
    variances = np.linalg.eigvalsh(np.cov(points.astype(np.float64), rowvar=False))
    ratio = variances.sum() ** 2 / np.square(variances).sum()
    assert isotropy(points).participation_ratio == pytest.approx(ratio)


def test_a_turned_table_has_the_same_neighbours() -> None:
    table = drawn(60, 4, 2)
    turn, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(4, 4)))
    assert neighbour_overlap(table, (table @ turn).astype(np.float32)) == pytest.approx(
        100, abs=0.5
    )


def test_neighbours_by_hand() -> None:
    """On a circle each point's two neighbours are beside it; shuffling pairs across makes other ones."""
    angles = np.arange(8) * np.pi / 4
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    stride = circle[[0, 3, 6, 1, 4, 7, 2, 5]]  # steps of 135 degrees: beside become far
    assert neighbour_overlap(circle, circle, neighbours=2) == 100
    assert neighbour_overlap(circle, stride, neighbours=2) == 0


def test_unrelated_tables_share_as_many_neighbours_as_chance() -> None:
    """10 of 399 candidates: 2.5 % expected."""
    assert neighbour_overlap(drawn(400, 8, 4), drawn(400, 6, 5)) < 6
