"""The verdict: a gate's rules, or without a gate the absence of significant drops, checked one figure at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from xharness.comparison.effects import FAMILIES, Comparison, Effect
from xharness.comparison.gate import Allowance, BoundGate, BoundRule
from xharness.comparison.inference import holm, smallest_p
from xharness.errors import InputError

#: Differences as close as this to a limit are on it, in points.
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Check:
    """One condition on one figure.

    Attributes:
        effect: The figure.
        rule: What was demanded, such as ``max_drop 1`` or ``no significant drop at 0.05``.
        source: Where it is demanded: pattern and ``file:line`` of the gate; ``default`` without one.
        status: ``allowed`` where an allowance lets a breach pass.
        detail: The figures behind a breach, and the reason of an allowance; the latter is untrusted text.
    """

    effect: Effect
    rule: str
    source: str
    status: Literal["passed", "breach", "allowed"]
    detail: str = ""


def default_checks(comparison: Comparison) -> tuple[Check, ...]:
    """Demand that nothing drops significantly, averages and languages each corrected for their number.

    Raises:
        InputError: There are too few resamples to show any drop significant.
    """
    alpha = comparison.alpha
    for family, kinds in FAMILIES.items():
        tested = [effect for effect in comparison.of(*kinds) if effect.p_value is not None]
        _check_resolution(comparison, len(tested), alpha, family)
    return tuple(
        _check(
            effect,
            f"no significant drop at {alpha:g}",
            "default",
            (effect.difference or 0.0) < 0 and effect.significant(alpha),
            None,
            effect.p_holm,
        )
        for effect in comparison.effects
        if effect.p_value is not None
    )


def gate_checks(comparison: Comparison, gate: BoundGate) -> tuple[Check, ...]:
    """Check every rule of a gate on every figure that it is about.

    Rules by significance are corrected together: over all figures that any such rule of the gate looks at.

    Raises:
        InputError: There are too few resamples to show any drop significant.
    """
    looked_at = {
        effect.key: effect.p_value or 0.0
        for bound in gate.rules
        if bound.rule.significant
        for effect in bound.effects
    }
    corrected = dict(zip(looked_at, holm(list(looked_at.values())), strict=True))
    for bound in gate.rules:
        if bound.rule.significant:
            alpha = bound.rule.alpha or gate.alpha
            _check_resolution(comparison, len(looked_at), alpha, bound.place)
    return tuple(
        check
        for bound in gate.rules
        for effect in bound.effects
        for check in _rule_checks(bound, effect, gate, corrected)
    )


def _rule_checks(
    bound: BoundRule, effect: Effect, gate: BoundGate, corrected: dict[str, float]
) -> Iterator[Check]:
    rule, allowance = bound.rule, gate.allowances.get(effect.key)
    source = f"{bound.name}, {bound.place}"
    drop = -(effect.difference or 0.0)
    if rule.max_drop is not None:
        breached = drop > rule.max_drop + _TOLERANCE
        yield _check(effect, f"max_drop {rule.max_drop:g}", source, breached, allowance)
    if rule.significant:
        alpha = rule.alpha or gate.alpha
        p_value = corrected[effect.key]
        named = f"no significant drop at {alpha:g}"
        if rule.ignore_below:
            named += f" of {rule.ignore_below:g} points or more"
        large = drop > 0 and drop >= rule.ignore_below - _TOLERANCE
        yield _check(effect, named, source, large and p_value <= alpha, allowance, p_value)
    if rule.min is not None:
        breached = (effect.candidate or 0.0) < rule.min - _TOLERANCE
        yield _check(effect, f"min {rule.min:g}", source, breached, None)


def _check(
    effect: Effect,
    rule: str,
    source: str,
    breached: bool,
    allowance: Allowance | None,
    corrected: float | None = None,
) -> Check:
    if not breached:
        return Check(effect, rule, source, "passed")
    detail = figures_line(effect, corrected)
    drop = -(effect.difference or 0.0)
    if allowance is not None:
        until = "" if allowance.expires is None else f" until {allowance.expires}"
        granted = f"{allowance.max_drop:g} points allowed{until}: {allowance.reason}"
        if drop <= allowance.max_drop + _TOLERANCE:
            return Check(effect, rule, source, "allowed", f"{detail}; {granted}")
        detail = f"{detail}; more than the {granted}"
    return Check(effect, rule, source, "breach", detail)


def figures_line(effect: Effect, corrected: float | None = None) -> str:
    """Return an effect's figures in one line, such as ``54.70 -> 48.00, -6.70 [-8.12, -5.31], p = 0.0001``."""
    if effect.baseline is None or effect.candidate is None or effect.difference is None:
        return "a hole"
    text = f"{effect.baseline:.2f} -> {effect.candidate:.2f}, {effect.difference:+.2f}"
    if effect.low is not None and effect.high is not None and effect.p_value is not None:
        text += f" [{effect.low:+.2f}, {effect.high:+.2f}], p = {effect.p_value:.2g}"
        if corrected is not None:
            text += f", corrected {corrected:.2g}"
    return text


def _check_resolution(comparison: Comparison, comparisons: int, alpha: float, where: str) -> None:
    if comparisons * smallest_p(comparison.resamples) > alpha:
        needed = int(comparisons / (2 * alpha)) + 1
        raise InputError(
            f"{comparison.resamples} resamples cannot show a drop among {comparisons} comparisons significant at "
            f"{alpha:g} ({where})",
            where="--resamples",
            mend=f"give {needed} or more",
        )
