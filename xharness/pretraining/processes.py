"""The processes of ``torchrun``: they join, and end together when one cannot go on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
from accelerate import PartialState
from torch import distributed

from xharness.errors import InputError
from xharness.inference.device import Device

#: How long a process waits for one that prepares text, which may take days; that it has ended is noticed at once.
_PATIENCE = timedelta(days=7)

#: Exit codes of a process whose message another one prints.
_UNUSABLE = 2
_INTERRUPTED = 130


@dataclass(frozen=True)
class Processes:
    """All processes of one pre-training, seen from one of them.

    Attributes:
        number: How many there are.
        index: Which this one is; 0 is the main process, which alone writes and reports.
    """

    number: int
    index: int
    _patient: Any  # a process group, whose type torch makes public only where it is built in

    @property
    def is_main(self) -> bool:
        """Whether this is the main process."""
        return self.index == 0

    @contextmanager
    def agreed(self) -> Iterator[None]:
        """Let no process leave this block unless all can: the first that cannot tells why, the others end silently.

        Inside, processes must not wait for each other.
        """
        error: InputError | None = None
        try:
            yield
        except InputError as found:
            if self.number == 1:
                raise
            error = found
        if self.number == 1:
            return
        failed = [torch.zeros(1, dtype=torch.long) for _ in range(self.number)]
        own = torch.tensor([int(error is not None)])
        distributed.all_gather(failed, own, group=self._patient)
        first = next((index for index, one in enumerate(failed) if one), None)
        if first is None:
            return
        if error is not None and first == self.index:
            raise error
        raise SystemExit(_UNUSABLE)

    def leave(self) -> None:
        """Wait for all, then part."""
        if self.number > 1:
            distributed.barrier(group=self._patient)
            distributed.destroy_process_group()


def join_processes(device: Device) -> Processes:
    """Join the processes of ``torchrun``, if it started this one."""
    state = PartialState(cpu=device.name == "cpu")
    number = int(state.num_processes)
    patient = distributed.new_group(backend="gloo", timeout=_PATIENCE) if number > 1 else None
    return Processes(number, int(state.process_index), patient)


@contextmanager
def one_voice() -> Iterator[None]:
    """Let the main process alone tell of an error that all processes meet in this block."""
    try:
        yield
    except InputError:
        if _rank() > 0:
            raise SystemExit(_UNUSABLE) from None
        raise


@contextmanager
def ending_together() -> Iterator[None]:
    """Let the main process alone tell that another has ended, and of Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        if _rank() > 0:
            raise SystemExit(_INTERRUPTED) from None
        raise
    except RuntimeError as error:
        if not _lost_another(error):
            raise
        if _rank() > 0:
            raise SystemExit(_UNUSABLE) from None
        raise InputError(
            "another process has ended", where="torchrun", mend="the same command continues"
        ) from error


def _lost_another(error: RuntimeError) -> bool:
    message = str(error)
    return any(words in message for words in ("closed by peer", "reset by peer", "Broken pipe"))


def _rank() -> int:
    """Return which process this is, also before they have joined."""
    return int(os.environ.get("RANK", "0"))
