"""Scores example by example, for resampling: what each example adds to a figure's numerator and denominator.

Every figure is a ratio of two sums over examples, so a resample's figure needs no second look at the files:

=============================  ==================================  ==========================
figure                         numerator                           denominator
=============================  ==================================  ==========================
accuracy, exact match, QA F1,  the example's own value             1
average precision
span F1, F1 of mined pairs     2 x correct                         predicted + gold
precision; recall              correct                             predicted; gold
token accuracy                 right tokens                        tokens
=============================  ==================================  ==========================
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xharness.scoring.answer_rules import answer_rule
from xharness.scoring.answers import question_scores, read_answers, read_questions
from xharness.scoring.choices import chosen_labels
from xharness.scoring.labels import LabelFile, in_step, plain_labels, read_pairs
from xharness.scoring.ranking import average_precision, read_rankings, read_relevant
from xharness.scoring.spans import Scheme, SpanReader
from xharness.scoring.tag_lines import BLANK, new_vocabulary, sentence_numbers
from xharness.scoring.tagging import SCHEMES, read_both
from xharness.specs.task import TaskSpec

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class ExampleScores:
    """The scores of one language's examples.

    Attributes:
        ids: Id of each example: question, query, or source sentence of mined pairs; None where an example is
            known by its place in the file.
        ratios: By figure, numerators and denominators of the examples. (examples, 2)
    """

    ids: tuple[str, ...] | None
    ratios: dict[str, FloatArray]

    def figure(self, name: str) -> float:
        """Return a figure in percent; an undefined ratio is 0, as in scoring."""
        numerator, denominator = self.ratios[name].sum(axis=0)
        return 100.0 * float(numerator) / float(denominator) if denominator else 0.0


def score_examples(
    task: TaskSpec, language: str, predictions: Path, gold: Path, profile: str
) -> ExampleScores:
    """Score a prediction file example by example, in the order of the gold file.

    Mined pairs belong to their source sentence; those with neither a gold nor a predicted pair are left out, since they
    add nothing to either sum.

    Args:
        task: The task.
        language: The language.
        predictions: Its prediction file.
        gold: Its gold file.
        profile: Scoring profile.

    Raises:
        InputError: A file is unusable, as in scoring.
    """
    match task.metric:
        case "accuracy":
            parse = chosen_labels if task.kind == "multiple_choice" else plain_labels
            return _labels(LabelFile(predictions, parse), LabelFile(gold, parse))
        case "mined_pairs":
            return _pairs(predictions, gold)
        case "map_at_20":
            return _rankings(predictions, gold)
        case "pos_f1" | "entity_f1":
            return _tags(predictions, gold, SCHEMES[task.metric][profile])
        case "squad" | "mlqa":
            return _answers(task, language, predictions, gold, profile)


def _labels(lines: LabelFile, gold_lines: LabelFile) -> ExampleScores:
    right = [
        answer == label
        for both in in_step(lines, gold_lines)
        for answer, label in zip(*both, strict=True)
    ]
    return ExampleScores(None, {"accuracy": _means(right)})


def _answers(
    task: TaskSpec, language: str, predictions: Path, gold: Path, profile: str
) -> ExampleScores:
    questions, _ = read_questions(gold)
    answers, _ = read_answers(predictions)
    tokenize, empty_agrees = answer_rule(task.metric, language, profile)
    scored = [
        pair or (False, 0.0)
        for pair in question_scores(questions, answers, tokenize, empty_agrees=empty_agrees)
    ]
    return ExampleScores(
        tuple(identifier for identifier, _ in questions),
        {
            "exact_match": _means([matched for matched, _ in scored]),
            "f1": _means([f1 for _, f1 in scored]),
        },
    )


def _rankings(predictions: Path, gold: Path) -> ExampleScores:
    relevant, _ = read_relevant(gold)
    ranked, _ = read_rankings(predictions)
    values = [average_precision(truth, ranked.get(query, ())) for query, truth in relevant.items()]
    return ExampleScores(tuple(relevant), {"map@20": _means(values)})


def _tags(predictions: Path, gold: Path, scheme: Scheme) -> ExampleScores:
    vocabulary = new_vocabulary()
    truth, answers = read_both(predictions, gold, vocabulary)
    spans = SpanReader(list(vocabulary), scheme).count_by_sentence(truth, answers)
    ratios = _f1_ratios(spans.astype(np.float64))
    filled = truth != BLANK
    sentence = sentence_numbers(truth)[filled]
    right = (truth == answers)[filled]
    tokens = [np.bincount(sentence, weights=right), np.bincount(sentence).astype(np.float64)]
    return ExampleScores(None, {**ratios, "accuracy": np.stack(tokens, axis=1)})


def _pairs(predictions: Path, gold: Path) -> ExampleScores:
    truth, mined = read_pairs(gold, Counter()), read_pairs(predictions, Counter())
    counted = [Counter(source for source, _ in pairs) for pairs in (truth & mined, mined, truth)]
    sources = sorted({source for source, _ in truth | mined})
    counts = np.array([[count[source] for count in counted] for source in sources], dtype=float)
    return ExampleScores(tuple(sources), _f1_ratios(counts))


def _f1_ratios(counts: FloatArray) -> dict[str, FloatArray]:
    """Return the ratios of correct, predicted and gold counts."""
    correct, predicted, gold = counts.T
    return {
        "f1": np.stack([2 * correct, predicted + gold], axis=1),
        "precision": np.stack([correct, predicted], axis=1),
        "recall": np.stack([correct, gold], axis=1),
    }


def _means(values: list[bool] | list[float]) -> FloatArray:
    """Return the ratios of a figure that is a mean over examples."""
    return np.stack([np.array(values, dtype=np.float64), np.ones(len(values))], axis=1)
