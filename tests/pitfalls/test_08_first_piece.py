"""A word of several pieces has one decision, from its first piece, in training and in prediction."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from tests.pitfalls.tiny_tokenizers import bert_pieces
from xharness.data.examples import TaggingExample
from xharness.finetuning.objectives import decisions, summed_loss
from xharness.inference.batching import collate
from xharness.inference.device import Device
from xharness.inference.prediction import predict_tags
from xharness.inference.progress import Silent
from xharness.specs.recipe import Settings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.tagging import encode, tags_of

PANX = load(TaskSpec, "panx")
CPU = Device("cpu", "float32", 1024)


class ByPosition:
    """A model that says at each position of the window what it was told to."""

    def __init__(self, tags: list[str]):
        self.config = SimpleNamespace(pad_token_id=0)
        self._numbers = torch.tensor([PANX.labels.index(tag) for tag in tags])

    def eval(self) -> None:
        pass

    def __call__(self, input_ids: torch.Tensor, **_: Any) -> SimpleNamespace:
        logits = torch.nn.functional.one_hot(self._numbers, len(PANX.labels)).float() * 9
        return SimpleNamespace(logits=logits.expand(len(input_ids), -1, -1))


def test_pieces_that_disagree_make_one_decision() -> None:
    example = TaggingExample("1", ("abc",), ("B-PER",))
    encoding = encode([example], PANX, bert_pieces(), Settings())
    assert encoding.lengths.tolist() == [5]  # [CLS] a ##b ##c [SEP]
    model = ByPosition(["O", "B-PER", "I-PER", "O", "O"])
    numbers = predict_tags(model, encoding, CPU, Silent())
    assert list(tags_of(numbers, [example], PANX)) == [["B-PER"]]


def test_the_loss_is_over_words_not_pieces() -> None:
    example = TaggingExample("1", ("abc", "d"), ("B-PER", "O"))
    encoding = encode([example], PANX, bert_pieces(), Settings())
    rows = np.array([0])
    inputs = collate(encoding, rows, 0, CPU.torch)
    right = ByPosition(["O", "B-PER", "O", "O", "O", "O"])
    wrong_later = ByPosition(["O", "B-PER", "I-LOC", "B-ORG", "O", "O"])
    losses = [float(summed_loss(model, encoding, rows, inputs)) for model in (right, wrong_later)]
    assert decisions(encoding, rows) == 2
    assert losses[0] == losses[1]
    # Two decisions, each with logit 9 against six of 0.
    assert losses[0] == pytest.approx(2 * np.log(1 + 6 * np.exp(-9.0)), rel=1e-3)
