"""Checking the data of a benchmark, for ``xharness validate --data``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from xharness.data.checks.across_files import Checked, compare_files
from xharness.data.checks.choice_files import check_choices
from xharness.data.checks.column_files import check_columns
from xharness.data.checks.content import Content
from xharness.data.checks.findings import FileReport, Finding
from xharness.data.checks.layout import DataFile, data_files, stray_files
from xharness.data.checks.pair_files import check_pairs
from xharness.data.checks.question_files import check_questions
from xharness.data.checks.raw_text import report_error
from xharness.data.checks.sentence_files import check_identified_lines, check_parallel_lines
from xharness.data.examples import SplitName
from xharness.data.readers import READERS
from xharness.errors import InputError
from xharness.specs.registry import Benchmark
from xharness.specs.task import FileSource, TaskSpec

#: ``check(reports, task, split, options)``; a report for each part of the split that is there.
Check = Callable[[Mapping[str, FileReport], TaskSpec, SplitName, Mapping[str, Any]], Content]

#: The check of each format; a format without one is checked by reading it.
CHECKS: dict[str, Check] = {
    "choice_jsonl": check_choices,
    "columns": check_columns,
    "identified_lines": check_identified_lines,
    "pair_tsv": check_pairs,
    "parallel_lines": check_parallel_lines,
    "squad_json": check_questions,
}


def check_data(
    root: Path, benchmark: Benchmark, languages: Collection[str] | None = None
) -> list[Finding]:
    """Find what is wrong or odd about the data files of a benchmark.

    Every file in the layout of a task is checked, those of languages and splits that a run does not read too. A
    file that several tasks share is reported once.

    Args:
        root: The data folder.
        benchmark: Its tasks.
        languages: Languages to check; all where absent. English training and dev files are always checked.

    Returns:
        The findings, task by task and file by file; those that compare files after those of the files.

    Raises:
        InputError: ``root`` is no folder, no task has one of ``languages``, or a task's format is unknown.
    """
    if not root.is_dir():
        raise InputError("no such data folder", where=root, mend="give one with --data DIR")
    known = {language for task in benchmark.tasks for language in task.languages}
    if languages is not None and not known & set(languages):
        raise InputError(
            f"no task of {benchmark.name} has the languages {', '.join(sorted(languages))}",
            where="--languages",
            mend=f"one of {', '.join(sorted(known))}",
        )
    findings: list[Finding] = []
    contents: dict[tuple[Path, ...], Content] = {}
    found: list[DataFile] = []
    told: set[Path] = set()
    for task in benchmark.tasks:
        files = task.sources.files
        if files is None:
            report = FileReport(task.name, None, None, root)
            report.hit("no_file_source")
            findings += report.findings()
            continue
        files, present, missing = _layout(root, task, files, languages)
        findings += [finding for finding in missing if finding.file not in told]
        told.update(finding.file for finding in missing)
        found += present
        checked: list[Checked] = []
        for file in present:
            key = tuple(file.paths.values())
            if key not in contents:
                reports = {
                    part: FileReport(task.name, file.split, file.language, path)
                    for part, path in file.paths.items()
                }
                contents[key] = _check(file, files, reports)
                findings += [f for report in reports.values() for f in report.findings()]
            checked.append((file, contents[key]))
        findings += compare_files(checked)
    if languages is None:
        findings += stray_files(root, found)
    return findings


def _layout(
    root: Path, task: TaskSpec, files: FileSource, languages: Collection[str] | None
) -> tuple[FileSource, list[DataFile], list[Finding]]:
    """Return the first layout of which there are files, and the files; the first of all where there are none."""
    layouts = (files, *files.alternatives)
    found = [(layout, *data_files(root, task, layout, languages)) for layout in layouts]
    return next((layout for layout in found if layout[1]), found[0])


def _check(file: DataFile, files: FileSource, reports: Mapping[str, FileReport]) -> Content:
    if files.format in CHECKS:
        return CHECKS[files.format](reports, file.task, file.split, files.options)
    if files.format not in READERS:
        raise InputError(
            f"unknown format {files.format!r}",
            where=f"task {file.task.name}, sources.files.format",
            mend=f"formats: {', '.join(READERS)}",
        )
    report = next(iter(reports.values()))
    counts: Counter[str] = Counter()
    try:
        examples = READERS[files.format](file.paths, file.task, file.split, files.options, counts)
    except InputError as error:
        report_error(report, error)
        return Content()
    if not examples:
        report.hit("no_examples")
    for name, count in (+counts).items():
        report.hit("read_with_counts", about=f"{name}:", count=count)
    return Content()
