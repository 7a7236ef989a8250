"""Batches side by side on a CPU: each core computes its own instead of all sharing one, and waits for no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

from xharness.inference.device import Device

T = TypeVar("T")

#: Batches for each stream at least: with fewer, streams without one would wait for the others at the end.
BATCHES_PER_STREAM = 4


def stream_count(device: Device, batches: int) -> int:
    """Return how many batches are computed side by side: one on other devices than a CPU."""
    if device.name != "cpu":
        return 1
    return max(1, min(torch.get_num_threads(), batches // BATCHES_PER_STREAM))


def each_batch(device: Device, batches: Sequence[T], work: Callable[[T], None]) -> Iterator[T]:
    """Do some work on every batch; yield each, in order, when it is done.

    The work runs without gradients, in threads of its own, so it may write to nothing but its batch's part of a result.
    A batch's result depends on neither the other batches nor on how many run at a time, but for rounding.

    Args:
        device: Where the work runs.
        batches: What to work on.
        work: Does it for one.
    """

    def done(batch: T) -> T:
        with torch.inference_mode():  # holds for the thread that enters it
            work(batch)
        return batch

    streams = stream_count(device, len(batches))
    if streams == 1:
        yield from map(done, batches)
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(threads // streams)  # for the threads to come
    try:
        with ThreadPoolExecutor(streams) as pool:
            yield from pool.map(done, batches)
    finally:
        torch.set_num_threads(threads)
