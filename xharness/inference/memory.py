"""Running out of memory: the token budget is halved and the work done again. The result stays the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import torch

from xharness.errors import InputError
from xharness.inference.device import Device

T = TypeVar("T")

#: Below this budget a micro-batch is a single window of most tasks, so halving helps no more.
SMALLEST_BUDGET = 32


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error says that the device or the machine has no memory left."""
    # torch raises a plain RuntimeError of these words where the CPU's allocator fails.
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        isinstance(error, RuntimeError) and "allocate memory" in str(error)
    )


def smaller(device: Device) -> Device:
    """Return the device with half the token budget.

    Raises:
        InputError: The budget is as small as it can be.
    """
    if device.tokens // 2 < SMALLEST_BUDGET:
        raise InputError(
            "out of memory with the smallest micro-batch",
            where=device.name,
            mend="use a smaller model, a shorter max_length or another --device",
        )
    if device.name == "cuda":
        torch.cuda.empty_cache()
    return replace(device, tokens=device.tokens // 2)


@contextmanager
def memory_told(device: Device) -> Iterator[None]:
    """Tell in one line of memory that runs out where smaller micro-batches are no help.

    Raises:
        InputError: There is no room for weights, gradients or optimizer state.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise InputError(
            "out of memory for the model itself",
            where=device.name,
            mend="use a smaller model or another --device",
        ) from error


def with_less_memory(device: Device, work: Callable[[Device], T]) -> tuple[T, int]:
    """Do a piece of work, again with half the budget whenever memory runs out.

    Returns:
        The result, and how often the budget was halved.
    """
    halvings = 0
    while True:
        try:
            return work(device), halvings
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            device = smaller(device)
            halvings += 1
