"""Models whose outputs are known beforehand, for running the real prediction code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch

from xharness.inference.batching import PADDING_SHARE, collate, length_batches
from xharness.inference.device import Device
from xharness.inference.prediction import predict_spans, predict_tags
from xharness.inference.progress import Silent
from xharness.tasks.pieces import IndexArray
from xharness.tasks.question_answering import QuestionEncoding
from xharness.tasks.tagging import TaggingEncoding

CPU = Device("cpu", "float32", 8192)
PAD = 1

#: From the rows of a batch and its padded length to start and end scores, (batch, length) each.
Scores = Callable[[IndexArray, int], tuple[torch.Tensor, torch.Tensor]]


@dataclass
class FakeModel:
    """Answers each batch with a function of its inputs."""

    forward: Callable[..., Any]
    config: Any = None

    def __post_init__(self) -> None:
        self.config = SimpleNamespace(pad_token_id=PAD)

    def eval(self) -> None:
        """Nothing depends on the mode."""

    def __call__(self, **inputs: torch.Tensor) -> Any:
        return self.forward(**inputs)


def tags_from_scores(encoding: TaggingEncoding, scores: torch.Tensor) -> list[int]:
    """Return the decisions of the real code for a model that scores a piece by a row of a table.

    Args:
        encoding: The windows.
        scores: (pieces of the vocabulary, tags).
    """

    def forward(input_ids: torch.Tensor, **_: torch.Tensor) -> Any:
        return SimpleNamespace(logits=scores[input_ids])

    tags: list[int] = predict_tags(FakeModel(forward), encoding, CPU, Silent()).tolist()
    return tags


def spans_from_scores(
    encoding: QuestionEncoding, scores: Scores, *, n_best: int = 20, max_answer_length: int = 30
) -> tuple[Any, Any, Any]:
    """Return the best span of each window by the real code, for a model of known start and end scores."""
    # Batches are computed side by side, so one is known by its pieces.
    batches = {
        collate(encoding, rows, PAD, CPU.torch)["input_ids"].numpy().tobytes(): rows
        for rows in length_batches(
            encoding.lengths, CPU.tokens, most_padding=CPU.tokens // PADDING_SHARE
        )
    }

    def forward(input_ids: torch.Tensor, **_: torch.Tensor) -> Any:
        rows = batches[input_ids.numpy().tobytes()]
        start, end = scores(rows, input_ids.shape[1])
        return SimpleNamespace(start_logits=start, end_logits=end)

    return predict_spans(
        FakeModel(forward),
        encoding,
        CPU,
        Silent(),
        n_best=n_best,
        max_answer_length=max_answer_length,
    )


def gold_scores(encoding: QuestionEncoding) -> Scores:
    """Return scores that a perfect model gives: highest at the first answer's pieces, or at the first special token."""

    def scores(rows: IndexArray, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        sides = []
        for side in (0, 1):
            # A little slope keeps all other positions apart from each other.
            score = torch.arange(length).repeat(len(rows), 1) / (10 * length)
            score[torch.arange(len(rows)), torch.from_numpy(encoding.answers[rows, side])] = 10.0
            sides.append(score)
        return sides[0], sides[1]

    return scores
