"""The optimizer of pre-training, its rate, and its state by the names of the weights."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.optim import AdamW

from xharness.pretraining.config import PretrainingConfig


def build_optimizer(model: nn.Module, config: PretrainingConfig) -> AdamW:
    """Return AdamW over the weights that are trained, with decay for matrices alone."""
    trained = [p for p in model.parameters() if p.requires_grad]
    return AdamW(
        [
            {
                "params": [p for p in trained if p.ndim > 1],
                "weight_decay": config.weight_decay,
            },
            {"params": [p for p in trained if p.ndim <= 1], "weight_decay": 0.0},
        ],
        lr=config.learning_rate,
        betas=(config.adam_beta1, config.adam_beta2),
        eps=config.adam_epsilon,
        fused=True,
    )


def learning_rate(config: PretrainingConfig, step: int) -> float:
    """Return the rate of a step, counted from 0: up from 0 in a line, then down to 0 after the last step.

    The rule of transformers' ``get_linear_schedule_with_warmup``, by which the very first step of a warm-up has
    the rate 0.
    """
    if step < config.warmup_steps:
        return config.learning_rate * (step / config.warmup_steps)
    return config.learning_rate * (
        (config.steps - step) / max(1, config.steps - config.warmup_steps)
    )


def named_state(model: nn.Module, optimizer: AdamW) -> dict[str, Tensor]:
    """Return the optimizer's state, ``<weight>/<part>`` by tensor."""
    return {
        f"{name}/{part}": value
        for name, parameter in model.named_parameters()
        for part, value in optimizer.state.get(parameter, {}).items()
    }


@torch.no_grad()
def restore_state(model: nn.Module, optimizer: AdamW, state: Mapping[str, Tensor]) -> None:
    """Put a named state back; the tensors are copied, since read ones may still lie in their file."""
    parameters = dict(model.named_parameters())
    for name, value in state.items():
        parameter_name, _, part = name.rpartition("/")
        parameter = parameters[parameter_name]
        # Fused AdamW counts steps where the weight lies.
        own = torch.empty_like(value, device=parameter.device)
        optimizer.state[parameter][part] = own.copy_(value)
