"""Cells: figures over seeds, and the means and gaps that are taken over cells' figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, sqrt


@dataclass(frozen=True)
class Cell:
    """A figure over seeds, in percent.

    Attributes:
        value: Mean over the seeds; ``None`` is a hole.
        deviation: Sample standard deviation; ``None`` for fewer than two seeds.
        seeds: Number of seeds; 0 where they are unknown, as in a published figure.
        parts: The figures whose mean is the value, by their official names, where there are several. A hole may
            have some of them.
        part_deviations: Sample standard deviation of each part, for two seeds or more.
        values: The value of each seed, for two seeds or more without a hole.
    """

    value: float | None
    deviation: float | None = None
    seeds: int = 0
    parts: Mapping[str, float] = field(default_factory=dict)
    part_deviations: Mapping[str, float] = field(default_factory=dict)
    values: tuple[float, ...] = field(default=(), compare=False)

    @classmethod
    def over_seeds(cls, values: Sequence[float | None]) -> Cell:
        """Average over seeds; one hole makes the cell a hole."""
        value = mean_or_hole(values)
        known = tuple(value for value in values if value is not None)
        if value is None or len(known) < 2:
            return cls(value, None, len(values))
        return cls(value, _deviation(known), len(values), values=known)

    def __str__(self) -> str:
        return "-" if self.value is None else _with_deviation(self.value, self.deviation)

    def in_parts(self, names: Sequence[str]) -> str:
        """Return the parts in the order of ``names``, such as ``64.0/79.6`` for EM/F1, or the value without parts."""
        if not self.parts:
            return str(self)
        return "/".join(
            _with_deviation(self.parts[name], self.part_deviations.get(name))
            if name in self.parts
            else "-"
            for name in names
        )


def mean_or_hole(values: Iterable[float | None]) -> float | None:
    """Return the unweighted mean, or ``None`` where a value is ``None`` or there is none at all.

    Values are summed in order, as scoring does, so that a table's figure equals the record's to the last bit.
    """
    total, count = 0.0, 0
    for value in values:
        if value is None:
            return None
        total += value
        count += 1
    return total / count if count else None


def transfer_gap(values: Mapping[str, float | None]) -> float | None:
    """Return English minus the mean of the other languages (Hu et al. 2020, arXiv 2003.11080), in points.

    ``None`` without English, without another language, or where one of them is a hole.
    """
    english = values.get("en")
    others = mean_or_hole(value for code, value in values.items() if code != "en")
    return None if english is None or others is None else english - others


def group_means(
    values: Mapping[str, float | None], group_of: Mapping[str, str]
) -> dict[str, float | None]:
    """Return the mean of each group of languages, English included; a hole where one of its languages is one."""
    members: dict[str, list[float | None]] = {}
    for code, value in values.items():
        members.setdefault(group_of[code], []).append(value)
    return {group: mean_or_hole(found) for group, found in sorted(members.items())}


def ranks(values: Mapping[int, float | None]) -> dict[int, int]:
    """Return the place of each value from 1, highest first; equal values share one, holes have none.

    Values that differ by less than 1e-9 are equal: such differences come from the order of a sum.
    """
    known = {key: round(value, 9) for key, value in values.items() if value is not None}
    ordered = sorted(known.values(), reverse=True)
    first: dict[float, int] = {}
    for place, value in enumerate(ordered, start=1):
        first.setdefault(value, place)
    return {key: first[value] for key, value in known.items()}


def _deviation(values: Sequence[float]) -> float:
    center = fsum(values) / len(values)
    return sqrt(fsum((value - center) ** 2 for value in values) / (len(values) - 1))


def _with_deviation(value: float, deviation: float | None) -> str:
    return f"{value:.1f}" if deviation is None else f"{value:.1f} ± {deviation:.1f}"
