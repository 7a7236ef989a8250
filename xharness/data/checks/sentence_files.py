"""Checks of the two sides of a bitext: aligned lines, and corpora to mine."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from xharness.data.checks.content import Content
from xharness.data.checks.findings import FileReport
from xharness.data.checks.raw_text import is_composed, leading_quotes, read_lines
from xharness.data.examples import SplitName
from xharness.specs.task import TaskSpec

#: Aligned lines have lengths that rise together; below this correlation sorted lines are taken for unaligned.
_ALIGNED = 0.3

#: Fewer lines may be sorted by chance or choice, and say nothing of their correlation.
_ENOUGH = 50


def check_parallel_lines(
    reports: Mapping[str, FileReport], task: TaskSpec, split: SplitName, options: Mapping[str, Any]
) -> Content:
    """Check two files whose lines of equal number translate each other."""
    sides: dict[str, list[str]] = {}
    for part in ("source", "target"):
        report = reports[part]
        lines = read_lines(report)
        if lines is None:
            continue
        while lines and not lines[-1].strip():
            report.hit("blank_trailing_lines", len(lines))
            lines.pop()
        if not lines:
            report.hit("no_examples")
            continue
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                report.hit("empty_sentences", number)
        _check_sentences(list(enumerate(lines, start=1)), report)
        sides[part] = lines
    if len(sides) < 2:
        return Content()
    source, target = sides["source"], sides["target"]
    report = reports["target"]
    if not options.get("aligned", True):
        report.hit("no_gold")
    elif len(source) != len(target):
        report.hit(
            "unequal_line_counts",
            about=f"{len(target)} lines, {reports['source'].path.name} has {len(source)}:",
            count=abs(len(source) - len(target)),
        )
    elif _is_sorted(target) and _length_correlation(source, target) < _ALIGNED:
        report.hit("sorted_target", 1, target[0], count=len(target))
    return Content()


def _is_sorted(lines: list[str]) -> bool:
    if len(lines) < _ENOUGH:
        return False
    folded = [line.casefold() for line in lines]
    return any(all(a <= b for a, b in pairwise(column)) for column in (lines, folded))


def _length_correlation(source: list[str], target: list[str]) -> float:
    """Return Pearson's correlation of the lines' lengths; 0 where one side has no spread."""
    x, y = (np.array([len(line) for line in lines], np.float64) for lines in (source, target))
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / scale if scale else 0.0


def check_identified_lines(
    reports: Mapping[str, FileReport], task: TaskSpec, split: SplitName, options: Mapping[str, Any]
) -> Content:
    """Check two corpora of ``id TAB sentence`` lines and their gold pairs."""
    ids: dict[str, set[str]] = {}
    for part in ("source", "target"):
        report = reports[part]
        rows = _cells(report)
        if rows is None:
            continue
        seen = ids.setdefault(part, set())
        for number, name, text in rows:
            if name in seen:
                report.hit("repeated_ids", number, name)
            seen.add(name)
            if not text.strip():
                report.hit("empty_sentences", number)
        sentences = [(number, text) for number, _, text in rows]
        leading_quotes(sentences, report)
        _check_sentences(sentences, report)
        if not seen and "ragged_rows" not in report:
            report.hit("no_examples")
    if "gold" not in reports:
        reports["target"].hit("no_gold")
        return Content()
    gold = _cells(reports["gold"])
    if gold is not None:
        _check_gold(gold, ids, reports["gold"])
    return Content()


def _check_gold(
    rows: list[tuple[int, str, str]], ids: Mapping[str, set[str]], report: FileReport
) -> None:
    seen: set[tuple[str, str]] = set()
    for number, source, padded in rows:
        target = padded.strip()
        if padded != target:
            report.hit("padded_ids", number, padded)
        for part, name in (("source", source), ("target", target)):
            # A side that cannot be read has its own finding.
            if part in ids and name not in ids[part]:
                report.hit("unknown_gold_ids", number, name)
        if (source, target) in seen:
            report.hit("repeated_rows", number, f"{source}\t{target}")
        seen.add((source, target))
    if not rows and "ragged_rows" not in report:
        report.hit("no_examples")


def _cells(report: FileReport) -> list[tuple[int, str, str]] | None:
    """Return line, id and the rest of every row."""
    lines = read_lines(report)
    if lines is None:
        return None
    rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            report.hit("blank_lines", number)
            continue
        name, tab, rest = line.partition("\t")
        if not tab or not name.strip():
            report.hit("ragged_rows", number, line, about="id and tab expected:")
            continue
        rows.append((number, name.strip(), rest))
    return rows


def _check_sentences(rows: list[tuple[int, str]], report: FileReport) -> None:
    seen: set[str] = set()
    for number, text in rows:
        if text in seen and text.strip():
            report.hit("repeated_sentences", number, text)
        seen.add(text)
        if not is_composed(text):
            report.hit("not_nfc", number, about="sentences")
