"""What frequencies alone reach, worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xharness.pretraining import evaluation
from xharness.pretraining.evaluation import frequency_loss
from xharness.pretraining.shards import Shards


class FixedShards(Shards):
    """Ids that are given and not read."""

    def tokens(self, language: str, split: Any) -> int:
        return len(self.read(language, split, 0, 99))

    def read(self, language: str, split: Any, start: int, length: int) -> Any:
        ids = {"train": [0, 0, 0, 1], "dev": [0, 2]}[split]
        return np.array(ids[start : start + length], np.uint16)


@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_loss_of_frequencies_by_hand(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """Of four occurrences and a half of each of three pieces: 3.5, 1.5 and 0.5 of 5.5."""
    monkeypatch.setattr(evaluation, "_AT_ONCE", at_once)
    index: Any = None  # which only reading needs
    shards = FixedShards(Path(), index, ("de",))
    expected = -(math.log(3.5 / 5.5) + math.log(0.5 / 5.5)) / 2
    assert frequency_loss(shards, "de", 3) == pytest.approx(expected)
