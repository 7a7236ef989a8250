"""Training by truncated backpropagation through time; resumes where an epoch ended."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.optim import AdamW

from xharness.errors import InputError
from xharness.files import unwritable, written_aside
from xharness.language_modelling.config import LanguageModelConfig
from xharness.language_modelling.evaluation import evaluate
from xharness.language_modelling.model import LanguageModel
from xharness.language_modelling.perplexity import Perplexity
from xharness.language_modelling.schedules import build_optimizer, learning_rate, loss_divisor
from xharness.language_modelling.sequence_models import State as Carried
from xharness.language_modelling.streams import Streams, cut_streams, require_batch
from xharness.language_modelling.text import Splits
from xharness.pretraining.checkpoints import Checkpoints, State
from xharness.pretraining.config import differences
from xharness.pretraining.optimizer import named_state, restore_state


@dataclass(frozen=True)
class EpochFigures:
    """What one pass over the text gave.

    Attributes:
        epoch: Its number, from 1.
        learning_rate: Of its last step.
        train_perplexity: Of the training text as it was read, weights changing meanwhile.
        dev_perplexity: Of the development text after it, in as many streams as training has.
        step_milliseconds: CPU time of a step, mean over the epoch.
        seconds: Wall time, without evaluation.
    """

    epoch: int
    learning_rate: float
    train_perplexity: float
    dev_perplexity: float
    step_milliseconds: float
    seconds: float


@dataclass(frozen=True)
class Trained:
    """A finished training.

    Attributes:
        model: With the weights after the epoch of the lowest dev perplexity.
        history: The figures of every epoch.
        best: That epoch's figures.
        dropped_words: Words at the end of the training text that do not fill all streams.
    """

    model: LanguageModel
    history: tuple[EpochFigures, ...]
    best: EpochFigures
    dropped_words: int

    @property
    def step_milliseconds(self) -> float:
        """CPU time of a training step, median over epochs."""
        return statistics.median(figures.step_milliseconds for figures in self.history)


class Training:
    """A training under way.

    Args:
        config: The configuration.
        splits: The text.
        folder: Where checkpoints and the best weights are kept.
        device: Where it runs.
        report: Told of a damaged checkpoint, in a line.

    Raises:
        InputError: A part of the text is less than one batch, sizes do not fit each other, or the folder holds the
            training of another configuration or text.
    """

    def __init__(
        self,
        config: LanguageModelConfig,
        splits: Splits,
        folder: Path,
        *,
        device: torch.device | None = None,
        report: Callable[[str], None] = print,
    ) -> None:
        settings = config.training
        require_batch(splits.train.ids, settings.streams, settings.window, "train")
        for split in ("dev", "test"):
            require_batch(splits.part(split).ids, settings.streams, 1, split)
        self._config, self._splits, self._folder = config, splits, folder
        self._device = device or torch.device("cpu")
        self._model = LanguageModel(config, len(splits.vocabulary)).to(self._device)
        self._optimizer = build_optimizer(self._model, config)
        self._streams = cut_streams(splits.train.ids, settings.streams, splits.vocabulary.end_id)
        self._checkpoints = Checkpoints(folder / "checkpoints", report)
        self._history: list[EpochFigures] = []
        self._identity = {"config": config.model_dump(mode="json"), "text": splits.as_json()}
        self._resume()

    def run(self, watch: Callable[[EpochFigures], None]) -> Trained:
        """Train for the epochs that are left.

        Args:
            watch: Told the figures of each epoch.

        Raises:
            InputError: The loss is no longer a number, or a file cannot be written.
        """
        while len(self._history) < self._config.training.epochs:
            figures = self._epoch(len(self._history) + 1)
            self._history.append(figures)
            if figures is self._best():
                self._keep_best()
            self._save()
            watch(figures)
        self._restore_best()
        return Trained(self._model, tuple(self._history), self._best(), self._streams.dropped)

    def _best(self) -> EpochFigures:
        return min(self._history, key=lambda figures: figures.dev_perplexity)

    def _epoch(self, epoch: int) -> EpochFigures:
        # Dropout depends on seed and epoch alone, so that a resumed run draws what an unbroken one does.
        torch.manual_seed(_epoch_seed(self._config.seed, epoch))
        window = self._config.training.window
        steps = self._streams.steps(window)
        began, cpu_began = time.perf_counter(), time.process_time()
        loss, state, rate = 0.0, None, 0.0
        self._model.train()
        for step, part in enumerate(self._streams.windows(window)):
            rate = learning_rate(self._config, epoch, step, steps)
            inputs, targets = (
                torch.from_numpy(one).to(self._device) for one in (part.inputs, part.targets)
            )
            found, state = self._step(inputs, targets, state, rate)
            if not math.isfinite(found):
                raise self._diverged(step + 1, epoch)
            loss += found
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
        dev = evaluate(
            self._model,
            self._splits.dev.ids,
            self._splits.vocabulary.end_id,
            streams=self._config.training.streams,
        )
        if not math.isfinite(dev.mean_loss):
            raise self._diverged(steps, epoch)
        return EpochFigures(
            epoch,
            rate,
            Perplexity(loss, _words(self._streams)).value,
            dev.value,
            1000 * cpu_seconds / steps,
            seconds,
        )

    def _diverged(self, step: int, epoch: int) -> InputError:
        return InputError(
            f"the loss is no longer a number in step {step} of epoch {epoch}",
            where=self._config.name,
            mend="lower training.learning_rate or training.init_range",
        )

    def _step(
        self, inputs: Tensor, targets: Tensor, state: Carried | None, rate: float
    ) -> tuple[float, Carried]:
        """Take one step; return the window's summed loss in nats, and the state, cut off from its past."""
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.zero_grad(set_to_none=True)
        half = self._config.training.dtype == "bfloat16"
        with torch.autocast(self._device.type, torch.bfloat16, enabled=half):
            loss, after = self._model(inputs, targets, state)
        whole = (loss + self._model.penalty()) / loss_divisor(self._config, targets.numel())
        torch.autograd.backward(whole)
        trained = [parameter for _, parameter in self._model.trained_parameters()]
        torch.nn.utils.clip_grad_norm_(trained, self._config.max_grad_norm)
        self._optimizer.step()
        return float(loss.detach()), tuple(one.detach() for one in after)

    def _weights(self) -> dict[str, Tensor]:
        return {name: parameter.detach() for name, parameter in self._model.trained_parameters()}

    @torch.no_grad()
    def _set_weights(self, weights: dict[str, Tensor]) -> None:
        for name, parameter in self._model.trained_parameters():
            parameter.copy_(weights[name])

    def _save(self) -> None:
        moments: dict[str, Tensor] = {}
        if isinstance(self._optimizer, AdamW):
            moments = named_state(self._model, self._optimizer)
        values: dict[str, Any] = {
            **self._identity,
            "history": [asdict(figures) for figures in self._history],
        }
        self._checkpoints.save(State(len(self._history), self._weights(), moments, values))

    def _resume(self) -> None:
        state = self._checkpoints.load()
        if state is None:
            return
        changed = [
            f"{part}.{key}" for part in self._identity for key in self._changes(state.values, part)
        ]
        if changed:
            raise InputError(
                f"the training here was begun with another {', '.join(changed)}",
                where=self._folder,
                mend="give another folder, or remove this one",
            )
        self._set_weights(state.model)
        if isinstance(self._optimizer, AdamW):
            restore_state(self._model, self._optimizer, state.optimizer)
        self._history = [EpochFigures(**figures) for figures in state.values["history"]]

    def _changes(self, values: dict[str, Any], part: str) -> list[str]:
        return differences(values[part], self._identity[part])

    @property
    def _best_path(self) -> Path:
        return self._folder / "best.safetensors"

    def _keep_best(self) -> None:
        try:
            with written_aside(self._best_path) as aside:
                save_file(self._weights(), aside)
        except (OSError, SafetensorError) as error:
            raise unwritable(self._best_path, OSError(str(error))) from error

    def _restore_best(self) -> None:
        try:
            self._set_weights(load_file(self._best_path))
        except (OSError, SafetensorError, KeyError) as error:
            raise InputError(
                f"cannot be read: {error}",
                where=self._best_path,
                mend="remove the folder and train again",
            ) from error


def _words(streams: Streams) -> int:
    return int(streams.targets.size)


def _epoch_seed(seed: int, epoch: int) -> int:
    """Return a seed that differs between all pairs of a seed and an epoch that a study has."""
    return (seed * 1_000_003 + epoch) % 2**63
