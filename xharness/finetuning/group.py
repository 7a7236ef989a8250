"""The processes that fine-tune one model together, each with its part of every step's windows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import distributed, nn


@dataclass(frozen=True)
class Group:
    """All processes of one training, seen from one of them.

    Attributes:
        number: How many there are.
        index: Which this one is; 0 evaluates, reports and writes.
        device: Where numbers must lie to be exchanged.
    """

    number: int
    index: int
    device: torch.device

    def total(self, value: float) -> float:
        """Return the sum of a number over the processes."""
        if self.number == 1:
            return value
        sum_ = torch.tensor(value, dtype=torch.float64, device=self.device)
        distributed.all_reduce(sum_)
        return float(sum_)

    def of_first(self, value: float) -> float:
        """Return the number that the first process has; those of the others are not looked at."""
        if self.number == 1:
            return value
        told = torch.tensor(value, dtype=torch.float64, device=self.device)
        distributed.broadcast(told, src=0)
        return float(told)

    def add_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Replace each process' gradients by their sum.

        A parameter that no process has a gradient of keeps none, so that the optimizer leaves it alone as it
        does in one process.
        """
        if self.number == 1:
            return
        trained = [one for one in parameters if one.requires_grad]
        known = torch.tensor([one.grad is not None for one in trained], device=self.device).long()
        distributed.all_reduce(known)
        pending = []
        for parameter, holders in zip(trained, known.tolist(), strict=True):
            if not holders:
                continue
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            pending.append(distributed.all_reduce(parameter.grad, async_op=True))
        for one in pending:
            one.wait()


def own_group(device: torch.device) -> Group:
    """Return the group that this process has joined; of itself alone where it has joined none."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return Group(1, 0, device)
    return Group(distributed.get_world_size(), distributed.get_rank(), device)
