"""Opening a checkpoint for one of the ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from speed.materials import Material
from xharness.data.examples import Split


class Way(Protocol):
    """One way of doing a task."""

    @property
    def model(self) -> Any:
        """The model."""
        ...

    @property
    def tokenizer(self) -> Any:
        """Its tokenizer."""
        ...

    def predict(self, split: Split) -> Any:
        """Return labels, tags by sentence, or answers by id."""
        ...

    def train(self, split: Split, seed: int) -> list[float]:
        """Train; return when training began and when each step ended."""
        ...


def open_way(
    name: str, checkpoint: str, found: Material, folder: Path, seed: int | None = None
) -> Way:
    """Open a checkpoint.

    Args:
        name: ``ours``, ``ours-bfloat16``, ``ours-grouped``, ``official``, ``common-8`` or ``common-32``; with
            ``-masked`` after it questions are trained without padding in the softmax.
        checkpoint: Its folder.
        found: The task.
        folder: An empty folder to write to.
        seed: Initialises a new head where given; without it the checkpoint has the task's head.
    """
    from transformers import set_seed

    from xharness.models.checkpoints import load_as_is, load_config, load_tokenizer, load_with_head

    if name.startswith("ours"):
        from speed.our_way import OurWay

        return OurWay(
            checkpoint, found, folder, "bfloat16" if name.endswith("bfloat16") else "float32"
        )
    if seed is not None:
        set_seed(seed)
        model = load_with_head(checkpoint, found.task)
    else:
        model = load_as_is(checkpoint, found.task)
    tokenizer, pieces = load_tokenizer(checkpoint, load_config(checkpoint))
    if name == "official":
        from speed.official_way import OfficialWay

        model.set_attn_implementation("eager")
        return OfficialWay(model, tokenizer, pieces.template, found)
    from speed.common_way import CommonWay

    batch = int(name.split("-")[1])
    masked = name.endswith("-masked") and found.task.kind == "question_answering"
    return CommonWay(model, tokenizer, pieces.template, found, batch, str(folder), masked)
