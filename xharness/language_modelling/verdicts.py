"""Whether a finding shows in a few seeds, and figures over seeds as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Literal

from tabulate import tabulate

from xharness.analysis.statements import Statement

Verdict = Literal["seen", "the reverse is seen", "not told apart", "not run yet"]

#: What the verdicts mean, for a page.
MEANING = (
    "A finding is *seen* when each seed of the one is better than each seed of the other, *the reverse is seen* when "
    "each is worse. Anything else, and one seed alone, tells nothing apart."
)


def over_seeds(values: Sequence[float], digits: int = 1) -> str:
    """Return the mean, and the standard deviation of more than one value; a dash for none."""
    if not values:
        return "-"
    text = f"{mean(values):.{digits}f}"
    return text if len(values) < 2 else f"{text} ± {stdev(values):.{digits}f}"


def lower_verdict(better: Sequence[float], worse: Sequence[float]) -> Verdict:
    """Say whether the one is lower than the other: every seed of it than every seed of the other."""
    if not better or not worse:
        return "not run yet"
    if min(len(better), len(worse)) < 2:
        return "not told apart"
    if max(better) < min(worse):
        return "seen"
    return "the reverse is seen" if min(better) > max(worse) else "not told apart"


def higher_verdict(better: Sequence[float], worse: Sequence[float]) -> Verdict:
    """Say whether the one is higher than the other: every seed of it than every seed of the other."""
    return lower_verdict(worse, better)


@dataclass(frozen=True)
class Finding:
    """A row of a page's findings.

    Attributes:
        statement: In our words, with the paper's numbers.
        here: The figures that the verdict is on.
        verdict: Whether it shows.
    """

    statement: str
    here: str
    verdict: Verdict


def lower_finding(
    statement: str, better: Sequence[float], worse: Sequence[float], digits: int = 1
) -> Finding:
    """Return the finding that the one is lower than the other."""
    here = f"{over_seeds(better, digits)} against {over_seeds(worse, digits)}"
    return Finding(statement, here, lower_verdict(better, worse))


def higher_finding(
    statement: str, better: Sequence[float], worse: Sequence[float], digits: int = 1
) -> Finding:
    """Return the finding that the one is higher than the other."""
    here = f"{over_seeds(better, digits)} against {over_seeds(worse, digits)}"
    return Finding(statement, here, higher_verdict(better, worse))


def statements(findings: Sequence[Finding]) -> list[dict[str, str]]:
    """Return the findings as the page of reproductions reads them."""
    return [
        Statement(
            one.statement,
            "cannot be tried" if one.verdict == "not run yet" else one.verdict,
            one.here,
        ).as_json()
        for one in findings
    ]


def finding_table(findings: Sequence[Finding]) -> str:
    """Return the findings as a markdown table."""
    return table(
        ["the paper's finding", "here", "verdict"],
        [[one.statement, one.here, one.verdict] for one in findings],
    )


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a markdown table of cells that are text already."""
    return tabulate(rows, header, "pipe", disable_numparse=True)
