"""Optimizers of language models and their learning rates."""

from __future__ import annotations

from torch.optim import SGD, AdamW

from xharness.language_modelling.config import LanguageModelConfig
from xharness.language_modelling.model import LanguageModel


def build_optimizer(model: LanguageModel, config: LanguageModelConfig) -> SGD | AdamW:
    """Return the configuration's optimizer over the trained weights; AdamW's decay is for matrices alone."""
    trained = [parameter for _, parameter in model.trained_parameters()]
    if config.optimizer == "sgd":
        return SGD(trained, lr=config.learning_rate)
    return AdamW(
        [
            {
                "params": [p for p in trained if p.ndim > 1],
                "weight_decay": config.training.weight_decay,
            },
            {"params": [p for p in trained if p.ndim <= 1], "weight_decay": 0.0},
        ],
        lr=config.learning_rate,
        fused=True,
    )


def learning_rate(config: LanguageModelConfig, epoch: int, step: int, steps: int) -> float:
    """Return the rate of a step.

    Args:
        config: The configuration.
        epoch: From 1.
        step: Within the epoch, from 0.
        steps: Of an epoch.
    """
    training, peak = config.training, config.learning_rate
    if config.optimizer == "sgd":
        return peak * training.decay ** max(0, epoch - training.full_rate_epochs)
    done = (epoch - 1) * steps + step
    if done < training.warmup_steps:
        return peak * (done + 1) / training.warmup_steps
    total = training.epochs * steps
    return peak * (total - done) / max(1, total - training.warmup_steps)


def loss_divisor(config: LanguageModelConfig, targets: int) -> int:
    """Return by what a window's summed loss is divided: streams with SGD, so the rate of 1 is the paper's; or words."""
    return config.training.streams if config.optimizer == "sgd" else targets
