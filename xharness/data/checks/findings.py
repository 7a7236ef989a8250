"""What can be wrong or odd about a data file, and how it is collected while the file is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from xharness.data.examples import SplitName
from xharness.errors import InputError

Severity = Literal["error", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

#: Every code with its severity and what it says. An error stops a run, spoils its scores or leaves a hole; a warning
#: is mended, dropped or kept by the readers and counted in the record; a note is a trait that other readers trip over.
CODES: dict[str, tuple[Severity, str]] = {
    "missing_file": ("error", "no such file"),
    "unreadable": ("error", "cannot be used"),
    "no_examples": ("error", "the file holds no example"),
    "ragged_rows": ("error", "rows of the wrong number of cells"),
    "unknown_labels": ("error", "labels that the task does not know"),
    "constant_gold": ("error", "constant gold: placeholder labels, which are never scored"),
    "malformed_questions": ("error", "questions or answers without a part or with one of the wrong type"),
    "repeated_ids": ("error", "ids that occurred before in the file"),
    "answers_not_in_context": ("error", "answers that their context does not hold"),
    "unanswered_questions": ("error", "questions without a gold answer, where others have one"),
    "no_training_labels": ("error", "no labels to train on"),
    "unequal_line_counts": ("error", "line counts of the aligned files differ"),
    "sorted_target": ("error", "the lines are sorted, so that line numbers are no gold alignment"),
    "unknown_gold_ids": ("error", "gold ids that are in no corpus"),
    "missing_dev": ("warning", "no such file: the last checkpoint is kept unchosen"),
    "stand_in": ("warning", "no such file: another split is read in its place"),
    "no_gold": ("warning", "no gold: predictions can be written but not scored"),
    "byte_order_mark": ("warning", "byte order mark at the beginning of the file"),
    "carriage_returns": ("warning", "lines that end with CR LF"),
    "blank_trailing_lines": ("warning", "blank lines at the end of the file"),
    "extra_blank_lines": ("warning", "blank lines that part no sentences"),
    "blank_lines": ("warning", "blank lines"),
    "rows_without_gold_label": ("warning", "rows labelled '-', which are dropped"),
    "two_labels": ("warning", "pairs that occur with two labels"),
    "orphan_inside_tags": ("warning", "I- tags with no tag of their entity before them"),
    "empty_tokens": ("warning", "empty tokens"),
    "byte_order_marks_in_tokens": ("warning", "byte order marks (U+FEFF) inside tokens"),
    "empty_sentences": ("warning", "empty sentences"),
    "empty_contexts": ("warning", "empty contexts"),
    "repaired_offsets": ("warning", "answer offsets that are wrong and can be repaired"),
    "blank_answers": ("warning", "blank answers"),
    "dropped_questions": ("warning", "training questions without an answer, which are dropped"),
    "repeated_training_ids": ("warning", "ids that occurred before in the file and are made distinct"),
    "truncated_ids": ("warning", "ids are bare numbers and collide, so they were cut short"),
    "padded_ids": ("warning", "ids with blanks at their edges"),
    "train_overlap": ("warning", "in the training file"),
    "dev_overlap": ("warning", "in the dev file"),
    "questions_unlike_english": ("warning", "question fields that differ from the English file's, and are kept"),
    "corrected_questions": ("warning", "question fields that differ from the English file's, which are taken"),
    "label_disagreement": ("warning", "labels that differ from those of the parallel rows elsewhere"),
    "line_separators": ("note", "inside lines, where str.splitlines() would cut"),
    "no_break_spaces": ("note", "lines that hold no-break spaces (U+00A0)"),
    "leading_quotes": ("note", "cells that begin with a double quote, read without quoting"),
    "placeholder_rows": ("note", "placeholder rows (NS)"),
    "label_aliases": ("note", "labels in another spelling, which is mapped"),
    "repeated_rows": ("note", "rows that occurred before in the file"),
    "repeated_sentences": ("note", "sentences that occurred before in the file"),
    "not_nfc": ("note", "not in Unicode's composed form (NFC)"),
    "long_sentences": ("note", "sentences of more than 400 tokens"),
    "inner_spaces": ("note", "tokens with white space inside"),
    "placeholder_tokens": ("note", "tokens that are '_'"),
    "astral_contexts": ("note", "contexts with characters above U+FFFF: offsets must count code points"),
    "answers_with_edge_blanks": ("note", "answers with blanks at their edges"),
    "ambiguous_answers": ("note", "answers that occur more than once in their context"),
    "equal_answers": ("note", "questions with several equal answers"),
    "integer_ids": ("note", "ids that are numbers in place of strings"),
    "absent_keys": ("note", "absent"),
    "shared_ids": ("note", "ids that other languages' files have too: keep predictions apart by language"),
    "files_not_read": ("note", "files beside these that no pattern of the task names"),
    "no_file_source": ("note", "the task names no files"),
    "read_with_counts": ("note", "counted by the reader"),
}  # fmt: skip

#: Line numbers that a message lists at most, beyond the first.
_LISTED = 4


@dataclass(frozen=True)
class Finding:
    """One kind of fault or oddity in one file.

    Attributes:
        severity: ``error``, ``warning`` or ``note``.
        task: Task name; of several tasks that share the file, the first.
        language: Language code; ``None`` for what concerns a whole task.
        split: Split that the file belongs to, or ``None``.
        file: The file.
        line: First line where it occurs, counted from 1; ``None`` where lines say nothing.
        code: A key of ``CODES``.
        message: What it is, the first instance, and further lines.
        count: How many there are.
    """

    severity: Severity
    task: str
    language: str | None
    split: SplitName | None
    file: Path
    line: int | None
    code: str
    message: str
    count: int


@dataclass
class _Tally:
    count: int = 0
    example: str | None = None
    lines: list[int] = field(default_factory=list)


class FileReport:
    """Collects the findings of one file.

    Args:
        task: Task name.
        split: The file's split.
        language: The file's language.
        path: The file.
    """

    def __init__(self, task: str, split: SplitName | None, language: str | None, path: Path):
        self.task = task
        self.split = split
        self.language = language
        self.path = path
        self._tallies: dict[tuple[str, str], _Tally] = {}

    def hit(
        self,
        code: str,
        line: int | None = None,
        example: str | None = None,
        *,
        about: str = "",
        count: int = 1,
    ) -> None:
        """Count an instance.

        Args:
            code: A key of ``CODES``.
            line: Where it is.
            example: The offending text; the first one is shown.
            about: What in particular; instances about different things are different findings.
            count: How many instances.
        """
        tally = self._tallies.setdefault((code, about), _Tally())
        tally.count += count
        if tally.example is None:
            tally.example = example
        if line is not None and len(tally.lines) <= _LISTED and line not in tally.lines:
            tally.lines.append(line)

    def __contains__(self, code: str) -> bool:
        return any(code == key for key, _ in self._tallies)

    def forget(self, code: str) -> None:
        """Take back the instances of a code, where something else says it better."""
        self._tallies = {key: tally for key, tally in self._tallies.items() if key[0] != code}

    def place(self, line_of: Callable[[str], int | None]) -> None:
        """Give a line to findings that have none, found from their first example."""
        for tally in self._tallies.values():
            if not tally.lines and tally.example is not None:
                line = line_of(tally.example)
                tally.lines += [] if line is None else [line]

    def findings(self) -> list[Finding]:
        """Return what was collected, in the order of first instances."""
        return [self._finding(*key, tally) for key, tally in self._tallies.items()]

    def _finding(self, code: str, about: str, tally: _Tally) -> Finding:
        severity, text = CODES[code]
        message = f"{about} {text}" if about else text
        if tally.example is not None:
            message += f": {shortened(tally.example)}"
        if further := tally.lines[1:]:
            listed = ", ".join(map(str, further))
            ellipsis = ", ..." if tally.count > len(tally.lines) else ""
            message += f" (also line {listed}{ellipsis})"
        line = tally.lines[0] if tally.lines else None
        return Finding(
            severity, self.task, self.language, self.split, self.path, line, code, message, tally.count
        )  # fmt: skip


def shortened(text: str, width: int = 60) -> str:
    """Return a text as a Python literal, cut to a width: control characters must not reach a terminal."""
    return repr(text if len(text) <= width else f"{text[: width - 1]}…")


def select_findings(findings: Sequence[Finding], least: str) -> list[Finding]:
    """Return the findings of a severity and worse.

    Raises:
        InputError: There is no such severity.
    """
    if least not in SEVERITIES:
        raise InputError(
            f"no severity {least!r}", where="--severity", mend=f"one of {', '.join(SEVERITIES)}"
        )
    kept = SEVERITIES[: SEVERITIES.index(least) + 1]
    return [finding for finding in findings if finding.severity in kept]
