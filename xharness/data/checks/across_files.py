"""Checks that need several files of a task: overlap of splits, labels of parallel files, shared ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from xharness.data.checks.content import Content, Units
from xharness.data.checks.findings import FileReport, Finding
from xharness.data.checks.layout import DataFile

Checked = tuple[DataFile, Content]

#: Files of equal length are parallel where this share of their labels agrees. Chance gives half; PAWS-X files that
#: lack different rows, and so run out of step for a while, agree in 0.95, and parallel ones in 0.98.
_PARALLEL = 0.97


def compare_files(checked: Sequence[Checked]) -> list[Finding]:
    """Compare the files of one task with each other."""
    return [*_overlaps(checked), *_label_disagreements(checked), *_shared_ids(checked)]


def _report(file: DataFile) -> FileReport:
    path = file.paths.get("file") or next(iter(file.paths.values()))
    return FileReport(file.task.name, file.split, file.language, path)


def _overlaps(checked: Sequence[Checked]) -> list[Finding]:
    """Find examples of dev and test files that are in the English training file or their own language's, or in dev."""
    findings: list[Finding] = []
    by_place = {(file.split, file.language): (file, content) for file, content in checked}
    for file, content in checked:
        report = _report(file)
        languages = dict.fromkeys(("en", file.language))
        if file.split != "train":
            for language in languages:
                _overlap(content, by_place.get(("train", language)), "train_overlap", report)
        if file.split == "test":
            for language in languages:
                _overlap(content, by_place.get(("dev", language)), "dev_overlap", report)
        findings += report.findings()
    return findings


def _overlap(content: Content, other: Checked | None, code: str, report: FileReport) -> None:
    if other is None:
        return
    file, known = other
    for noun, units in content.units.items():
        shared = np.flatnonzero(np.isin(units.hashes, known.units[noun].hashes))
        if len(shared):
            first = int(shared[0])
            line = int(units.lines[first]) or None
            there = _line_of(known.units[noun], int(units.hashes[first]))
            name = file.paths["file"].name + (f":{there}" if there else "")
            about = f"{len(shared)} of {len(units.hashes)} {noun}"
            report.hit(code, line, name, about=about, count=len(shared))


def _line_of(units: Units, value: int) -> int:
    return int(units.lines[np.flatnonzero(units.hashes == value)[0]])


def _label_disagreements(checked: Sequence[Checked]) -> list[Finding]:
    """Compare the labels of files that are parallel row by row.

    Files of one split with equally many rows are held against the English one; without it against the majority of
    three or more, or the first of two.
    """
    groups: dict[tuple[str, int], list[Checked]] = {}
    for file, content in checked:
        if content.labels and any(content.labels):
            groups.setdefault((file.split, len(content.labels)), []).append((file, content))
    findings: list[Finding] = []
    for group in groups.values():
        if len(group) < 2:
            continue
        english = next((content for file, content in group if file.language == "en"), None)
        if english is not None:
            reference, name = english.labels, "the English file"
        elif len(group) > 2:
            columns = zip(*(content.labels for _, content in group), strict=True)
            reference = tuple(Counter(column).most_common(1)[0][0] for column in columns)
            name = f"most of {len(group)} files"
        else:
            reference, name = group[0][1].labels, group[0][0].paths["file"].name
        for file, content in group:
            differ = [
                i
                for i, pair in enumerate(zip(content.labels, reference, strict=True))
                if pair[0] != pair[1]
            ]
            if differ and len(differ) <= (1 - _PARALLEL) * len(reference):
                report = _report(file)
                units = content.units["pairs"]
                about = f"{len(differ)} of {len(reference)}"
                for index in differ:
                    report.hit("label_disagreement", int(units.lines[index]), name, about=about)
                findings += report.findings()
    return findings


def _shared_ids(checked: Sequence[Checked]) -> list[Finding]:
    """Note once for each split that its languages share question ids."""
    by_split: dict[str, list[Checked]] = {}
    for file, content in checked:
        if content.ids:
            by_split.setdefault(file.split, []).append((file, content))
    findings: list[Finding] = []
    for group in by_split.values():
        shared = [len(a.ids & b.ids) for (_, a), (_, b) in pairwise(group)]
        if any(shared):
            report = _report(group[0][0])
            about = f"{max(shared)}"
            languages = ", ".join(file.language for file, _ in group)
            report.hit("shared_ids", about=about, example=languages, count=max(shared))
            findings += report.findings()
    return findings
