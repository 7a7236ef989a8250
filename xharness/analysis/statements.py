"""Statements of a paper, and whether they show in figures of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
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
    """

    text: str
    verdict: Verdict
    figures: str

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
        Their names; empty unless there are two or more, of different widths and otherwise alike.
    """
    sized = [
        (int(config.output_embedding_size), name, config)
        for name, config in named
        if getattr(config, "output_embedding_size", None) is not None
        and not getattr(config, "tie_word_embeddings", False)
    ]
    shapes = {tuple(getattr(config, key, None) for key in _SAME) for _, _, config in sized}
    if len(shapes) != 1 or len({size for size, _, _ in sized}) != len(sized) or len(sized) < 2:
        return []
    return [name for _, name, _ in sorted(sized, key=lambda item: item[0])]


def lines_of(statements: Sequence[Statement]) -> list[str]:
    """Return the statements for the terminal, one a line."""
    return [f"{s.verdict}: {s.text} ({s.figures})" for s in statements]


def statement_table(statements: Sequence[Statement]) -> str:
    """Return the statements as a markdown table."""
    rows = [[one.text, one.figures, one.verdict] for one in statements]
    return tabulate(rows, ["the paper's finding", "here", "verdict"], "pipe", disable_numparse=True)
