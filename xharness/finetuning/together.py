"""Starting the processes of a fine-tuning as ``torchrun`` starts them, and following them to their end."""

from __future__ import annotations

import logging
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.queues import Queue
from queue import Empty
from typing import Any, TypeVar

import torch
from torch import distributed
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from xharness.errors import InputError
from xharness.finetuning.training import DivergenceError
from xharness.inference.device import Device
from xharness.inference.progress import Progress, Silent
from xharness.orphans import end_with_parent

T = TypeVar("T")

#: How long a process waits for another, which may be evaluating.
PATIENCE = timedelta(days=1)

#: What of torch logs about processes that end.
_LAUNCHER = ("distributed.elastic.multiprocessing.api", "multiprocessing.spawn")

#: Exit code of a process whose message another one tells.
_TOLD = 2


@dataclass(frozen=True)
class _Told:
    """What a process tells the one that started it.

    Attributes:
        kind: ``start``, ``advance``, or ``failed``.
        count: Steps, for the first two.
        error: What, where and mend, for the last, and whether it is a divergence.
    """

    kind: str
    count: int = 0
    error: tuple[str, str | None, str | None, bool] | None = None


class _Telling:
    """Progress that is shown by the process that started this one."""

    def __init__(self, to: Queue[_Told]):
        self._to = to

    def start(self, total: int) -> None:
        """Begin to count towards ``total``."""
        self._to.put(_Told("start", total))

    def advance(self, count: int) -> None:
        """Count ``count`` more as done."""
        self._to.put(_Told("advance", count))


def train_together(
    work: Callable[..., T], arguments: tuple[Any, ...], device: Device, progress: Progress
) -> T:
    """Call ``work(*arguments, device, progress)`` in ``device.processes`` processes that have joined a group.

    Args:
        work: A function of a module, which each process imports.
        arguments: What it is given; it must be possible to send them to another process.
        device: What each process runs on; of GPUs each takes the one of its number.
        progress: Told of the first process' work.

    Returns:
        What the first process returned.

    Raises:
        InputError: As the first process that failed told it, or a process was ended from outside.
        RuntimeError: A process failed in another way, with its traceback.
    """
    queue: Queue[_Told] = multiprocessing.get_context("spawn").Queue()
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=device.processes,
        run_id=f"xharness-{os.getpid()}",
        rdzv_backend="c10d",
        rdzv_endpoint="127.0.0.1:0",
        max_restarts=0,
        start_method="spawn",
        monitor_interval=0.1,
    )
    failed: list[tuple[str, str | None, str | None, bool]] = []
    done = threading.Event()
    listener = threading.Thread(target=_listen, args=(queue, done, progress, failed))
    listener.start()
    try:
        with _silent_launcher():
            results = elastic_launch(config, _joined)(work, arguments, device, queue)
    except ChildFailedError as error:
        done.set()
        listener.join()
        if failed:
            what, where, mend, diverged = failed[0]
            kind = DivergenceError if diverged else InputError
            raise kind(what, where=where, mend=mend) from error
        rank, failure = error.get_first_failure()
        if failure.exitcode == 1:  # an exception, whose traceback is the message
            raise RuntimeError(f"process {rank}: {failure.message}") from error
        raise InputError(
            f"process {rank} of {device.processes} ended with exit code {failure.exitcode}",
            where="--processes",
            mend="if memory ran out, lower --tokens; the same command continues",
        ) from error
    finally:
        done.set()
        listener.join()
    first: T = results[0]
    return first


@contextmanager
def _silent_launcher() -> Iterator[None]:
    """Keep the launcher from logging what is told in one line here."""
    loggers = [logging.getLogger(f"torch.{name}") for name in _LAUNCHER]
    before = [one.level for one in loggers]
    try:
        for one in loggers:
            one.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for one, level in zip(loggers, before, strict=True):
            one.setLevel(level)


def _listen(
    queue: Queue[_Told],
    done: threading.Event,
    progress: Progress,
    failed: list[tuple[str, str | None, str | None, bool]],
) -> None:
    while True:
        ended = done.is_set()
        try:
            told = queue.get(timeout=0.1)
        except Empty:
            if ended:
                return
            continue
        if told.error is not None:
            failed.append(told.error)
        elif told.kind == "start":
            progress.start(told.count)
        else:
            progress.advance(told.count)


def _joined(
    work: Callable[..., T], arguments: tuple[Any, ...], device: Device, queue: Queue[_Told]
) -> T:
    """Join the group, work, part; tell of what went wrong."""
    end_with_parent()
    if device.name == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    elif device.name == "cpu":
        torch.set_num_threads(max(1, torch.get_num_threads() // device.processes))
    distributed.init_process_group("nccl" if device.name == "cuda" else "gloo", timeout=PATIENCE)
    progress = _Telling(queue) if distributed.get_rank() == 0 else Silent()
    try:
        result = work(*arguments, device, progress)
        distributed.barrier()
    except InputError as error:
        where = None if error.where is None else str(error.where)
        told = (error.what, where, error.mend, isinstance(error, DivergenceError))
        queue.put(_Told("failed", error=told))
        queue.close()
        queue.join_thread()
        raise SystemExit(_TOLD) from None
    distributed.destroy_process_group()
    return result
