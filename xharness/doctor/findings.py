"""Findings and their report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    Attributes:
        section: Heading that it stands under.
        name: What was looked at.
        value: What was found.
        mend: How to get what is missing.
        fault: Whether the harness cannot work like this.
    """

    section: str
    name: str
    value: str
    mend: str | None = None
    fault: bool = False

    def __str__(self) -> str:
        return self.value if self.mend is None else f"{self.value} ({self.mend})"


def report(findings: Sequence[Finding]) -> str:
    """Return the findings as aligned text, with the faults once more at the end."""
    width = max(len(finding.name) for finding in findings)
    lines: list[str] = []
    section = ""
    for finding in findings:
        if finding.section != section:
            lines += ["", finding.section] if section else [finding.section]
            section = finding.section
        lines.append(f"  {finding.name:<{width}}  {finding}")
    lines.append("")
    faults = [finding for finding in findings if finding.fault]
    lines += [f"fault: {finding.name}: {finding}" for finding in faults]
    if not faults:
        lines.append("everything required is there")
    return "\n".join(lines)


def size_text(count: float) -> str:
    """Return a number of bytes for people."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
