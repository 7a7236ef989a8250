"""Verdicts on a paper's statements."""

from __future__ import annotations

import pytest

from tests.encoder.tiny_models import tiny_config
from xharness.analysis.statements import (
    by_output_size,
    higher,
    higher_over_seeds,
    lines_of,
    lower_over_seeds,
    over_seeds,
    rising,
    statement_table,
)


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [(2.0, 1.0, "seen"), (1.0, 2.0, "the reverse is seen"), (1.0, 1.0, "not told apart")],
)
def test_one_figure_against_another(one: float, other: float, verdict: str) -> None:
    assert higher("a above b", ("a", one), ("b", other)).verdict == verdict


@pytest.mark.parametrize(
    ("one", "other", "higher_is", "lower_is"),
    [
        ((5.0, 6.0), (3.0, 4.0), "seen", "the reverse is seen"),
        ((1.0, 2.0), (3.0, 4.0), "the reverse is seen", "seen"),
        ((1.0, 9.0), (3.0, 4.0), "not told apart", "not told apart"),  # means do not count
        ((1.0,), (3.0, 4.0), "not told apart", "not told apart"),  # nor does one seed
        ((), (3.0,), "cannot be tried", "cannot be tried"),
    ],
)
def test_every_seed_must_agree(
    one: tuple[float, ...], other: tuple[float, ...], higher_is: str, lower_is: str
) -> None:
    assert higher_over_seeds("a above b", ("a", one), ("b", other)).verdict == higher_is
    assert lower_over_seeds("a below b", ("a", one), ("b", other)).verdict == lower_is


def test_figures_over_seeds() -> None:
    """The standard deviation of 1 and 3 is the square root of 2."""
    assert over_seeds([1, 3]) == "2.0 ± 1.4"
    assert over_seeds([1.25], 2) == "1.25"
    assert over_seeds([]) == "-"
    judged = higher_over_seeds("a above b", ("a", [1, 3]), ("b", [0, 0]))
    assert judged.figures == "a 2.0 ± 1.4, b 0.0 ± 0.0"
    assert higher_over_seeds("a above b", ("a", []), ("b", [1])).figures == "not run yet"
    cells = [cell.strip() for cell in statement_table([judged]).splitlines()[-1].split("|")]
    assert cells[1:-1] == ["a above b", "a 2.0 ± 1.4, b 0.0 ± 0.0", "seen"]


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
    assert by_output_size([deeper, *alike]) == ["a", "b", "c"]
    assert by_output_size([deeper, *alike[:1]]) == []
    assert by_output_size([*alike, ("again", tiny_config(output_embedding_size=8))]) == []
    assert by_output_size(alike[:1]) == []
    coupled = tiny_config(coupling="coupled", output_embedding_size=None)
    assert by_output_size([*alike, ("coupled", coupled)]) == ["a", "b", "c"]
