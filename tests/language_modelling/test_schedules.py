"""Learning rates and what the loss is divided by."""

from __future__ import annotations

import pytest

from tests.language_modelling.tiny_models import config
from xharness.language_modelling.schedules import learning_rate, loss_divisor


def test_the_papers_schedule() -> None:
    """Full rate for four epochs, then halved each epoch: 1/512 in the thirteenth."""
    small = config(training={"epochs": 13})
    rates = [learning_rate(small, epoch, 0, 100) for epoch in range(1, 14)]
    assert rates[:6] == [1, 1, 1, 1, 0.5, 0.25]
    assert rates[-1] == 2**-9
    assert loss_divisor(small, 24) == 4


def test_warm_up_and_decay() -> None:
    """Ten steps an epoch, two epochs: up in four steps, then down to the first step that is not taken."""
    adamw = config(
        training={"optimizer": "adamw", "learning_rate": 0.8, "epochs": 2, "warmup_steps": 4}
    )
    rates = [learning_rate(adamw, epoch, step, 10) for epoch in (1, 2) for step in range(10)]
    assert rates[:6] == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8, 0.75])
    assert rates[-1] == pytest.approx(0.05)
    assert loss_divisor(adamw, 24) == 24
