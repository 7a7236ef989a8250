"""Scores of tag files: spans of POS and NER, and token accuracy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from xharness.scoring.language_score import LanguageScore, constant_gold, gold_counts
from xharness.scoring.spans import (
    END,
    Scheme,
    SpanCounts,
    SpanReader,
    SpansSoFar,
    is_iob2,
)
from xharness.scoring.tag_lines import BLANK, IntArray, TagFile, blocks, in_step, new_vocabulary

#: Scheme of each profile, for the metrics ``pos_f1`` and ``entity_f1``. The strict score of POS is token accuracy; its
#: span figures are over runs of equal tags, what the official ones come to where no tag loses its first letter.
SCHEMES: dict[Literal["pos_f1", "entity_f1"], dict[str, Scheme]] = {
    "pos_f1": {"official": "seqeval-1.2.2", "official-2020": "seqeval-0.0.12", "strict": "runs"},
    "entity_f1": {
        "official": "seqeval-1.2.2",
        "official-2020": "seqeval-0.0.12",
        "strict": "iob2",
    },
}


def read_both(
    predictions: Path, gold: Path, vocabulary: dict[str, int]
) -> tuple[IntArray, IntArray]:
    """Return all gold and predicted tag ids over one vocabulary, both (lines,).

    Raises:
        InputError: A file is unusable, or sentences differ; the message names the first line that does.
    """
    both = in_step(TagFile(predictions, vocabulary), TagFile(gold, vocabulary))
    truth, answers = [], []
    for gold_ids, ids in both:
        # All lines are held here; two bytes each do for any usual number of tags.
        small = np.int16 if len(vocabulary) < 1 << 15 else np.int32
        truth.append(gold_ids.astype(small))
        answers.append(ids.astype(small))
    return np.concatenate(truth), np.concatenate(answers)


def score_tags(
    predictions: Path, gold: Path, scheme: Scheme, *, accuracy: bool, tags: Collection[str] = ()
) -> LanguageScore:
    """Score tag files by span F1, precision, recall and, if asked for, token accuracy, all in percent.

    Args:
        predictions: Predicted tags, one a line, a blank line between sentences.
        gold: Gold tags, with the same sentences.
        scheme: How tags form spans.
        accuracy: Whether to report the share of tokens with the gold tag.
        tags: Known tags; others are counted.

    Raises:
        InputError: A file is unusable, or sentences differ between the two; the message names the first line that
            does.
    """
    vocabulary = new_vocabulary()
    truth, answers = TagFile(gold, vocabulary), TagFile(predictions, vocabulary)
    tally = _Tally(vocabulary, scheme)
    for both in in_step(answers, truth):
        tally.add(*both)
    names = list(vocabulary)
    figures = tally.spans().figures()
    occurrences, gold_occurrences = tally.occurrences, tally.gold_occurrences
    blank = int(gold_occurrences[BLANK])
    tokens = tally.lines - blank
    if accuracy:
        figures["accuracy"] = 100 * (tally.same - blank) / tokens
    counts = Counter({"examples": tally.sentences, "unanswered": 0, "tokens": tokens})
    counts.update(answers.counts)
    counts.update(gold_counts(truth.counts))
    known = {*tags} if tags else {*names}
    for name, n, gold_n in zip(names[1:], occurrences[1:], gold_occurrences[1:], strict=True):
        if name not in known:
            counts["unknown_labels"] += int(n)
            counts["gold_unknown_labels"] += int(gold_n)
        if scheme == "iob2" and not is_iob2(name):
            counts["malformed_tags"] += int(n)
            counts["gold_malformed_tags"] += int(gold_n)
    present = [name for name, n in zip(names[1:], gold_occurrences[1:], strict=True) if n]
    return LanguageScore.of(figures, counts, constant_gold(present, tally.sentences, gold))


class _Tally:
    """What is counted of two tag files as their lines go by.

    Args:
        vocabulary: Id of each tag; grows while the files are read.
        scheme: How tags form spans.

    Attributes:
        lines: Lines.
        same: Lines with equal tags, blank ones included.
        sentences: Runs of lines that are not blank.
        occurrences: How often each tag was predicted. (tags,)
        gold_occurrences: How often it is in the gold file. (tags,)
    """

    def __init__(self, vocabulary: dict[str, int], scheme: Scheme):
        self._vocabulary, self._scheme = vocabulary, scheme
        self._reader = SpanReader([*vocabulary], scheme)
        self._tags = len(vocabulary)
        self._so_far = SpansSoFar()
        self._spans = np.zeros(3, np.int64)
        self._inside = False
        self.lines = self.same = self.sentences = 0
        self.occurrences = np.zeros(0, np.int64)
        self.gold_occurrences = np.zeros(0, np.int64)

    def add(self, gold: IntArray, predicted: IntArray) -> None:
        """Count the next lines, equally many of both files."""
        if self._tags != len(self._vocabulary):
            self._tags = len(self._vocabulary)
            self._reader = SpanReader([*self._vocabulary], self._scheme)
        self._count_spans(gold, predicted)
        self.occurrences = _sum(self.occurrences, np.bincount(predicted, minlength=self._tags))
        self.gold_occurrences = _sum(self.gold_occurrences, np.bincount(gold, minlength=self._tags))
        self.lines += len(gold)
        self.same += int(np.count_nonzero(gold == predicted))
        filled = gold != BLANK
        self.sentences += int(filled[0] and not self._inside)
        self.sentences += int(np.count_nonzero(filled[1:] & ~filled[:-1]))
        self._inside = bool(filled[-1])

    def spans(self) -> SpanCounts:
        """Return how many spans there were, now that there are no more lines."""
        self._count_spans(END, END)
        return SpanCounts(*self._spans.tolist())

    def _count_spans(self, gold: IntArray, predicted: IntArray) -> None:
        for block in blocks(len(gold)):
            ends = self._reader.ends(gold[block], predicted[block], self._so_far)
            self._spans += [len(places) for places in ends]


def _sum(before: NDArray[np.int64], found: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of two counts, the second of which may be of more tags."""
    total = found.copy()
    total[: len(before)] += before
    return total
