"""Checks of sentence-pair tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xharness.data.checks.content import HANDFUL, Content, Units
from xharness.data.checks.findings import FileReport
from xharness.data.checks.raw_text import blank_end, is_composed, leading_quotes, read_lines
from xharness.data.examples import SplitName
from xharness.data.readers.labels import NO_GOLD
from xharness.data.readers.pair_tsv import PLACEHOLDER
from xharness.specs.task import TaskSpec

Row = tuple[int, str, str, str | None]


def check_pairs(
    reports: Mapping[str, FileReport], task: TaskSpec, split: SplitName, options: Mapping[str, Any]
) -> Content:
    """Check a table of sentence pairs; the columns are those that its reader takes."""
    report = reports["file"]
    lines = read_lines(report)
    if lines is None:
        return Content()
    first = 1 if options.get("header") else 0
    lines, header = lines[first:], lines[:first]
    blank_end(lines, report)
    rows = _rows(lines, len(header) + 1, options, report)
    if not lines:
        report.hit("no_examples")
        return Content()
    _check_texts(rows, report)
    labels = tuple(_label(row, task, report) for row in rows)
    _check_repeats(rows, labels, report)
    known = [label for label in labels if label is not None]
    if rows and all(row[3] is None for row in rows):
        report.hit("no_training_labels" if split == "train" else "no_gold")
    elif not known and "unknown_labels" not in report and "ragged_rows" not in report:
        # Every row was dropped for its label.
        report.hit("no_examples")
    elif len(set(known)) == 1 and len(known) > HANDFUL:
        report.hit("constant_gold", rows[0][0], known[0], count=len(known))
    return Content(
        {"pairs": Units.of(((row[1], row[2]), row[0]) for row in rows)},
        labels if len(rows) == len(lines) else (),
    )


def _rows(
    lines: list[str], number: int, options: Mapping[str, Any], report: FileReport
) -> list[Row]:
    """Return line, premise, hypothesis and label of each row that has its cells; report those that have not."""
    columns = {"premise": 0, "hypothesis": 1, "label": 2, **options.get("columns", {})}
    first, second, label = columns["premise"], columns["hypothesis"], columns["label"]
    texts_end, width = max(first, second) + 1, max(columns.values()) + 1
    cells_of = [line.split("\t") for line in lines]
    labelled = any(len(cells) >= width for cells in cells_of)
    expected = width if labelled else texts_end
    rows: list[Row] = []
    for at, cells in enumerate(cells_of, start=number):
        if len(cells) < expected or (len(cells) > expected and not options.get("extra_columns")):
            report.hit("ragged_rows", at, lines[at - number], about=f"{expected} expected:")
            continue
        rows.append((at, cells[first], cells[second], cells[label] if labelled else None))
    return rows


def _check_texts(rows: list[Row], report: FileReport) -> None:
    leading_quotes(((row[0], cell) for row in rows for cell in row[1:3]), report)
    for number, premise, hypothesis, _ in rows:
        empty = (not premise.strip()) + (not hypothesis.strip())
        if empty:
            report.hit("empty_sentences", number, count=empty)
        if PLACEHOLDER in (premise.strip(), hypothesis.strip()):
            report.hit("placeholder_rows", number)
        if not is_composed(premise) or not is_composed(hypothesis):
            report.hit("not_nfc", number, about="rows")


def _label(row: Row, task: TaskSpec, report: FileReport) -> str | None:
    """Return a row's label as the task spells it; ``None`` where it has none that is known."""
    if row[3] is None:
        return None
    label = row[3].strip()
    if label in task.labels:
        return label
    if label == NO_GOLD:
        report.hit("rows_without_gold_label", row[0])
    elif label in task.label_aliases:
        report.hit("label_aliases", row[0], label)
        return task.label_aliases[label]
    else:
        report.hit("unknown_labels", row[0], label)
    return None


def _check_repeats(rows: list[Row], labels: tuple[str | None, ...], report: FileReport) -> None:
    seen: set[tuple[str, str, str | None]] = set()
    label_of: dict[tuple[str, str], str] = {}
    told: set[tuple[str, str]] = set()
    for (number, premise, hypothesis, _), label in zip(rows, labels, strict=True):
        pair = (premise, hypothesis)
        if (*pair, label) in seen:
            report.hit("repeated_rows", number, premise)
        elif label is not None and label_of.setdefault(pair, label) != label and pair not in told:
            told.add(pair)
            report.hit("two_labels", number, premise)
        seen.add((*pair, label))
