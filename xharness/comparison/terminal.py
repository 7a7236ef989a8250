"""The report for a terminal: the averages, and the languages that changed."""

from __future__ import annotations

from tabulate import tabulate

from xharness.comparison.effects import Comparison, Effect
from xharness.comparison.report import Report, effect_row, header
from xharness.printable import printable


def render_terminal(report: Report) -> str:
    """Return the report as plain text; languages without a significant change are counted only."""
    comparison = report.comparison
    first, second = comparison.baseline, comparison.candidate
    languages = comparison.of("language")
    changed = [effect for effect in languages if effect.significant(comparison.alpha)]
    parts = [
        f"{comparison.suite}, profile {comparison.profile}\n"
        f"baseline   {printable(first.name)} ({printable(first.path)}){_seeds(first.seeds)}\n"
        f"candidate  {printable(second.name)} ({printable(second.path)}){_seeds(second.seeds)}",
        _table(comparison, comparison.of("overall", "category", "task")),
    ]
    if not comparison.tested:
        parts.append(_table(comparison, languages))
    elif changed:
        parts.append("Languages that changed significantly\n\n" + _table(comparison, changed))
    if comparison.tested:
        parts.append(
            f"{len(languages) - len(changed)} of {len(languages)} languages: no significant change"
        )
    for status, title in (("breach", "Breaches"), ("allowed", "Allowed")):
        lines = [
            f"  {check.effect.key}: {printable(check.detail)} ({check.rule}; {printable(check.source)})"
            for check in report.with_status(status)
        ]
        if lines:
            parts.append("\n".join([title, *lines]))
    notes = [report.method, *comparison.notes, *report.notes]
    parts.append("\n".join(map(printable, notes)))
    parts.append(report.verdict)
    return "\n\n".join(parts)


def _table(comparison: Comparison, effects: list[Effect] | tuple[Effect, ...]) -> str:
    columns = header(comparison)
    rows = [effect_row(effect)[: len(columns)] for effect in effects]
    align = ["left", *["right"] * (len(columns) - 1)]
    return tabulate(rows, columns, "simple", colalign=align, disable_numparse=True)


def _seeds(seeds: tuple[int, ...]) -> str:
    return f", seeds {', '.join(map(str, seeds))}" if len(seeds) > 1 else ""
