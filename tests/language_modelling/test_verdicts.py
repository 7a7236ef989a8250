"""Verdicts over seeds."""

from __future__ import annotations

import pytest

from xharness.language_modelling.verdicts import (
    Finding,
    finding_table,
    higher_verdict,
    lower_finding,
    lower_verdict,
    over_seeds,
)


@pytest.mark.parametrize(
    ("one", "other", "lower", "higher"),
    [
        ([1, 2], [3, 4], "seen", "the reverse is seen"),
        ([3, 4], [1, 2], "the reverse is seen", "seen"),
        ([1, 3], [2, 4], "not told apart", "not told apart"),
        ([1], [1], "not told apart", "not told apart"),
        ([1], [2, 3], "not told apart", "not told apart"),  # one seed tells nothing apart
        ([], [1], "not run yet", "not run yet"),
        ([1], [], "not run yet", "not run yet"),
    ],
)
def test_verdicts(one: list[float], other: list[float], lower: str, higher: str) -> None:
    assert lower_verdict(one, other) == lower
    assert higher_verdict(one, other) == higher


def test_figures() -> None:
    """The standard deviation of 1 and 3 is the square root of 2."""
    assert over_seeds([1, 3]) == "2.0 ± 1.4"
    assert over_seeds([1.25], 2) == "1.25"
    assert over_seeds([]) == "-"
    finding = lower_finding("a is below b", [1, 2], [4, 4])
    assert finding == Finding("a is below b", "1.5 ± 0.7 against 4.0 ± 0.0", "seen")
    assert finding_table([finding]).splitlines()[-1].split("|")[1:-1] == [
        " a is below b          ",
        " 1.5 ± 0.7 against 4.0 ± 0.0 ",
        " seen      ",
    ]
