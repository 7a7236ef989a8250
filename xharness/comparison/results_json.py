"""The report as JSON, for programs; figures with full precision."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from xharness.comparison.report import Report


def as_json(report: Report) -> dict[str, Any]:
    """Return the report as plain values. Figures are in percent, differences in points, p-values fractions."""
    comparison = report.comparison
    return {
        "schema_version": 1,
        "verdict": report.verdict,
        "regression": bool(report.with_status("breach")),
        "suite": comparison.suite,
        "profile": comparison.profile,
        "baseline": asdict(comparison.baseline),
        "candidate": asdict(comparison.candidate),
        "level": comparison.level,
        "resamples": comparison.resamples,
        "seed": comparison.seed,
        "tested": comparison.tested,
        "gate": report.gate,
        "effects": [
            {"key": effect.key, "difference": effect.difference, **asdict(effect)}
            for effect in comparison.effects
        ],
        "checks": [
            {
                "key": check.effect.key,
                "rule": check.rule,
                "source": check.source,
                "status": check.status,
                "detail": check.detail,
            }
            for check in report.checks
        ],
        "notes": [*comparison.notes, *report.notes],
    }
