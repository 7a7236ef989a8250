"""Accuracy over label lines, and F1 over mined sentence pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from itertools import chain, islice
from pathlib import Path

from xharness.errors import InputError
from xharness.scoring.language_score import LanguageScore, constant_gold, gold_counts
from xharness.scoring.lines import LineBlocks, filled, read_lines


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
    return score_label_lines(LabelFile(predictions), LabelFile(gold), labels)


def score_label_lines(
    lines: LabelFile, gold_lines: LabelFile, labels: Collection[str] = ()
) -> LanguageScore:
    """Score the lines of two files; ``score_labels`` says how."""
    known = {*labels, ""}
    distinct: set[str] = set()
    counts: Counter[str] = Counter()
    correct = 0
    for answers, truth in in_step(lines, gold_lines):
        correct += sum(map(str.__eq__, answers, truth))
        counts["examples"] += len(truth)
        counts["unanswered"] += answers.count("")
        distinct.update(truth)
        if labels:
            counts["unknown_labels"] += sum(answer not in known for answer in answers)
            counts["gold_unknown_labels"] += sum(label not in known for label in truth)
    counts.update(lines.counts)
    counts.update(gold_counts(gold_lines.counts))
    reason = constant_gold(distinct, counts["examples"], gold_lines.path)
    return LanguageScore.of({"accuracy": correct / counts["examples"] * 100}, counts, reason)


#: Turns some lines of a file into labels; the number is that of the lines before them.
ParseLabels = Callable[[list[str], Path, int], list[str]]


def plain_labels(lines: list[str], path: Path, before: int) -> list[str]:
    """Return lines that are labels as they are.

    Raises:
        InputError: A line has a tabulator.
    """
    for number, line in enumerate(lines, start=before + 1):
        if "\t" in line:
            raise InputError(
                f"more than a label in the line: {line[:80]!r}",
                where=f"{path}:{number}",
                mend="write the label alone, one a line",
            )
    return lines


class LabelFile:
    """A file with one label a line, read a block of lines at a time.

    Args:
        path: The file.
        parse: Its format.

    Attributes:
        path: The file.
        counts: How often something about the file needed mending; complete when all was read.
    """

    def __init__(self, path: Path, parse: ParseLabels = plain_labels):
        self.path, self._parse = path, parse
        self._lines = LineBlocks(path)
        self.counts = self._lines.counts

    def __iter__(self) -> Iterator[list[str]]:
        """Yield labels, "" for blank lines, those at the end included.

        Raises:
            InputError: A line breaks the format.
        """
        before = 0
        for block in self._lines:
            yield self._parse(block, self.path, before)
            before += len(block)

    def filled(self) -> Iterator[list[str]]:
        """Yield labels, blank lines at the end left out and counted.

        Raises:
            InputError: A line breaks the format, there is a blank line before the last label, or no label at all.
        """
        lines = blank = 0
        for block in self:
            end = filled(block)
            if end:
                if blank or "" in block[:end]:
                    number = lines - blank if blank else lines + block.index("")
                    raise InputError(
                        "blank line", where=f"{self.path}:{number + 1}", mend="write its label"
                    )
                yield block[:end]
            blank += len(block) - end
            lines += len(block)
        if lines == blank:
            raise InputError("no label in the file", where=self.path, mend="write one label a line")
        self.counts["trailing_blank_lines"] = blank


def in_step(predictions: LabelFile, gold: LabelFile) -> Iterator[tuple[list[str], list[str]]]:
    """Yield predicted and gold labels of the same lines, equally many, a block at a time.

    Raises:
        InputError: A file is unusable, or the numbers of lines differ.
    """
    answered = chain.from_iterable(predictions)
    lines = last = 0  # of the predictions so far, and up to the last that is not blank
    gold_blocks = gold.filled()
    for truth in gold_blocks:
        answers = list(islice(answered, len(truth)))
        end = filled(answers)
        last = lines + end if end else last
        if len(answers) < len(truth):
            found, right = lines + len(answers), lines + len(truth) + sum(map(len, gold_blocks))
            raise _other_number(predictions, gold, found, right, last + 1)
        lines += len(truth)
        yield answers, truth
    trailing = found = 0
    for trailing, label in enumerate(answered, start=1):
        found = trailing if label else found
    if found:
        raise _other_number(predictions, gold, lines + found, lines, lines + 1)
    predictions.counts["trailing_blank_lines"] = trailing


def _other_number(
    predictions: LabelFile, gold: LabelFile, found: int, right: int, line: int
) -> InputError:
    return InputError(
        f"{found} predictions for the {right} labels of {gold.path}",
        where=f"{predictions.path}:{line}",
        mend="write one line for each gold line",
    )


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
    values = lines.values
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
