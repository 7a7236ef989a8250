"""What each kind minimises: the sum of cross-entropies over a micro-batch, and over how many decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from xharness.inference.choice_scores import choice_scores
from xharness.tasks.encoding import Encoding
from xharness.tasks.multiple_choice import ChoiceEncoding
from xharness.tasks.pair_classification import PairEncoding
from xharness.tasks.pieces import IndexArray
from xharness.tasks.question_answering import QuestionEncoding
from xharness.tasks.tagging import TaggingEncoding, batch_positions


def decisions(encoding: Encoding, rows: IndexArray) -> int:
    """Return how many decisions some rows hold: pairs, examples, labelled words, or starts and ends."""
    if isinstance(encoding, TaggingEncoding):
        _, _, words = batch_positions(encoding, rows)
        return int(np.sum(encoding.labels[words] >= 0))
    return len(rows) * (2 if isinstance(encoding, QuestionEncoding) else 1)


def summed_loss(
    model: Any, encoding: Encoding, rows: IndexArray, inputs: dict[str, torch.Tensor]
) -> torch.Tensor:
    """Return the sum of the cross-entropies of a micro-batch's decisions.

    A sum, not a mean: divided by the decisions of the whole step it gives the same gradient however the step
    is split into micro-batches.

    Raises:
        TypeError: The kind has no objective.
    """
    device = inputs["input_ids"].device
    if isinstance(encoding, ChoiceEncoding):
        scores = choice_scores(model, inputs, encoding.choices[rows])  # (examples, most choices)
        labels = torch.from_numpy(encoding.labels[rows]).to(device)
        return cross_entropy(scores, labels, reduction="sum")
    output = model(**inputs)
    if isinstance(encoding, PairEncoding):
        labels = torch.from_numpy(encoding.labels[rows]).to(device)
        return cross_entropy(output.logits.float(), labels, reduction="sum")
    if isinstance(encoding, TaggingEncoding):
        row, position, words = (torch.from_numpy(a) for a in batch_positions(encoding, rows))
        labels = torch.from_numpy(encoding.labels)[words].to(device)
        logits = output.logits[row.to(device), position.to(device)].float()  # (words, tags)
        return cross_entropy(logits, labels, reduction="sum", ignore_index=-1)
    if isinstance(encoding, QuestionEncoding):
        answers = torch.from_numpy(encoding.answers[rows]).to(device)
        # The softmax runs over the window's own pieces: how far a micro-batch pads it must not matter. The official
        # script's runs over the padding too; bench_finetuning.py --sample has both, which score alike.
        padding = inputs["attention_mask"] == 0  # (batch, length)
        start, end = (
            logits.float().masked_fill(padding, -torch.inf)
            for logits in (output.start_logits, output.end_logits)
        )
        return cross_entropy(start, answers[:, 0], reduction="sum") + cross_entropy(
            end, answers[:, 1], reduction="sum"
        )
    raise TypeError(f"{type(encoding).__name__} has no objective")
