"""What every report says: the comparison, its checks, and the verdict in words."""

from __future__ import annotations

from dataclasses import dataclass

from xharness.comparison.checks import Check
from xharness.comparison.effects import Comparison, Effect

HOLE = "-"


@dataclass(frozen=True)
class Report:
    """A comparison with its verdict.

    Attributes:
        comparison: The comparison.
        checks: Every condition that was checked; empty where records alone are compared without a gate.
        gate: The gate file, as the user gave it; None without one.
        notes: What a reader must know of the gate, such as expired allowances; untrusted text.
    """

    comparison: Comparison
    checks: tuple[Check, ...]
    gate: str | None = None
    notes: tuple[str, ...] = ()

    def with_status(self, status: str) -> list[Check]:
        """Return the checks of a status."""
        return [check for check in self.checks if check.status == status]

    @property
    def untested_drops(self) -> list[Effect]:
        """Return the drops that nothing could judge: records alone, and no gate."""
        if self.checks:
            return []
        return [e for e in self.comparison.effects if (e.difference or 0.0) < 0]

    @property
    def verdict(self) -> str:
        """Return the verdict in a few words."""
        breaches, allowed = len(self.with_status("breach")), len(self.with_status("allowed"))
        if self.untested_drops:
            return "No verdict: records alone, so no drop can be tested"
        kind = "breach" if self.gate else "regression"
        if breaches:
            text = f"{breaches} {kind}{('es' if self.gate else 's') if breaches > 1 else ''}"
        else:
            text = "No breach" if self.gate else "No regression"
        return text + (f", {allowed} allowed" if allowed else "")

    @property
    def method(self) -> str:
        """Return how intervals and p-values came about, in a line."""
        comparison = self.comparison
        if not comparison.tested:
            return "Records alone: differences without intervals or p-values."
        chances = sorted({effect.chance for effect in comparison.effects if effect.chance})
        return (
            f"{100 * comparison.level:g} % intervals and p-values over {' or '.join(chances)}, "
            f"{comparison.resamples} resamples, seed {comparison.seed}; corrected p-values by Holm's method, averages "
            "and languages each for their number."
        )


#: Header of the tables of effects.
HEADER = ("", "baseline", "candidate", "difference", "interval", "p", "corrected p")


def effect_row(effect: Effect) -> list[str]:
    """Return a row of a table of effects."""
    return [
        _label(effect),
        _percent(effect.baseline),
        _percent(effect.candidate),
        HOLE if effect.difference is None else f"{effect.difference:+.2f}",
        HOLE
        if effect.low is None or effect.high is None
        else f"{effect.low:+.2f} to {effect.high:+.2f}",
        _p_value(effect.p_value),
        _p_value(effect.p_holm),
    ]


def header(comparison: Comparison) -> list[str]:
    """Return the header of a table of effects; without p-values the columns for them are left out."""
    return list(HEADER if comparison.tested else HEADER[:4])


def _label(effect: Effect) -> str:
    return effect.key.replace(":", " ")


def _percent(value: float | None) -> str:
    return HOLE if value is None else f"{value:.2f}"


def _p_value(value: float | None) -> str:
    if value is None:
        return HOLE
    return f"{value:.4f}" if value >= 0.001 else f"{value:.1e}"
