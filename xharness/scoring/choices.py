"""Accuracy over chosen answers: ``{"label": 0}`` a line, as the official script reads XCOPA."""

from __future__ import annotations

import json
from pathlib import Path

from xharness.errors import InputError
from xharness.scoring.labels import LabelFile, score_label_lines
from xharness.scoring.language_score import LanguageScore


def score_choices(predictions: Path, gold: Path) -> LanguageScore:
    """Score files of one JSON object a line, with the index of the chosen answer as ``label``, by accuracy in percent.

    Other keys are ignored, so a test file of the data set is a gold file as it is. Blank lines and the numbers of lines
    are treated as in files of plain labels.

    Raises:
        InputError: A line is not such an object, the numbers of lines differ, or the gold file is empty.
    """
    files = LabelFile(predictions, chosen_labels), LabelFile(gold, chosen_labels)
    return score_label_lines(*files)


def chosen_labels(lines: list[str], path: Path, before: int) -> list[str]:
    """Return lines of one object each as labels; blank lines stay blank.

    Args:
        lines: Some lines of a file.
        path: The file.
        before: Number of lines before them.

    Raises:
        InputError: A line is not an object with a whole number as ``label``.
    """
    return [_label(line, f"{path}:{n}") for n, line in enumerate(lines, start=before + 1)]


def _label(line: str, where: str) -> str:
    if not line:
        return ""
    try:
        label = json.loads(line)["label"]
    except (ValueError, RecursionError, KeyError, TypeError, IndexError) as error:
        raise InputError(
            f"not an object with a label: {line[:40]!r}", where=where, mend='write {"label": 0}'
        ) from error
    if type(label) is not int:
        raise InputError(
            f"label {label!r} is not a whole number", where=where, mend='write {"label": 0}'
        )
    return str(label)
