"""Carrying out a plan's units somewhere else than in this process, and gathering what they leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

import torch
from rich.console import Console

from xharness.errors import InputError
from xharness.runs.jobs import Place, UnitJob
from xharness.runs.plan import Plan
from xharness.runs.run_folder import RunFolder
from xharness.runs.runner import Runner
from xharness.runs.schedule import Shard, estimated_cost, longest_first
from xharness.runs.store import Store
from xharness.runs.unit_states import UnitsDisplay, UnitState
from xharness.runs.workers import Workers, slots_of, usable_cpus, visible_gpus


@dataclass(frozen=True)
class Execution:
    """How a plan is carried out; none of it changes a record but for the device that it names.

    Attributes:
        executor: ``local`` or ``ray``.
        workers: Processes side by side on this machine; without it units run in this process, but for a shard's.
        address: Address of the Ray cluster.
        unit_cpus: Ray: CPUs of a unit.
        shard: Which part of the units to run; all where absent.
        store: Ray: URL that results go through where the machines share no folder.
    """

    executor: Literal["local", "ray"] = "local"
    workers: int | None = None
    address: str | None = None
    unit_cpus: int = 1
    shard: Shard | None = None
    store: str | None = None

    @property
    def in_process(self) -> bool:
        """Whether the units run one after the other in this process."""
        return self.executor == "local" and self.workers is None and self.shard is None

    @classmethod
    def checked(
        cls,
        executor: str = "local",
        workers: int | None = None,
        address: str | None = None,
        unit_cpus: int = 1,
        shard: str | None = None,
        store: str | None = None,
    ) -> Execution:
        """Check options as typed.

        Raises:
            InputError: One is wrong, or does not go with another.
        """
        part = None if shard is None else Shard.parse(shard)
        if executor == "ray":
            if workers is not None:
                raise InputError("goes with --executor local", where="--workers")
            if part is not None:
                raise InputError(
                    "goes with --executor local", where="--shard", mend="Ray shares out the units"
                )
            if unit_cpus < 1:
                raise InputError(f"{unit_cpus} CPUs", where="--unit-cpus", mend="1 or more")
            return cls("ray", None, address or "auto", unit_cpus, None, store)
        if executor != "local":
            raise InputError(
                f"unknown executor {executor!r}", where="--executor", mend="local or ray"
            )
        for flag, value in (("--address", address), ("--store", store)):
            if value is not None:
                raise InputError("goes with --executor ray", where=flag)
        if unit_cpus != 1:
            raise InputError("goes with --executor ray", where="--unit-cpus")
        if workers is not None and workers < 1:
            raise InputError(f"{workers} workers", where="--workers", mend="1 or more")
        return cls("local", workers, None, 1, part, None)


#: One unit after the other in this process.
IN_PROCESS = Execution()


@dataclass(frozen=True)
class Gathered:
    """What a run's folder has after this part of the work.

    Attributes:
        records: Records of the units that are there, in the order of the plan.
        failed: Units that were given up.
        absent: Names of units that are not there and were not this part's to do.
    """

    records: tuple[Path, ...]
    failed: Mapping[str, UnitState]
    absent: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return what there is to say of units that are not there."""
        lines = [
            f"unit {name} was given up after {state.tries} "
            f"{'try' if state.tries == 1 else 'tries'}: {state.reason}; log: {state.log or '-'}"
            for name, state in self.failed.items()
        ]
        if self.absent:
            lines.append(f"of other shards, not done yet: {', '.join(self.absent)}")
        if lines:
            lines.append("what is done is kept; no tables before all units are there")
        return lines


def carry_out(
    plan: Plan, runner: Runner, place: Place, execution: Execution, console: Console
) -> Gathered:
    """Carry out the units that are not done yet, the longest first, and gather all that are.

    Args:
        plan: The plan.
        runner: A runner of it on the run's folder.
        place: Where the units read and write.
        execution: How.
        console: Where to show how far they are.

    Raises:
        InputError: Another run works in the folder, it holds another plan, or nothing can be carried out.
    """
    folder, place, shard = RunFolder(Path(place.output)), place.absolute(), execution.shard
    run_units = _executor(execution)
    units = {unit.name: unit for unit in plan.units()}
    costs = {name: estimated_cost(unit) for name, unit in units.items()}
    mine = frozenset(units) if shard is None else shard.of(costs)
    store = None if place.store is None else Store(place.store)
    records: dict[str, list[Path] | None] = {}

    def gather(name: str) -> None:
        if store is not None:
            store.fetch_unit(folder.root, units[name], checkpoints=False)
        records[name] = runner.gather(units[name])

    with folder.taken(None if shard is None else str(shard)):
        folder.check_plan(plan.identity())
        with console.status("looking for what is done"):
            for name in units:
                gather(name)
        todo = {
            name: UnitJob.of(units[name], plan, place)
            for name in longest_first(costs)
            if name in mine and records[name] is None
        }
        states: Mapping[str, UnitState] = {}
        if todo:
            with UnitsDisplay(console) as display:
                states = run_units(todo, place, display)
        for name in units:
            # Other shards may have got further meanwhile.
            if records[name] is None:
                gather(name)
            state = states.get(name)
            if state is not None and state.status == "done" and records[name] is None:
                raise InputError(
                    f"{name} was finished on {state.where}, and its files are not here",
                    where=folder.root,
                    mend="give a folder that all machines share, or --store URL",
                )
        whole = all(records[name] is not None for name in units)
        joint = runner.score_joint() if whole else []
        if store is not None:
            store.send(folder.root, [str(path.relative_to(folder.root)) for path in joint])
    found = [path for name in units for path in records[name] or ()] + joint
    failed = {name: state for name, state in states.items() if state.status == "failed"}
    absent = tuple(name for name in units if records[name] is None and name not in failed)
    return Gathered(tuple(found), failed, absent)


class _RunUnits(Protocol):
    """Carries out jobs in order and returns each unit's last state, done or failed."""

    def __call__(
        self, jobs: Mapping[str, UnitJob], place: Place, display: UnitsDisplay
    ) -> dict[str, UnitState]: ...


def _executor(execution: Execution) -> _RunUnits:
    if execution.executor == "local":
        return partial(_run_here, execution.workers or 1)
    try:
        from xharness.runs.ray_executor import Cluster
    except ImportError as error:
        raise InputError(
            f"needs the package ray: {error}",
            where="--executor ray",
            mend="pip install 'xharness[ray]'",
        ) from error
    return Cluster(execution.address or "auto", execution.unit_cpus).run


def _run_here(
    workers: int, jobs: Mapping[str, UnitJob], place: Place, display: UnitsDisplay
) -> dict[str, UnitState]:
    gpus: list[str] = []
    if place.device in ("auto", "cuda"):
        gpus = visible_gpus(torch.cuda.device_count())
    return Workers(jobs, slots_of(workers, gpus, usable_cpus(), place.processes)).run(display)
