"""The executor of one machine: several units side by side, each in a process of its own."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from xharness.errors import InputError
from xharness.runs.jobs import UnitJob
from xharness.runs.launch import UnitProcess
from xharness.runs.schedule import UnitQueue
from xharness.runs.unit_states import Outcome, UnitsDisplay, UnitState

#: Seconds between two looks at the units.
LOOK_EVERY = 0.25


@dataclass(frozen=True)
class Slot:
    """A worker's share of the machine.

    Attributes:
        name: What the table calls it.
        environment: Variables that hold its processes to their share.
    """

    name: str
    environment: dict[str, str]


def slots_of(workers: int, gpus: Sequence[str], cpus: int, each: int = 1) -> list[Slot]:
    """Share out a machine: GPUs in turn, CPU threads evenly.

    Args:
        workers: Number of workers.
        gpus: The GPUs, as ``CUDA_VISIBLE_DEVICES`` names them; more workers than GPUs share them.
        cpus: CPUs that this process may use.
        each: GPUs of a worker, for the processes that fine-tune together in it.

    Raises:
        InputError: There are not so many GPUs.
    """
    if gpus and each > len(gpus):
        raise InputError(
            f"{each} processes need as many GPUs, and {len(gpus)} are here", where="--processes"
        )
    threads = str(max(1, cpus // workers))
    slots = []
    for number in range(workers):
        name = f"worker {number + 1}"
        environment = {
            "OMP_NUM_THREADS": threads,
            "MKL_NUM_THREADS": threads,
            "RAYON_NUM_THREADS": threads,
        }
        if gpus:
            own = [gpus[(number * each + one) % len(gpus)] for one in range(each)]
            environment["CUDA_VISIBLE_DEVICES"] = ",".join(own)
            name += f", GPU {', '.join(own)}"
        slots.append(Slot(name, environment))
    return slots


def usable_cpus() -> int:
    """Return how many CPUs this process may use: a batch system's share rather than the machine's all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def visible_gpus(count: int) -> list[str]:
    """Return the names of the GPUs that this process sees.

    Args:
        count: How many torch finds.
    """
    named = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name]
    return named[:count] if named else [str(number) for number in range(count)]


class Process(Protocol):
    """What a worker needs of ``UnitProcess``."""

    def run(self, attempt: int, on_event: Any) -> Outcome:
        """Run to the end."""
        ...

    def stop(self) -> None:
        """End it now."""
        ...


class StartProcess(Protocol):
    """What makes a process of a job: ``UnitProcess``."""

    def __call__(self, job: UnitJob, environment: Mapping[str, str]) -> Process:
        """Make it; ``run`` starts it."""
        ...


class Workers:
    """Carries out units with several workers of this machine.

    Args:
        jobs: The units' jobs by name, in the order in which they are started.
        slots: The workers.
        start: Makes the process of a job.
    """

    def __init__(
        self,
        jobs: Mapping[str, UnitJob],
        slots: Sequence[Slot],
        start: StartProcess = UnitProcess,
    ):
        self._jobs = jobs
        self._slots = slots
        self._start = start
        self._queue = UnitQueue(list(jobs))
        self._lock = threading.Lock()
        self._running: dict[str, Process] = {}
        self._states = {
            name: UnitState(stages=len(job.unit.stages())) for name, job in jobs.items()
        }
        self._broken: list[BaseException] = []

    def run(self, display: UnitsDisplay) -> dict[str, UnitState]:
        """Carry out all units; stop every process where this is interrupted.

        Returns:
            Each unit's last state: done or failed.
        """
        threads = [
            threading.Thread(target=self._work, args=(slot,), name=slot.name)
            for slot in self._slots[: len(self._jobs)]
        ]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads):
                for thread in threads:
                    thread.join(LOOK_EVERY / len(threads))
                with self._lock:
                    display.show(dict(self._states))
        finally:
            self._queue.close()
            with self._lock:
                running = list(self._running.values())
            for process in running:
                process.stop()
            for thread in threads:
                thread.join()
        if self._broken:
            raise self._broken[0]
        display.show(self._states)
        return dict(self._states)

    def _work(self, slot: Slot) -> None:
        try:
            while (name := self._queue.take()) is not None:
                self._carry_out(name, slot)
        except BaseException as error:
            self._broken.append(error)
            self._queue.close()

    def _carry_out(self, name: str, slot: Slot) -> None:
        def on_event(event: Mapping[str, Any]) -> None:
            with self._lock:
                self._states[name] = self._states[name].after(event)

        process = self._start(self._jobs[name], slot.environment)
        tries = self._queue.tries[name]
        with self._lock:
            self._running[name] = process
            self._states[name] = self._states[name].begun(slot.name, tries)
        outcome = process.run(tries, on_event)
        with self._lock:
            del self._running[name]
            again = self._queue.settle(name, again=outcome.kind == "crashed")
            self._states[name] = self._states[name].after_try(outcome, again=again)
