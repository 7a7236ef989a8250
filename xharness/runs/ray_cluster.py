"""What runs on a Ray cluster: the coordinator of a run, and the task that carries out one unit.

The coordinator is a detached named actor beside the cluster's head. It starts the units and tries them again, so the
driver is only a viewer that may go and come back; it holds nothing that the run's folder does not show, so one
that was lost with its machine is started again empty. Nothing here raises: what goes wrong is part of a unit's state.
"""

from __future__ import annotations

import asyncio
import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError

import xharness
from xharness.errors import InputError
from xharness.runs.jobs import Place, UnitJob
from xharness.runs.launch import UnitProcess
from xharness.runs.schedule import TRIES
from xharness.runs.store import Store
from xharness.runs.unit_states import Outcome, UnitState

#: Ray's namespace of the coordinators.
NAMESPACE = "xharness"

#: Ray gives the machine of the cluster's head this resource; a sliver of it pins the coordinator there.
HEAD = {"node:__internal_head__": 0.001}

#: A unit whose machine was lost this often is given up: it may be what kills them.
LOSSES = 5

#: Seconds between two reports of a unit's progress.
REPORT_EVERY = 0.5


def node_name() -> str:
    """Return what people see of the machine that runs this."""
    return f"{socket.gethostname()} ({ray.get_runtime_context().get_node_id()[:8]})"


def fault_of_node(place: Place, plan_digest: str, version: str) -> str:
    """Return what the machine that runs this lacks to carry out a run's units; nothing where all is there.

    Args:
        place: Where the run reads and writes.
        plan_digest: Digest of ``plan.json`` in the run's folder, which tells a shared folder from one of the same name.
        version: The driver's version of xharness.
    """
    from xharness.data.lines import digest

    if xharness.__version__ != version:
        return f"has xharness {xharness.__version__}, the driver {version}"
    folder = place.data_folder
    if folder is not None and not folder.is_dir():
        return f"has no data folder {folder}"
    if place.model.startswith("/") and not Path(place.reference).exists():
        return f"has no checkpoint {place.reference}"
    if place.store is not None:
        try:
            Store(place.store)
        except InputError as error:
            return f"cannot use the store: {error}"
        return ""
    plan = Path(place.output) / "plan.json"
    if not plan.is_file() or digest(plan) != plan_digest:
        return f"does not share the output folder {place.output}"
    return ""


def carry_out(job_json: str, attempt: int, coordinator: Any) -> Outcome:
    """Carry out a unit on this machine; the body of the Ray task.

    Args:
        job_json: The unit's job.
        attempt: Which try it is.
        coordinator: Handle of the coordinator, told of the progress.

    Returns:
        How it ended.
    """
    job = UnitJob.from_json(job_json)
    state = UnitState(stages=len(job.unit.stages())).begun(node_name(), attempt)
    coordinator.report.remote(job.name, state)
    told = 0.0

    def on_event(event: dict[str, Any]) -> None:
        nonlocal state, told
        state = state.after(event)
        if time.monotonic() - told >= REPORT_EVERY:
            told = time.monotonic()
            coordinator.report.remote(job.name, state)

    try:
        outcome = UnitProcess(job, {}).run(attempt, on_event)
    except InputError as error:
        outcome = Outcome("refused", str(error))
    return outcome


class Coordinator:
    """Starts a run's units and keeps their states. All methods run in one thread, as coroutines.

    Args:
        resources: Options of each unit's Ray task: ``num_gpus`` and ``num_cpus``.
    """

    def __init__(self, resources: dict[str, float]):
        self._unit = ray.remote(carry_out).options(max_retries=0, **resources)
        self._states: dict[str, UnitState] = {}
        self._running: set[asyncio.Task[None]] = set()

    async def add(self, jobs: list[tuple[str, str]]) -> None:
        """Start units, in order, but for those that are known already.

        Args:
            jobs: Names and jobs.
        """
        for name, job in jobs:
            if name not in self._states:
                self._states[name] = UnitState(stages=len(UnitJob.from_json(job).unit.stages()))
                task = asyncio.create_task(self._see_through(name, job))
                self._running.add(task)
                task.add_done_callback(self._running.discard)

    async def report(self, name: str, state: UnitState) -> None:
        """Take a running unit's state; one of an earlier try comes too late."""
        old = self._states.get(name)
        if old is None or old.settled:
            return
        if state.tries == old.tries + (old.status == "waiting"):
            self._states[name] = state

    async def states(self) -> dict[str, UnitState]:
        """Return each unit's state."""
        return dict(self._states)

    async def _see_through(self, name: str, job: str) -> None:
        me = ray.get_runtime_context().current_actor
        failures = losses = 0
        while True:
            attempt = failures + losses + 1
            try:
                outcome = await self._unit.remote(job, attempt, me)
            except RayError as error:
                losses += 1
                reason = f"lost with its machine ({type(error).__name__})"
                outcome = Outcome("crashed", reason, self._states[name].log)
            else:
                failures += outcome.kind == "crashed"
            again = outcome.kind == "crashed" and failures < TRIES and losses < LOSSES
            # A task that was lost before it began reported nothing, and still was a try.
            state = replace(self._states[name], tries=attempt)
            self._states[name] = state.after_try(outcome, again=again)
            if not again:
                return
