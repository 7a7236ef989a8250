"""The training loop, which continues exactly at the epoch where it was cut off."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from xharness.errors import InputError
from xharness.inference.device import Device
from xharness.pretraining.checkpoints import Checkpoints, State
from xharness.pretraining.optimizer import named_state, restore_state
from xharness.translation.batches import (
    EncodedPairs,
    PairBatch,
    epoch_batches,
    evaluation_batches,
    pair_batch,
)
from xharness.translation.config import TranslationConfig
from xharness.translation.modeling import TranslationModel
from xharness.translation.optimization import build_optimizer, learning_rate

Weights = dict[str, Tensor]


@dataclass(frozen=True)
class Epoch:
    """What an epoch tells of itself.

    Attributes:
        number: From 1.
        steps: Steps taken so far.
        train_loss: Mean of the smoothed loss over its steps, in nats a piece.
        dev_loss: Cross-entropy on the dev split, in nats a piece.
        dev_bleu: Of greedy translations of the dev split, in percent; ``None`` where it was not asked for.
        seconds: Wall time of its steps.
        cpu_seconds: Processor time of its steps, all threads together.
    """

    number: int
    steps: int
    train_loss: float
    dev_loss: float
    dev_bleu: float | None
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class Trained:
    """A finished training; the model has the chosen weights.

    Attributes:
        epochs: What each told.
        chosen: Which weights these are, in words.
        dev_loss: Their cross-entropy on the dev split, in nats a piece.
        dev_losses: Those of all candidates, by name.
        pieces: Target pieces of the training split, ends included.
    """

    epochs: tuple[Epoch, ...]
    chosen: str
    dev_loss: float
    dev_losses: dict[str, float]
    pieces: int


class TranslationTraining:
    """A training under way.

    Args:
        config: The configuration.
        model: Initialised by the configuration's seed, on the device.
        train: The training split.
        dev: The dev split.
        device: Where it runs.
        folder: Where checkpoints lie.
        report: Told of what a user should know, in a line.
        dev_bleu: Translates the dev split greedily and returns its BLEU in percent; called every
            ``training.dev_bleu_every`` epochs.
    """

    def __init__(
        self,
        config: TranslationConfig,
        model: TranslationModel,
        train: EncodedPairs,
        dev: EncodedPairs,
        device: Device,
        folder: Path,
        report: Callable[[str], None],
        dev_bleu: Callable[[TranslationModel], float],
    ) -> None:
        self._config, self._settings, self.model = config, config.training, model
        self._train, self._dev, self._device = train, dev, device
        self._report, self._dev_bleu = report, dev_bleu
        self._optimizer = build_optimizer(model, config.training)
        self._checkpoints = Checkpoints(folder, report)
        self._epochs: list[Epoch] = []
        self._best: Weights = {}
        self._sum = {name: torch.zeros_like(p) for name, p in self._weights().items()}

    def run(self) -> Trained:
        """Take all epochs that are left, then choose the weights.

        Raises:
            InputError: The loss is no longer finite; the last checkpoint is kept.
        """
        state = self._checkpoints.load()
        if state is not None:
            self._restore(state)
        batches = [
            epoch_batches(self._train, self._settings.batch_tokens, self._settings.seed, epoch)
            for epoch in range(self._settings.epochs)
        ]
        steps = sum(map(len, batches))
        for epoch in batches[len(self._epochs) :]:
            before = self._epochs[-1].steps if self._epochs else 0
            self._end(self._epoch([(before + n, b) for n, b in enumerate(epoch)], steps))
        return self._choose()

    # -- an epoch ---------------------------------------------------------------------------------------

    def _epoch(self, batches: list[tuple[int, np.ndarray]], steps: int) -> Epoch:
        self.model.train()
        began, cpu_began = time.monotonic(), time.process_time()
        losses = []
        for step, chosen in batches:
            losses.append(self._step(step, pair_batch(self._train, chosen), steps))
        seconds, cpu_seconds = time.monotonic() - began, time.process_time() - cpu_began
        number = len(self._epochs) + 1
        dev_loss = self._loss_on_dev()
        every = self._settings.dev_bleu_every
        bleu = self._dev_bleu(self.model) if every and number % every == 0 else None
        mean_loss = sum(losses) / len(losses)
        last = batches[-1][0] + 1
        return Epoch(number, last, mean_loss, dev_loss, bleu, seconds, cpu_seconds)

    def _step(self, step: int, batch: PairBatch, steps: int) -> float:
        words = np.random.SeedSequence([self._settings.seed, step]).generate_state(1, np.uint64)
        torch.manual_seed(int(words[0]))  # dropout is a function of seed and step
        self._optimizer.zero_grad()
        half = self._device.dtype == "bfloat16"
        dtype = torch.bfloat16 if half else torch.float32
        loss, _ = self._losses(batch, self._settings.label_smoothing, dtype)
        torch.autograd.backward(loss)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self._settings.max_grad_norm)
        value = float(loss.detach())
        if not (math.isfinite(value) and math.isfinite(float(norm))):
            raise InputError(
                f"step {step + 1}: the loss is {value:.4g}, the gradient's norm {float(norm):.4g}",
                where=self._config.name,
                mend="lower learning_rate or raise warmup_steps",
            )
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate(self._settings, step, steps)
        self._optimizer.step()
        return value

    def _losses(
        self, batch: PairBatch, smoothing: float, dtype: torch.dtype
    ) -> tuple[Tensor, Tensor]:
        arrays = (batch.source, batch.inputs, batch.positions, batch.labels)
        source, inputs, positions, labels = (
            torch.from_numpy(array).to(self._device.torch) for array in arrays
        )
        # On a CPU only the classifier's products gain from bfloat16; small blocks are slower in it.
        blocks = nullcontext() if self._device.name == "cpu" else self._device.autocast()
        with blocks:
            return self.model.loss(source, inputs, positions, labels, smoothing, dtype)

    @torch.no_grad()
    def _loss_on_dev(self) -> float:
        self.model.eval()
        total = pieces = 0.0
        for batch in evaluation_batches(self._dev, self._settings.batch_tokens):
            _, entropy = self._losses(batch, 0.0, torch.float32)
            total += float(entropy) * len(batch.labels)
            pieces += len(batch.labels)
        return total / pieces

    # -- weights and checkpoints ------------------------------------------------------------------------

    def _weights(self) -> Weights:
        return {name: parameter.detach() for name, parameter in self.model.named_parameters()}

    def _end(self, epoch: Epoch) -> None:
        if not self._epochs or epoch.dev_loss < min(e.dev_loss for e in self._epochs):
            self._best = {name: weight.clone() for name, weight in self._weights().items()}
        if epoch.number > self._settings.epochs - self._averaged:
            for name, weight in self._weights().items():
                self._sum[name] += weight
        self._epochs.append(epoch)
        parts = {"now": self._weights(), "sum": self._sum, "best": self._best}
        self._checkpoints.save(
            State(
                step=epoch.number,
                model={f"{part}/{n}": w for part, ws in parts.items() for n, w in ws.items()},
                optimizer=named_state(self.model, self._optimizer),
                values={"epochs": [asdict(one) for one in self._epochs]},
            )
        )
        bleu = "" if epoch.dev_bleu is None else f", greedy dev BLEU {epoch.dev_bleu:.1f}"
        self._report(
            f"{self._config.name} epoch {epoch.number}/{self._settings.epochs}: loss {epoch.train_loss:.3f}, "
            f"dev loss {epoch.dev_loss:.3f}{bleu}, {epoch.seconds:.0f} s, {epoch.cpu_seconds:.0f} s of processor"
        )

    def _restore(self, state: State) -> None:
        parts: dict[str, Weights] = {"now": {}, "sum": {}, "best": {}}
        for key, tensor in state.model.items():
            part, _, name = key.partition("/")
            parts[part][name] = tensor.to(self._device.torch)
        self._put(parts["now"])
        # Read tensors may lie in the file itself, which is removed in time.
        self._sum = {name: weight.clone() for name, weight in parts["sum"].items()}
        self._best = {name: weight.clone() for name, weight in parts["best"].items()}
        restore_state(self.model, self._optimizer, state.optimizer)
        self._epochs = [Epoch(**one) for one in state.values["epochs"]]
        self._report(f"{self._config.name}: continues after epoch {len(self._epochs)}")

    @torch.no_grad()
    def _put(self, weights: Mapping[str, Tensor]) -> None:
        for name, parameter in self.model.named_parameters():
            parameter.copy_(weights[name])

    @property
    def _averaged(self) -> int:
        return min(self._settings.average_epochs, self._settings.epochs)

    def _choose(self) -> Trained:
        best = min(self._epochs, key=lambda epoch: epoch.dev_loss)
        single = f"epoch {best.number}"
        losses = {single: best.dev_loss}
        chosen, dev_loss = single, best.dev_loss
        weights = self._best
        if self._averaged > 1:
            first = self._settings.epochs - self._averaged + 1
            average = f"average of epochs {first} to {self._settings.epochs}"
            mean = {name: total / self._averaged for name, total in self._sum.items()}
            self._put(mean)
            losses[average] = self._loss_on_dev()
            if losses[average] <= best.dev_loss:
                chosen, dev_loss, weights = average, losses[average], mean
        self._put(weights)
        self.model.eval()
        pieces = sum(map(len, self._train.target))
        return Trained(tuple(self._epochs), chosen, dev_loss, losses, pieces)
