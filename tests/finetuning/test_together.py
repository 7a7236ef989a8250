"""Fine-tuning in several processes: the same steps as in one, and errors told once."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import torch
from torch import distributed

from tests.finetuning.test_training import Bag, Watched
from xharness.errors import InputError
from xharness.finetuning.together import train_together
from xharness.finetuning.training import DivergenceError, TrainingReport, train
from xharness.inference.device import Device
from xharness.inference.progress import Progress
from xharness.specs.recipe import Settings
from xharness.tasks.pair_classification import PairEncoding
from xharness.tasks.pieces import starts_of

ALONE = Device("cpu", "float32", 64)
TOGETHER = Device("cpu", "float32", 64, processes=2)


class BagWithSpare(Bag):
    """Has a weight that no loss depends on: decay must not shrink it, since its gradient is none rather than zero."""

    def __init__(self) -> None:
        super().__init__(pieces=30)
        self.spare = torch.nn.Parameter(torch.ones(2, 2))


def uneven_windows() -> PairEncoding:
    """21 windows of 1 to 5 pieces: steps of 4 leave one of a single window, which one process has nothing of."""
    random = np.random.default_rng(3)
    lengths = random.integers(1, 6, 21)
    ids = random.integers(1, 30, lengths.sum()).astype(np.int32)
    labels = random.integers(0, 2, 21)
    return PairEncoding(ids, starts_of(lengths.tolist()), np.zeros(0, np.uint8), {}, labels)


def trained(scores: tuple[float, ...], device: Device, progress: Progress) -> Any:
    """Train; the score of each evaluation is given, but only to the first process."""
    model = BagWithSpare()
    left = list(scores)

    def evaluate(_: Any) -> float:
        assert not distributed.is_initialized() or distributed.get_rank() == 0
        return left.pop(0)

    settings = Settings.model_validate(
        {"learning_rate": 0.1, "epochs": 3, "batch_size": 4, "weight_decay": 0.1}
    )
    report = train(model, uneven_windows(), settings, 1, device, evaluate, progress)
    return report, {name: one.tolist() for name, one in model.state_dict().items()}


def test_two_processes_train_as_one_does() -> None:
    scores = (50.0, 70.0, 60.0)
    alone: tuple[TrainingReport, dict[str, Any]] = trained(scores, ALONE, Watched())
    progress = Watched()
    together = train_together(trained, (scores,), TOGETHER, progress)
    assert together[0].losses == pytest.approx(alone[0].losses, rel=1e-6)
    assert together[0].dev_scores == alone[0].dev_scores
    # The weights of the best evaluation are kept, in both.
    assert together[0].chosen_step == alone[0].chosen_step == 12
    for name, weights in alone[1].items():
        np.testing.assert_allclose(together[1][name], weights, atol=1e-6, err_msg=name)
    assert together[1]["spare"] == [[1.0, 1.0], [1.0, 1.0]]
    assert (progress.total, progress.done) == (18, 18)


def refusing(_: str, device: Device, progress: Progress) -> None:
    """Fail in the second process while the first waits for it."""
    if distributed.get_rank() == 1:
        raise InputError("no label", where="row 3", mend="give it one")
    distributed.barrier()


def diverging(_: str, device: Device, progress: Progress) -> None:
    """Fail in all, as a loss that is no number does."""
    raise DivergenceError("the loss is nan at step 2 of 9", where="seed 1")


def ending(_: str, device: Device, progress: Progress) -> None:
    """End the second process as running out of memory does."""
    if distributed.get_rank() == 1:
        os._exit(9)
    distributed.barrier()


@pytest.mark.slow
def test_a_process_error_is_told_as_its_own() -> None:
    with pytest.raises(InputError, match="no label") as found:
        train_together(refusing, ("",), TOGETHER, Watched())
    assert (found.value.where, found.value.mend) == ("row 3", "give it one")


@pytest.mark.slow
def test_a_divergence_stays_one() -> None:
    with pytest.raises(DivergenceError, match="nan at step 2"):
        train_together(diverging, ("",), TOGETHER, Watched())


@pytest.mark.slow
def test_a_process_that_is_ended_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="process 1 of 2 ended with exit code 9"):
        train_together(ending, ("",), TOGETHER, Watched())
    assert capfd.readouterr().err == ""


def mistaken(_: str, device: Device, progress: Progress) -> None:
    """Fail by a mistake in the program."""
    raise AttributeError("no such thing")


@pytest.mark.slow
def test_a_mistake_is_not_hidden() -> None:
    with pytest.raises(RuntimeError, match="no such thing"):
        train_together(mistaken, ("",), TOGETHER, Watched())
