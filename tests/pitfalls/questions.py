"""Questions encoded, and answered by a model that points at the gold span."""

from __future__ import annotations

import numpy as np

from xharness.data.examples import Answer, QuestionExample
from xharness.specs.recipe import Settings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.pieces import PieceTokenizer
from xharness.tasks.question_answering import QuestionEncoding, answers_of, encode

XQUAD = load(TaskSpec, "xquad")


def ask(name: str, context: str, answer: str | None, at: int | None = None) -> QuestionExample:
    """Return a question with the answer at its first place, or at ``at``."""
    if answer is None:
        return QuestionExample(name, "what", context, ())
    start = context.index(answer) if at is None else at
    return QuestionExample(name, "what", context, (Answer(answer, start),))


def encoded(
    examples: list[QuestionExample], pieces: PieceTokenizer, settings: Settings | None = None
) -> QuestionEncoding:
    return encode(examples, XQUAD, pieces, settings or Settings(max_length=384))


def gold_answers(
    examples: list[QuestionExample], pieces: PieceTokenizer, settings: Settings | None = None
) -> dict[str, str]:
    """Return what comes out when the model is right in every window that holds the answer."""
    encoding = encoded(examples, pieces, settings)
    starts, ends = encoding.answers.T
    held = starts != pieces.template.cls_position
    scores = np.where(held, 1.0, -1.0).astype(np.float32)
    scores[~held & (encoding.context_lengths == 0)] = -np.inf
    begins = np.where(held, starts, encoding.context_at)
    answers, _ = answers_of(encoding, examples, scores, begins, np.maximum(begins, ends))
    return answers
