"""Accuracy over label lines, and F1 over mined sentence pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path

from xharness.errors import InputError
from xharness.scoring.language_score import LanguageScore, constant_gold, gold_counts
from xharness.scoring.lines import Lines, read_lines


def score_labels(predictions: Path, gold: Path, labels: Collection[str] = ()) -> LanguageScore:
    """Score files of one label a line by accuracy in percent.

    A label is right when it is the very string of the gold line (official ``accuracy``). The official script divides by
    the number of predictions and so rewards short files; here the counts must agree. A blank line is an example
    without an answer; those beyond the last gold line are none.

    Args:
        predictions: Predicted labels.
        gold: Gold labels.
        labels: Known labels; others are counted. Empty if any string may be a label.

    Raises:
        InputError: The numbers of lines differ, the gold file is empty or has a blank line, or a line has a tabulator.
    """
    return score_label_lines(read_lines(predictions), read_lines(gold), labels)


def score_label_lines(
    lines: Lines, gold_lines: Lines, labels: Collection[str] = ()
) -> LanguageScore:
    """Score the lines of two files; ``score_labels`` says how."""
    answers, truth = check_label_lines(lines, gold_lines)
    correct = sum(map(str.__eq__, answers, truth))
    counts = Counter({"examples": len(truth), "unanswered": answers.count("")})
    counts["trailing_blank_lines"] = len(lines.values) - len(answers)
    counts.update({key: n for key, n in lines.counts.items() if key != "trailing_blank_lines"})
    if labels:
        known = {*labels, ""}
        counts["unknown_labels"] = sum(answer not in known for answer in answers)
        counts["gold_unknown_labels"] = sum(label not in known for label in truth)
    counts.update(gold_counts(gold_lines.counts))
    reason = constant_gold(set(truth), len(truth), gold_lines.path)
    return LanguageScore.of({"accuracy": correct / len(truth) * 100}, counts, reason)


def check_label_lines(lines: Lines, gold_lines: Lines) -> tuple[list[str], list[str]]:
    """Return predicted and gold labels, equally many.

    Raises:
        InputError: The numbers of lines differ, the gold file is empty or has a blank line, or a line has a tabulator.
    """
    gold = gold_lines.path
    truth = gold_lines.values[: gold_lines.filled()]
    if not truth:
        raise InputError("no label in the file", where=gold, mend="write one label a line")
    if "" in truth:
        raise InputError(
            "blank line", where=f"{gold}:{truth.index('') + 1}", mend="write its label"
        )
    for source in (gold_lines, lines):
        for number, value in enumerate(source.values, start=1):
            if "\t" in value:
                raise InputError(
                    f"more than a label in the line: {value[:80]!r}",
                    where=f"{source.path}:{number}",
                    mend="write the label alone, one a line",
                )
    return _as_long_as(truth, lines, gold), truth


def _as_long_as(truth: list[str], lines: Lines, gold: Path) -> list[str]:
    """Return the predictions cut to the number of gold lines; all that is cut is blank."""
    if lines.filled() > len(truth) or len(lines.values) < len(truth):
        number = min(lines.filled(), len(truth)) + 1
        raise InputError(
            f"{max(lines.filled(), min(len(lines.values), len(truth)))} predictions"
            f" for the {len(truth)} labels of {gold}",
            where=f"{lines.path}:{number}",
            mend="write one line for each gold line",
        )
    return lines.values[: len(truth)]


def score_pairs(predictions: Path, gold: Path) -> LanguageScore:
    """Score mined pairs, ``source id TAB target id`` a line, by F1, precision and recall in percent.

    Pairs form sets, as in the official ``bucc_f1``. No predicted pair is a valid answer and scores 0.

    Raises:
        InputError: A line is not two ids, or the gold file holds no pair.
    """
    counts: Counter[str] = Counter()
    gold_counter: Counter[str] = Counter()
    truth = read_pairs(gold, gold_counter)
    if not truth:
        raise InputError("no pair in the file", where=gold, mend="write 'id TAB id' a line")
    mined = read_pairs(predictions, counts)
    correct = len(truth & mined)
    precision = correct / len(mined) if mined else 0.0
    recall = correct / len(truth)
    f1 = 2 * precision * recall / (precision + recall) if correct else 0.0
    answered = {source for source, _ in mined}
    counts["examples"] = len(truth)
    counts["unanswered"] = sum(source not in answered for source, _ in truth)
    counts["predicted"] = len(mined)
    counts.update(gold_counts(gold_counter))
    figures = {"f1": 100 * f1, "precision": 100 * precision, "recall": 100 * recall}
    return LanguageScore.of(figures, counts)


def read_pairs(path: Path, counts: Counter[str]) -> set[tuple[str, str]]:
    """Read pairs of ids, and count what needed mending into ``counts``.

    Raises:
        InputError: A line is not two ids.
    """
    lines = read_lines(path)
    counts.update(lines.counts)
    values = lines.values[: lines.filled()]
    fields = [line.split("\t") for line in values]
    if set(map(len, fields)) - {2}:
        number = next(n for n, each in enumerate(fields) if len(each) != 2)
        raise InputError(
            f"{len(fields[number])} fields where two ids are expected: {values[number][:80]!r}",
            where=f"{path}:{number + 1}",
            mend="write 'id TAB id'",
        )
    # The official script compares unstripped fields, so one blank makes a right pair wrong.
    pairs = {(source.strip(), target.strip()) for source, target in fields}
    counts["padded_fields"] = sum(
        source[-1:].isspace() or target[:1].isspace() for source, target in fields
    )
    counts["duplicate_pairs"] = len(values) - len(pairs)
    return pairs
