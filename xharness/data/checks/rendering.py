"""Findings as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from xharness.data.checks.findings import SEVERITIES, Finding


def render_findings(findings: Sequence[Finding]) -> str:
    """Return the findings grouped by file, the worst files and findings first, and a line that sums them up."""
    by_file: dict[Path, list[Finding]] = {}
    for finding in findings:
        by_file.setdefault(finding.file, []).append(finding)
    blocks = [
        "\n".join([str(file), *(f"  {_line(finding)}" for finding in sorted(group, key=_rank))])
        for file, group in sorted(by_file.items(), key=lambda item: min(map(_rank, item[1])))
    ]
    return "\n\n".join([*blocks, summary(findings)])


def summary(findings: Sequence[Finding]) -> str:
    """Return one line: how many findings of each severity, in how many files."""
    counts = Counter(finding.severity for finding in findings)
    told = ", ".join(
        f"{counts[severity]} {severity}{'' if counts[severity] == 1 else 's'}"
        for severity in SEVERITIES
    )
    files = len({finding.file for finding in findings})
    return f"{told} in {files} file{'' if files == 1 else 's'}"


def _rank(finding: Finding) -> int:
    return SEVERITIES.index(finding.severity)


def _line(finding: Finding) -> str:
    place = f"line {finding.line}: " if finding.line is not None else ""
    times = f" ({finding.count})" if finding.count > 1 else ""
    return f"{finding.severity} {finding.code}{times}: {place}{finding.message}"
