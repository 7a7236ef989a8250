"""Trainings that come to values that are no numbers end by an error of their own, at the step where it happens."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from tests.records.examples import make_record
from xharness.finetuning.training import DivergenceError, train
from xharness.inference.device import Device
from xharness.inference.progress import Silent
from xharness.records.record import Record
from xharness.specs.recipe import Settings
from xharness.tasks.pair_classification import PairEncoding

CPU = Device("cpu", "float32", 64)


class Diverging(torch.nn.Module):
    """A classifier that spoils its loss or its gradient at one forward pass."""

    def __init__(self, spoilt: str, call: int):
        super().__init__()
        self.config = SimpleNamespace(pad_token_id=0)
        self.embedding = torch.nn.Embedding(10, 2)
        self._spoilt, self._call, self._calls = spoilt, call, 0

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
        logits = self.embedding(input_ids).sum(dim=1)
        self._calls += 1
        if self._calls == self._call:
            if self._spoilt == "loss":
                logits = logits * math.nan
            elif self._spoilt == "gradient":
                logits.register_hook(lambda gradient: gradient * math.inf)
        return SimpleNamespace(logits=logits)


def trained(model: Any, evaluate: Any = None) -> None:
    windows = 12
    encoding = PairEncoding(
        ids=np.tile(np.array([1, 2], np.int32), windows),
        starts=np.arange(0, 2 * windows + 1, 2),
        types=np.zeros(0, np.uint8),
        counts={},
        labels=np.arange(windows) % 2,
    )
    settings = Settings(batch_size=4, epochs=2, learning_rate=1e-2)
    train(model, encoding, settings, 7, CPU, evaluate, Silent())


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        ("loss", r"seed 7: the loss is nan at step 3 of 6"),
        ("gradient", r"seed 7: the gradient's norm is (nan|inf) at step 3 of 6"),
    ],
)
def test_the_step_is_named(spoilt: str, message: str) -> None:
    with pytest.raises(DivergenceError, match=message) as error:
        trained(Diverging(spoilt, 3))
    assert "learning_rate" in str(error.value.mend)
    trained(Diverging(spoilt, 7))  # there are but six


@pytest.mark.parametrize("selection", ["last", "best_dev"])
def test_weights_that_overflow_are_neither_evaluated_nor_kept(
    selection: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loss and gradient of a step are those before it, so weights are looked at before they are evaluated."""
    step, steps, evaluated = torch.optim.AdamW.step, [0], []

    def overflows(self: torch.optim.AdamW, closure: Any = None) -> None:
        step(self, closure)
        steps[0] += 1
        if steps[0] == 3:  # the last of the first epoch
            with torch.no_grad():
                self.param_groups[0]["params"][0][0, 0] = math.inf

    monkeypatch.setattr(torch.optim.AdamW, "step", overflows)

    def evaluate(model: Any) -> float:
        evaluated.append(model)
        return 50.0

    with pytest.raises(DivergenceError, match="weights are not finite after step 3 of 6"):
        trained(Diverging("nothing", 0), evaluate if selection == "best_dev" else None)
    assert not evaluated


def test_a_record_tells_of_a_failed_seed() -> None:
    record = make_record(seed=2, figures=dict.fromkeys(make_record().languages))
    protocol = record.protocol.model_copy(update={"training": {"failed": "the loss is nan"}})
    failed: Record = record.model_copy(update={"protocol": protocol})
    assert failed.score is None
    assert "seed 2 failed: the loss is nan" in failed.marks
