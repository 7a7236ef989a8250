"""Our way: through the adapter, as a run goes, encodings not cached yet."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from speed.materials import Material
from speed.measuring import seconds
from xharness.data.examples import Split
from xharness.inference.device import choose_device
from xharness.inference.progress import Silent
from xharness.models.transformers import TransformersAdapter


class OurWay:
    """Prediction and training.

    Args:
        checkpoint: Folder of a checkpoint; for prediction, with the task's head.
        found: Task and settings.
        folder: An empty folder for the cache and the fine-tuned checkpoint.
        dtype: Number format.
        tokens: Padded pieces in a micro-batch; the default where absent.
    """

    def __init__(
        self,
        checkpoint: str,
        found: Material,
        folder: Path,
        dtype: str = "float32",
        tokens: int | None = None,
    ):
        os.environ["XHARNESS_CACHE"] = str(folder / "cache")
        self._adapter = TransformersAdapter(checkpoint, choose_device("cpu", dtype, tokens))
        self._found = found
        self._into = folder / "finetuned"

    @property
    def model(self) -> Any:
        """The model; there is one once something was predicted."""
        return self._adapter._models["head"]

    @property
    def tokenizer(self) -> Any:
        """Its tokenizer."""
        return self._adapter._tokenizer

    def predict(self, split: Split) -> Any:
        """Return labels, tags by sentence, or answers by id."""
        found = self._found
        values = self._adapter.predict(found.task, split, found.settings, Silent()).values
        return values if isinstance(values, dict) else list(values)

    def train(self, split: Split, seed: int) -> list[float]:
        """Train and save; return when training began and when each step ended."""
        ends = _Ends()
        self._into.mkdir(parents=True)
        self._adapter.finetune(
            self._found.task, split, None, self._found.settings, seed, self._into, ends
        )
        return ends.times


class _Ends:
    """Notes when training begins and when each step ends."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def start(self, total: int) -> None:
        """Note the beginning."""
        self.times.append(seconds())

    def advance(self, count: int) -> None:
        """Note the end of a step."""
        self.times.append(seconds())
