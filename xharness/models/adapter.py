"""The adapter protocol and its registry. A model family of its own is one adapter and one entry point."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from xharness.data.examples import Split
from xharness.errors import InputError
from xharness.finetuning.training import TrainingReport
from xharness.inference.device import Device
from xharness.inference.progress import Progress
from xharness.specs.recipe import Settings
from xharness.specs.task import TaskSpec
from xharness.tasks.predictions import Predictions

ENTRY_POINT_GROUP = "xharness.models"
DEFAULT_ADAPTER = "transformers"


@dataclass(frozen=True)
class ModelInfo:
    """What a record says of a model.

    Attributes:
        name: Last part of the reference; what tables show.
        reference: As the user gave it.
        adapter: Name of the adapter.
        architecture: Model family.
        parameters: Number of parameters without a task's head.
        weights_sha256: Digest of the weight files.
        revision: Commit on the hub, where it came from there.
        layers: Number of blocks.
        notes: Anything odd about it.
    """

    name: str
    reference: str
    adapter: str
    architecture: str
    parameters: int
    weights_sha256: str
    revision: str | None
    layers: int
    notes: tuple[str, ...] = field(default=())


class ModelAdapter(Protocol):
    """A model that can be fine-tuned on a task and can predict.

    Implementations take the reference and the device: ``Adapter(reference, device)``.
    """

    def finetune(
        self,
        task: TaskSpec,
        train: Split,
        dev: Split | None,
        settings: Settings,
        seed: int,
        into: Path,
        progress: Progress,
    ) -> TrainingReport:
        """Fine-tune on ``train`` and leave the checkpoint in the folder ``into``.

        Args:
            task: The task whose head is trained.
            train: The English training split.
            dev: The English dev split, where the checkpoint is chosen on it.
            settings: Hyperparameters.
            seed: Decides initialisation of the head, order and dropout.
            into: An empty folder.
            progress: Told of optimizer steps done.
        """
        ...

    def finetuned(self, task: TaskSpec, folder: Path) -> ModelAdapter:
        """Return an adapter for the checkpoint that ``finetune`` left in a folder."""
        ...

    def check_head(self, task: TaskSpec) -> None:
        """Make sure that the checkpoint itself has the task's head.

        Raises:
            InputError: It has none, or its labels are not the task's by name.
        """
        ...

    def predict(
        self,
        task: TaskSpec,
        split: Split,
        settings: Settings,
        progress: Progress,
        dev: Split | None = None,
    ) -> Predictions:
        """Predict one split, or a part of one where decisions rest on single examples.

        Retrieval kinds use the model as it is, without a head; mining takes its threshold from ``dev``, the
        same language's dev split.
        """
        ...

    def describe(self) -> ModelInfo:
        """Return what a record says of the model."""
        ...


def open_model(reference: str, device: Device) -> ModelAdapter:
    """Open ``<adapter>:<reference>``; without a prefix the adapter is ``transformers``.

    Raises:
        InputError: There is no such adapter, or the checkpoint does not open.
    """
    known = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
    prefix, colon, rest = reference.partition(":")
    if not colon or Path(reference).exists():
        prefix, rest = DEFAULT_ADAPTER, reference
    if prefix not in known:
        near = get_close_matches(prefix, known, n=1)
        raise InputError(
            f"no model adapter named {prefix!r}",
            where="--model",
            mend=f"did you mean {near[0]!r}?" if near else f"adapters: {', '.join(sorted(known))}",
        )
    adapter: ModelAdapter = known[prefix].load()(rest, device)
    return adapter
