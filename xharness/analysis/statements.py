"""Statements of a paper, and whether they show in figures of our own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from statistics import mean, stdev
from typing import Any, Literal

from tabulate import tabulate

Verdict = Literal["seen", "the reverse is seen", "not told apart", "cannot be tried"]

#: What verdicts over seeds mean, for a page.
MEANING = (
    "A finding is *seen* when each seed of the one is better than each seed of the other, *the reverse is seen* when "
    "each is worse. Anything else, and one seed alone, tells nothing apart."
)

#: Ends the names of runs that differ in their seed alone.
_SEED = re.compile(r"-seed-\d+")

#: In place of figures that there are not yet.
NOT_RUN = "not run yet"

#: What two encoders must have in common to differ in their output embedding alone.
_SAME = (
    "model_type",
    "hidden_size",
    "num_hidden_layers",
    "input_embedding_size",
    "input_kind",
    "extra_layers",
    "vocab_size",
)


@dataclass(frozen=True)
class Statement:
    """A statement of a paper.

    Attributes:
        text: In our words, with its place and the paper's numbers.
        verdict: Whether it shows here.
        figures: The figures that say so, or what they would need.
        subject: The encoder that it was tried on, where it is one of several that it can be tried on.
    """

    text: str
    verdict: Verdict
    figures: str
    subject: str = ""

    @property
    def title(self) -> str:
        """The statement, and whom it is about."""
        return f"{self.text}: {self.subject}" if self.subject else self.text

    def about(self, subject: str) -> Statement:
        """Return the statement as one about an encoder."""
        return replace(self, subject=subject)

    def as_json(self) -> dict[str, str]:
        """Return what a JSON file holds of it."""
        return asdict(self)


def higher(text: str, one: tuple[str, float], other: tuple[str, float]) -> Statement:
    """Judge the statement that the first figure is higher than the second."""
    figures = f"{one[0]} {one[1]:.1f}, {other[0]} {other[1]:.1f}"
    if one[1] == other[1]:
        return Statement(text, "not told apart", figures)
    return Statement(text, "seen" if one[1] > other[1] else "the reverse is seen", figures)


def over_seeds(values: Sequence[float], digits: int = 1) -> str:
    """Return the mean, and the standard deviation of more than one value; a dash for none."""
    if not values:
        return "-"
    text = f"{mean(values):.{digits}f}"
    return text if len(values) < 2 else f"{text} ± {stdev(values):.{digits}f}"


def verdict_over_seeds(better: Sequence[float], worse: Sequence[float]) -> Verdict:
    """Say whether the one is higher than the other, as ``MEANING`` has it."""
    if not better or not worse:
        return "cannot be tried"
    if min(len(better), len(worse)) < 2:
        return "not told apart"
    if min(better) > max(worse):
        return "seen"
    return "the reverse is seen" if max(better) < min(worse) else "not told apart"


def higher_over_seeds(
    text: str,
    better: tuple[str, Sequence[float]],
    worse: tuple[str, Sequence[float]],
    digits: int = 1,
) -> Statement:
    """Judge the statement that the one is higher than the other, by the seeds of each.

    Args:
        text: The statement.
        better: Name and figure by seed of what the statement finds better.
        worse: Of the other.
        digits: After the point.
    """
    return Statement(
        text, verdict_over_seeds(better[1], worse[1]), _figures(better, worse, digits=digits)
    )


def lower_over_seeds(
    text: str,
    better: tuple[str, Sequence[float]],
    worse: tuple[str, Sequence[float]],
    digits: int = 1,
) -> Statement:
    """Judge the statement that the one is lower than the other, by the seeds of each."""
    return Statement(
        text, verdict_over_seeds(worse[1], better[1]), _figures(better, worse, digits=digits)
    )


def _figures(*named: tuple[str, Sequence[float]], digits: int) -> str:
    if not all(values for _, values in named):
        return NOT_RUN
    return ", ".join(f"{name} {over_seeds(values, digits)}" for name, values in named)


def rising(text: str, values: Mapping[str, float], *, falling: bool = False) -> Statement:
    """Judge the statement that figures rise from one to the next.

    Args:
        text: The statement.
        values: The figures by name, in the order of what they depend on.
        falling: Whether the statement is that they fall.
    """
    figures = ", ".join(f"{name} {value:.1f}" for name, value in values.items())
    sign = -1 if falling else 1
    steps = [sign * (later - earlier) for earlier, later in pairwise(values.values())]
    if not steps:
        return Statement(text, "cannot be tried", "needs two encoders or more that differ in this")
    if all(step > 0 for step in steps):
        return Statement(text, "seen", figures)
    if all(step < 0 for step in steps):
        return Statement(text, "the reverse is seen", figures)
    return Statement(text, "not told apart", figures)


def by_output_size(named: Sequence[tuple[str, Any]]) -> list[str]:
    """Return the encoders that differ in the width of their output embedding alone, the narrowest first.

    Args:
        named: Names and configurations.

    Returns:
        Their names: of the largest group of two or more, of different widths and otherwise alike; empty without one.
    """
    alike: dict[tuple[Any, ...], list[tuple[int, str]]] = {}
    for name, config in named:
        width = getattr(config, "output_embedding_size", None)
        if width is not None and not getattr(config, "tie_word_embeddings", False):
            shape = tuple(getattr(config, key, None) for key in _SAME)
            alike.setdefault(shape, []).append((int(width), name))
    distinct = [group for group in alike.values() if len(dict(group)) == len(group) > 1]
    largest = max(distinct, key=lambda group: len(group), default=[])
    return [name for _, name in sorted(largest)]


def agreed(runs: Mapping[str, Sequence[Statement]]) -> list[Statement]:
    """Join the statements of runs that differ in the seed alone, as ``MEANING`` has it.

    Args:
        runs: Statements by the run's name. Names of runs and encoders end in ``-seed-N``;
            a run without it is no run of several.

    Returns:
        A statement for each text and subject: with the verdict that all runs share, or else not told apart, and so with
        one seed only. The seeds are left out of subjects and figures, which stand in the order of the runs.
    """
    found: dict[tuple[str, str], list[Statement]] = {}
    for run in runs.values():
        for one in run:
            found.setdefault((one.text, without_seed(one.subject)), []).append(one)
    alone = len(runs) == 1 and any(_SEED.search(name) for name in runs)
    joined = []
    for (text, subject), same in found.items():
        verdicts = {one.verdict for one in same}
        untold = len(verdicts) > 1 or (alone and verdicts != {"cannot be tried"})
        figures = dict.fromkeys(without_seed(one.figures) for one in same)
        verdict: Verdict = "not told apart" if untold else same[0].verdict
        joined.append(Statement(text, verdict, "; ".join(figures), subject))
    return joined


def without_seed(text: str) -> str:
    """Return a name, or a text with names, without ``-seed-N``."""
    return _SEED.sub("", text)


def lines_of(statements: Sequence[Statement]) -> list[str]:
    """Return the statements for the terminal, one a line."""
    return [f"{s.verdict}: {s.title} ({s.figures})" for s in statements]


def statement_table(statements: Sequence[Statement]) -> str:
    """Return the statements as a markdown table."""
    rows = [[one.title, one.figures, one.verdict] for one in statements]
    return tabulate(rows, ["the paper's finding", "here", "verdict"], "pipe", disable_numparse=True)
