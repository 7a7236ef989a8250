"""Scores of tag files: spans of POS and NER, and token accuracy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Literal

import numpy as np

from xharness.errors import InputError
from xharness.scoring.language_score import LanguageScore, constant_gold, gold_counts
from xharness.scoring.spans import Scheme, SpanReader, is_iob2
from xharness.scoring.tag_lines import (
    BLANK,
    IntArray,
    TagLines,
    blocks,
    new_vocabulary,
    read_tag_lines,
)

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
) -> tuple[TagLines, TagLines]:
    """Read a gold file and its predictions over one vocabulary, in that order.

    Raises:
        InputError: Sentences differ between the two files; the message names the first line that does.
    """
    truth, answers = read_tag_lines(gold, vocabulary), read_tag_lines(predictions, vocabulary)
    _check_same_sentences(answers, truth)
    return truth, answers


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
        InputError: Sentences differ between the two files; the message names the first line that does.
    """
    vocabulary = new_vocabulary()
    truth, answers = read_both(predictions, gold, vocabulary)
    names = list(vocabulary)
    spans = SpanReader(names, scheme).count(truth.ids, answers.ids)
    figures = spans.figures()
    occurrences = answers.occurrences(len(names))
    gold_occurrences = truth.occurrences(len(names))
    blank = int(gold_occurrences[BLANK])
    tokens = len(truth.ids) - blank
    if accuracy:
        same = sum(
            int(np.count_nonzero(truth.ids[block] == answers.ids[block]))
            for block in blocks(len(truth.ids))
        )
        figures["accuracy"] = 100 * (same - blank) / tokens
    sentences = truth.sentences()
    counts = Counter({"examples": sentences, "unanswered": 0, "tokens": tokens})
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
    return LanguageScore.of(figures, counts, constant_gold(present, sentences, gold))


def _check_same_sentences(predictions: TagLines, gold: TagLines) -> None:
    length = min(len(predictions.ids), len(gold.ids))
    differs = _first_difference(predictions.ids[:length], gold.ids[:length])
    if differs is not None:
        line = differs + 1
        here, there = (
            ("ends", "goes on") if predictions.ids[line - 1] == BLANK else ("goes on", "ends")
        )
        problem = f"the sentence {here} here but {there} at {gold.path}:{line}"
    elif len(predictions.ids) != len(gold.ids):
        line = length + 1
        here, there = (
            ("goes on", "ends") if len(predictions.ids) > len(gold.ids) else ("ends", "goes on")
        )
        problem = f"the file {here} here but {there} at {gold.path}:{line}"
    else:
        return
    raise InputError(
        problem, where=f"{predictions.path}:{line}", mend="write one tag for each gold tag"
    )


def _first_difference(ids: IntArray, gold: IntArray) -> int | None:
    """Return the index of the first line that is blank in one of the two only."""
    for block in blocks(len(ids)):
        differs = np.flatnonzero((ids[block] == BLANK) != (gold[block] == BLANK))
        if differs.size:
            return int(block.start) + int(differs[0])
    return None
