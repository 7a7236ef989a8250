"""The fine-tuning loop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from transformers import get_linear_schedule_with_warmup

from xharness.errors import InputError
from xharness.finetuning.group import Group, own_group
from xharness.finetuning.objectives import decisions, summed_loss
from xharness.inference.allocator import keep_freed_memory
from xharness.inference.batching import PADDING_SHARE, collate, length_batches
from xharness.inference.device import Device
from xharness.inference.memory import smaller, with_less_memory
from xharness.inference.progress import Progress
from xharness.specs.recipe import Settings
from xharness.tasks.encoding import Encoding
from xharness.tasks.pieces import IndexArray

#: Steps whose examples are sorted by length together before they are shuffled again, where lengths are grouped.
STEPS_PER_POOL = 32


class DivergenceError(InputError):
    """A training that came to values that are no numbers. Other seeds of the same training may well not."""


@dataclass(frozen=True)
class TrainingReport:
    """What a fine-tuning did.

    Attributes:
        steps: Optimizer steps taken.
        windows: Windows in the training set.
        warmup_steps: Steps of warm-up: the recipe's, or half of all steps where that is fewer.
        effective_batch: Windows in one step.
        losses: Mean loss of each tenth of the training.
        dev_scores: (step, score in percent) at each evaluation on English dev.
        chosen_step: The step whose weights were kept.
        memory_halvings: How often the micro-batch was halved because memory ran out; steps stay the same.
        seconds: Wall time.
        dev_chance: Dev score of always giving the most frequent label, in percent, where there is a dev split.
        degenerate: Whether the chosen step's dev score is within two standard errors of that.
    """

    steps: int
    windows: int
    warmup_steps: int
    effective_batch: int
    losses: tuple[float, ...]
    dev_scores: tuple[tuple[int, float], ...]
    chosen_step: int
    memory_halvings: int
    seconds: float
    dev_chance: float | None = None
    degenerate: bool = False


def train(
    model: Any,
    encoding: Encoding,
    settings: Settings,
    seed: int,
    device: Device,
    evaluate: Callable[[Any], float] | None,
    progress: Progress,
) -> TrainingReport:
    """Fine-tune a model in place.

    AdamW with linear warm-up and decay and gradient clipping. Every epoch passes the windows in a random order, as
    the official scripts do, or with ``group_by_length`` in steps of like lengths. A step is then split by length into
    micro-batches by the device's token budget without changing its gradient.

    Args:
        model: A model with the task's head.
        encoding: The training set.
        settings: Hyperparameters.
        seed: Decides order and dropout.
        device: Where it runs.
        evaluate: Score of the model on English dev, in percent; the best step's weights are kept. Without it
            the last step's are.
        progress: Told of steps done.

    Raises:
        DivergenceError: Loss, gradients or weights are no longer finite.
        InputError: The training set is empty, or memory does not suffice for the smallest micro-batch.
    """
    began = time.monotonic()
    if not len(encoding):
        raise InputError("the training set is empty", mend="raise --limit-train")
    if device.name == "cpu":
        keep_freed_memory()  # else each step's gradients are mapped and cleared anew
    # Accelerate keeps the first format and device of a process and refuses others; a second training may differ.
    AcceleratorState._reset_state(reset_partial_state=True)
    group = own_group(device.torch)
    if group.index:
        torch.manual_seed(seed + 1_000_003 * group.index)  # dropout of its own
    accelerator = Accelerator(
        mixed_precision="bf16" if device.dtype == "bfloat16" else "no", cpu=device.name == "cpu"
    )
    steps_per_epoch = math.ceil(len(encoding) / settings.batch_size)
    total = max(1, round(settings.epochs * steps_per_epoch))
    optimizer = torch.optim.AdamW(
        _parameter_groups(model, settings.weight_decay),
        lr=settings.learning_rate,
        betas=(settings.adam_beta1, settings.adam_beta2),
        eps=settings.adam_epsilon,
        fused=True,  # one pass over the weights: a sixth of the time of the plain loop on a CPU
    )
    warmup = settings.warmup_steps + round(settings.warmup_ratio * total)
    # A short training would end before its peak rate; the report holds what was used.
    warmup = min(warmup, total // 2)
    schedule = get_linear_schedule_with_warmup(optimizer, warmup, total)
    # Processes add their gradients below: parts of a step differ in size, and accelerate's wrapper would average them.
    model = accelerator.prepare_model(model, evaluation_mode=group.number > 1)
    optimizer = accelerator.prepare(optimizer)
    every = settings.evaluate_every or steps_per_epoch
    best: tuple[float, int, dict[str, torch.Tensor] | None] = (-math.inf, total, None)
    losses, scores, halvings = [], [], 0
    model.train()
    progress.start(total)
    steps = _steps(encoding.lengths, settings, total, seed)
    for step, rows in enumerate(steps, 1):
        attempt = partial(_step, model, encoding, rows, group, accelerator)
        loss, halved = with_less_memory(device, attempt)
        loss = group.total(loss)
        group.add_gradients(model.parameters())
        for _ in range(halved):
            device, halvings = smaller(device), halvings + 1
        losses.append(loss)
        norm = accelerator.clip_grad_norm_(model.parameters(), settings.max_grad_norm)
        for what, value in (("loss", loss), ("gradient's norm", float(norm))):
            if not math.isfinite(value):
                raise _diverged(f"the {what} is {value} at step {step} of {total}", seed)
        optimizer.step()
        schedule.step()
        progress.advance(1)
        if step % every and step != total:
            continue
        if not all(bool(p.isfinite().all()) for p in model.parameters()):
            raise _diverged(f"weights are not finite after step {step} of {total}", seed)
        if evaluate is not None:
            score = group.of_first(evaluate(model) if group.index == 0 else 0.0)
            scores.append((step, score))
            if score > best[0]:
                best = (score, step, None if step == total else _copy(model))
            model.train()
    if best[2] is not None:
        model.load_state_dict(best[2])
    model.eval()
    accelerator.free_memory()
    tenths = np.array_split(np.array(losses), min(10, len(losses)))
    return TrainingReport(
        steps=total,
        windows=len(encoding),
        warmup_steps=warmup,
        effective_batch=settings.batch_size,
        losses=tuple(float(part.mean()) for part in tenths),
        dev_scores=tuple(scores),
        chosen_step=best[1],
        memory_halvings=halvings,
        seconds=time.monotonic() - began,
    )


def _step(
    model: Any,
    encoding: Encoding,
    rows: IndexArray,
    group: Group,
    accelerator: Accelerator,
    device: Device,
) -> float:
    """Accumulate this process' part of the gradient of one step's mean loss; return its part of that loss."""
    model.zero_grad()
    count = max(decisions(encoding, rows), 1)
    total = 0.0
    own = rows[group.index :: group.number]
    padding = device.tokens // PADDING_SHARE
    for micro in length_batches(encoding.lengths, device.tokens, own, padding):
        inputs = collate(encoding, micro, int(model.config.pad_token_id or 0), device.torch)
        with accelerator.autocast():
            loss = summed_loss(model, encoding, micro, inputs) / count
        accelerator.backward(loss)
        total += float(loss.detach())
    return total


def _diverged(what: str, seed: int) -> DivergenceError:
    mend = "lower the learning rate with --set learning_rate=..."
    return DivergenceError(what, where=f"seed {seed}", mend=mend)


def _steps(lengths: IndexArray, settings: Settings, total: int, seed: int) -> Iterator[IndexArray]:
    """Yield the windows of each of ``total`` steps, epoch after epoch.

    Grouping by length is a choice of the recipe and no mere matter of speed: in tagging a step is a mean over words, so
    that words of long sentences come to weigh less. 125 steps of 32 sentences with an encoder of two million parameters
    end 3 points lower in English POS than random ones (``scripts/bench_finetuning.py``).
    """
    size = settings.batch_size
    pool = size * STEPS_PER_POOL
    done, epoch = 0, 0
    while done < total:
        random = np.random.default_rng([seed, epoch])
        order = random.permutation(len(lengths))
        steps: Sequence[IndexArray] = _cut(order, size)
        if settings.group_by_length:
            pools = (part[np.argsort(lengths[part], kind="stable")] for part in _cut(order, pool))
            steps = [step for part in pools for step in _cut(part, size)]
            steps = [steps[index] for index in random.permutation(len(steps))]
        for step in steps[: total - done]:
            yield step
            done += 1
        epoch += 1


def _cut(rows: IndexArray, size: int) -> list[IndexArray]:
    return [rows[at : at + size] for at in range(0, len(rows), size)]


def _parameter_groups(model: Any, weight_decay: float) -> list[dict[str, Any]]:
    """Split parameters into those with weight decay and those without: biases and norms have one dimension."""
    trained = [p for p in model.parameters() if p.requires_grad]
    return [
        {"params": [p for p in trained if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in trained if p.ndim <= 1], "weight_decay": 0.0},
    ]


def _copy(model: Any) -> dict[str, torch.Tensor]:
    return {name: deepcopy(t.detach()).cpu() for name, t in model.state_dict().items()}
