"""Verdicts on a paper's statements."""

from __future__ import annotations

import pytest

from tests.encoder.tiny_models import tiny_config
from xharness.analysis.statements import (
    by_output_size,
    higher,
    higher_in_every_seed,
    lines_of,
    rising,
)


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [(2.0, 1.0, "seen"), (1.0, 2.0, "the reverse is seen"), (1.0, 1.0, "not told apart")],
)
def test_one_figure_against_another(one: float, other: float, verdict: str) -> None:
    assert higher("a above b", ("a", one), ("b", other)).verdict == verdict


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        ((5.0, 6.0), (3.0, 4.0), "seen"),
        ((1.0, 2.0), (3.0, 4.0), "the reverse is seen"),
        ((1.0, 9.0), (3.0, 4.0), "not told apart"),  # the means 5.0 and 3.5 alone do not count
        ((), (3.0,), "cannot be tried"),
    ],
)
def test_every_seed_must_agree(
    one: tuple[float, ...], other: tuple[float, ...], verdict: str
) -> None:
    assert higher_in_every_seed("a above b", ("a", one), ("b", other)).verdict == verdict


@pytest.mark.parametrize(
    ("values", "falling", "verdict"),
    [
        ([1.0, 2.0, 3.0], False, "seen"),
        ([3.0, 2.0, 1.0], False, "the reverse is seen"),
        ([3.0, 2.0, 1.0], True, "seen"),
        ([1.0, 3.0, 2.0], False, "not told apart"),
        ([1.0, 1.0], False, "not told apart"),
        ([1.0], False, "cannot be tried"),
    ],
)
def test_figures_in_a_row(values: list[float], falling: bool, verdict: str) -> None:
    named = {str(i): value for i, value in enumerate(values)}
    statement = rising("it rises", named, falling=falling)
    assert statement.verdict == verdict
    assert lines_of([statement])[0].startswith(f"{verdict}: it rises (")


def test_encoders_are_compared_only_if_the_output_embedding_alone_differs() -> None:
    """RemBERT's Table 4 keeps the rest of the encoder fixed."""
    sizes = [("c", 48), ("a", 8), ("b", 16)]
    alike = [(name, tiny_config(output_embedding_size=size)) for name, size in sizes]
    assert by_output_size(alike) == ["a", "b", "c"]
    deeper = ("d", tiny_config(output_embedding_size=96, num_hidden_layers=3))
    assert by_output_size([*alike, deeper]) == []
    assert by_output_size([*alike, ("again", tiny_config(output_embedding_size=8))]) == []
    assert by_output_size(alike[:1]) == []
    coupled = tiny_config(coupling="coupled", output_embedding_size=None)
    assert by_output_size([*alike, ("coupled", coupled)]) == ["a", "b", "c"]
