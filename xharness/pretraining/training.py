"""The pre-training loop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from torch import Tensor, nn

from xharness.encoder import DecoupledForMaskedLM
from xharness.errors import InputError
from xharness.inference.device import Device
from xharness.inference.memory import is_out_of_memory, memory_told
from xharness.pretraining.batches import BatchStream, MaskedBatch
from xharness.pretraining.checkpoints import Checkpoints, State
from xharness.pretraining.config import PretrainingConfig
from xharness.pretraining.evaluation import evaluate, mean_figures, micro_batches
from xharness.pretraining.metrics import MetricsLog
from xharness.pretraining.optimizer import (
    build_optimizer,
    learning_rate,
    named_state,
    restore_state,
)

#: A loss this far above that of guessing, in nats, will not come back.
_EXPLODED = 5.0


class _Objective(nn.Module):
    """What a step computes, as a module: only calls of a module are seen by the wrapper of several devices."""

    def __init__(self, model: DecoupledForMaskedLM) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, input_ids: Tensor, positions: Tensor, labels: Tensor
    ) -> tuple[Tensor, Tensor]:
        return self.model.loss_at(input_ids, positions, labels)


@dataclass(frozen=True)
class StepReport:
    """What a step tells of itself.

    Attributes:
        step: Its number, from 1.
        loss: Mean over all devices' predictions, in nats.
        accuracy: Share of masked tokens predicted rightly, in percent.
        grad_norm: Norm of the gradient before clipping.
        learning_rate: Of this step.
        predictions: Masked tokens on all devices.
    """

    step: int
    loss: float
    accuracy: float
    grad_norm: float
    learning_rate: float
    predictions: int


class Training:
    """A pre-training under way; every process of ``torchrun`` holds one.

    Args:
        config: The configuration; the processes divide its batch.
        model: Initialised by the configuration's seed.
        stream: The batches.
        languages: Those with held-out text.
        device: Where it runs.
        folder: The run's folder.
        report: Told of what a user should know, in a line.

    Attributes:
        step: Steps taken.
        seconds: Wall time of those steps, over all sessions, without evaluation and checkpoints.
    """

    def __init__(
        self,
        config: PretrainingConfig,
        model: DecoupledForMaskedLM,
        stream: BatchStream,
        languages: tuple[str, ...],
        device: Device,
        folder: Path,
        report: Callable[[str], None],
    ) -> None:
        self.config, self.model, self.device = config, model, device
        self._stream, self._languages, self._report = stream, languages, report
        self._accelerator = _accelerator(device)
        self._optimizer = build_optimizer(model, config)
        self._objective: Any = self._accelerator.prepare(_Objective(model))
        self._checkpoints = Checkpoints(folder / "checkpoints", report)
        self._own = config.batch_size // self._processes
        self._micro = min(config.micro_batch_size or self._own, self._own)
        self.step = self._saved = 0
        self.seconds = 0.0

    @property
    def is_main(self) -> bool:
        """Whether this process writes and reports."""
        return bool(self._accelerator.is_main_process)

    def resume(self) -> None:
        """Go back to the last checkpoint that is whole, if there is one.

        Raises:
            InputError: The processes do not see the same one.
        """
        state = self._checkpoints.load()
        if state is not None:
            self._restore(state)
        steps = self._accelerator.gather(torch.tensor([self.step], device=self.device.torch))
        if int(steps.min()) != int(steps.max()):
            raise self._told_once(
                InputError(
                    f"processes would go on from different steps: {', '.join(map(str, steps.tolist()))}",
                    where=self.config.name,
                    mend="give an --output that all of them can read",
                )
            )

    def _restore(self, state: State) -> None:
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():
                parameter.copy_(state.model[name])
        restore_state(self.model, self._optimizer, state.optimizer)
        self.seconds = float(state.values["seconds"])
        self._micro = min(int(state.values["micro_batch_size"]), self._own)
        self.step = self._saved = state.step

    def run(self, log: MetricsLog | None, watch: Callable[[StepReport], None]) -> None:
        """Take all steps that are left.

        A checkpoint is written once the loss of its weights is known, so that each that is kept can be gone on from.

        Args:
            log: Where figures go; in the main process.
            watch: Told of each step.

        Raises:
            InputError: The loss is no longer finite, or has exploded; the last checkpoint is kept.
        """
        self.model.train()
        while self.step < self.config.steps:
            began = time.monotonic()
            loss, hits, predictions = self._gradient()
            norm = float(
                nn.utils.clip_grad_norm_(self.model.parameters(), self.config.max_grad_norm)
            )
            self._check(loss, norm)
            paused = time.monotonic()
            if self.step % self.config.checkpoint_every == 0:
                self._save()
            began += time.monotonic() - paused
            rate = learning_rate(self.config, self.step)
            for group in self._optimizer.param_groups:
                group["lr"] = rate
            with memory_told(self.device):  # the first step makes the moments
                self._optimizer.step()
            self.step += 1
            self.seconds += time.monotonic() - began
            accuracy = 100 * hits / predictions
            watch(StepReport(self.step, loss, accuracy, norm, rate, predictions))
            if log is not None:
                figures = {"loss": loss, "accuracy": accuracy}
                log.write("train", self.step, figures | {"grad_norm": norm, "learning_rate": rate})
            every = self.config.evaluate_every
            if log is not None and (
                self.step == self.config.steps or (every and self.step % every == 0)
            ):
                self._evaluate(log)
        self._save()
        if self.is_main:
            self._checkpoints.prune()

    # -- a step -----------------------------------------------------------------------------------------

    def _gradient(self) -> tuple[float, int, int]:
        """Leave the gradient of the mean loss over all devices' predictions; return loss, hits and predictions."""
        first = self._own * self._accelerator.process_index
        batch = self._stream.batch(self.step, slice(first, first + self._own))
        while True:
            try:
                return self._accumulate(batch)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                if self._micro == 1 or self._processes > 1:
                    raise InputError(
                        f"out of memory with {self._micro} rows at a time",
                        where=self.device.name,
                        mend="set a smaller micro_batch_size, which changes no step, or a smaller encoder",
                    ) from error
            self._micro = -(-self._micro // 2)
            self._report(f"out of memory: rows at a time halved to {self._micro}, steps unchanged")
            if self.device.name == "cuda":
                torch.cuda.empty_cache()

    def _accumulate(self, batch: MaskedBatch) -> tuple[float, int, int]:
        self._optimizer.zero_grad()
        self._seed_dropout()
        micros = list(micro_batches(batch, self._micro))
        total = int(self._summed(torch.tensor([len(batch.labels)]))[0])
        if not total:
            raise InputError(
                f"step {self.step + 1}: the tokenizer knows no token of the batch",
                where=self.config.name,
                mend="raise batch_size, or use a tokenizer that knows the text",
            )
        figures = torch.zeros(2, dtype=torch.float64)
        for number, micro in enumerate(micros):
            arrays = (micro.input_ids, micro.positions, micro.labels)
            inputs = [torch.from_numpy(array).to(self.device.torch) for array in arrays]
            last = number == len(micros) - 1
            with nullcontext() if last else self._accelerator.no_sync(self._objective):
                with self.device.autocast():
                    mean, hits = self._objective(*inputs)
                # The wrapper of several devices averages gradients, so each counts by its share of all predictions.
                self._accelerator.backward(mean * (len(micro.labels) * self._processes / total))
            figures += torch.tensor([float(mean.detach()) * len(micro.labels), int(hits)])
        loss, hits_all = self._summed(figures).tolist()
        return loss / total, int(hits_all), total

    def _seed_dropout(self) -> None:
        """Make dropout a function of seed, step and process, as data and masks are."""
        words = [self.config.seed, self.step, self._accelerator.process_index]
        torch.manual_seed(int(np.random.SeedSequence(words).generate_state(1, np.uint64)[0]))

    def _check(self, loss: float, norm: float) -> None:
        guessing = math.log(self.model.config.vocab_size)
        if math.isfinite(loss) and math.isfinite(norm) and loss < guessing + _EXPLODED:
            return
        raise self._told_once(
            self._diverged(
                f"step {self.step + 1}: the loss is {loss:.4g}, that of guessing {guessing:.4g}, and the "
                f"gradient's norm {norm:.4g}"
            )
        )

    def _diverged(self, what: str) -> InputError:
        if self._saved:
            mend = (
                f"the checkpoint of step {self._saved} is kept; with another --output, lower learning_rate "
                "or raise warmup_steps"
            )
        else:
            mend = "lower learning_rate or initializer_range, or raise warmup_steps"
        return InputError(what, where=self.config.name, mend=mend)

    # -- several processes ------------------------------------------------------------------------------

    @property
    def _processes(self) -> int:
        return int(self._accelerator.num_processes)

    def _told_once(self, error: InputError) -> BaseException:
        """Return what a process raises of an error that all of them meet."""
        return error if self.is_main else SystemExit(2)

    def _summed(self, figures: Tensor) -> Tensor:
        if self._processes == 1:
            return figures
        summed: Tensor = self._accelerator.reduce(figures.to(self.device.torch), "sum").cpu()
        return summed

    # -- figures and checkpoints ------------------------------------------------------------------------

    def _evaluate(self, log: MetricsLog) -> None:
        if not self._languages:
            return
        found = evaluate(
            self.model,
            self._stream,
            self._languages,
            self.device,
            self.config.evaluation_rows,
            self._micro,
        )
        means = mean_figures(found)
        if not math.isfinite(means["mean_loss"]):
            raise self._diverged(f"the held-out loss after step {self.step} is no number")
        figures: Mapping[str, Any] = {
            **means,
            "loss": {language: held.loss for language, held in found.items()},
            "accuracy": {language: held.accuracy for language, held in found.items()},
        }
        log.write("dev", self.step, figures)
        self._report(
            f"step {self.step}: held-out loss {means['mean_loss']:.3f}, "
            f"accuracy {means['mean_accuracy']:.1f} %, means over {len(found)} languages"
        )

    def _save(self) -> None:
        if self.step == self._saved:
            return
        if self.is_main:
            self._checkpoints.save(
                State(
                    step=self.step,
                    # Unlike the state dict, this names a matrix that two modules share once.
                    model={name: p.detach() for name, p in self.model.named_parameters()},
                    optimizer=named_state(self.model, self._optimizer),
                    values={"micro_batch_size": self._micro, "seconds": self.seconds},
                )
            )
        self._saved = self.step


def _accelerator(device: Device) -> Accelerator:
    # Accelerate keeps the first format and device of a process and refuses others; a second training may differ.
    AcceleratorState._reset_state(reset_partial_state=False)
    # The number format is the device's own affair, since evaluation does not pass through the wrapper.
    return Accelerator(mixed_precision="no", cpu=device.name == "cpu")
