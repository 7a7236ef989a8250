"""The optimizer of a translation model and its rate."""

from __future__ import annotations

import math

from torch import nn
from torch.optim import AdamW

from xharness.translation.config import TrainingSettings


def build_optimizer(model: nn.Module, settings: TrainingSettings) -> AdamW:
    """Return AdamW over all weights, with decay for matrices alone."""
    weights = list(model.parameters())
    return AdamW(
        [
            {"params": [p for p in weights if p.ndim > 1], "weight_decay": settings.weight_decay},
            {"params": [p for p in weights if p.ndim <= 1], "weight_decay": 0.0},
        ],
        lr=settings.learning_rate,
        betas=(0.9, settings.adam_beta2),
        eps=1e-9,
        fused=True,
    )


def learning_rate(settings: TrainingSettings, step: int, steps: int) -> float:
    """Return the rate of a step, counted from 0, of ``steps`` in all.

    It rises in a line, the first step having one share of it, then falls as the schedule says: ``inverse-sqrt`` is
    Vaswani et al.'s (arXiv 1706.03762, section 5.3) with a peak of its own.
    """
    warmup = settings.warmup_steps
    if step < warmup:
        return settings.learning_rate * (step + 1) / warmup
    if settings.schedule == "inverse-sqrt":
        return settings.learning_rate * math.sqrt(max(1, warmup) / (step + 1))
    return settings.learning_rate * (steps - step) / max(1, steps - warmup)
