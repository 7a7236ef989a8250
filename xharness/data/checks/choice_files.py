"""Checks of multiple-choice files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from xharness.data.checks.content import HANDFUL, Content, Units
from xharness.data.checks.findings import FileReport
from xharness.data.checks.raw_text import is_composed, read_lines, report_error
from xharness.data.examples import SplitName
from xharness.data.readers.choice_jsonl import read_choice_jsonl
from xharness.errors import InputError
from xharness.specs.task import TaskSpec


def check_choices(
    reports: Mapping[str, FileReport], task: TaskSpec, split: SplitName, options: Mapping[str, Any]
) -> Content:
    """Check a file of one JSON object a line, as its reader takes it; a fault that ends the reading comes alone."""
    report = reports["file"]
    if read_lines(report) is None:
        return Content()
    counts: Counter[str] = Counter()
    paths = {part: other.path for part, other in reports.items()}
    try:
        examples = read_choice_jsonl(paths, task, split, options, counts)
    except InputError as error:
        report_error(report, error)
        return Content()
    if not examples:
        report.hit("no_examples")
        return Content()
    for name in ("questions_unlike_english", "corrected_questions", "blank_trailing_lines"):
        if counts[name]:
            report.hit(name, count=counts[name])
    for number, example in enumerate(examples, start=1):
        texts = (example.context, *example.choices)
        if not all(text.strip() for text in texts):
            report.hit("empty_sentences", number)
        if not all(map(is_composed, texts)):
            report.hit("not_nfc", number, about="rows")
    labels = {example.label for example in examples}
    if labels == {None}:
        report.hit("no_training_labels" if split == "train" else "no_gold")
    elif len(labels) == 1 and len(examples) > HANDFUL:
        report.hit("constant_gold", 1, str(labels.pop()), count=len(examples))
    rows = ((e.context, *e.choices) for e in examples)
    return Content({"rows": Units.of((row, number) for number, row in enumerate(rows, start=1))})
