"""The executor of a Ray cluster, seen from the driver."""

from __future__ import annotations

import hashlib
import logging
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

import xharness
from xharness.data.lines import digest
from xharness.errors import InputError
from xharness.runs.jobs import Place, UnitJob
from xharness.runs.ray_cluster import HEAD, NAMESPACE, Coordinator, fault_of_node
from xharness.runs.unit_states import UnitsDisplay, UnitState

#: Seconds between two looks at the coordinator.
LOOK_EVERY = 0.5

#: Seconds for a machine to say whether it has what the run needs.
CHECK_SECONDS = 120.0

#: Seconds for a connection to the cluster's head.
CONNECT_SECONDS = 5.0


@dataclass(frozen=True)
class Cluster:
    """A cluster to run on.

    Attributes:
        address: ``host:port`` of its head, ``auto``, or ``ray://host:port``.
        unit_cpus: CPUs of a unit, beside its GPU where it has one.
    """

    address: str
    unit_cpus: int = 1

    def run(
        self, jobs: Mapping[str, UnitJob], place: Place, display: UnitsDisplay
    ) -> dict[str, UnitState]:
        """Carry out units, or join those of an earlier driver that ended before them.

        Where this is interrupted (Ctrl-C), the units are stopped. A driver that is killed leaves them running.

        Args:
            jobs: The units' jobs by name, in the order in which they are started.
            place: Where the run reads and writes.
            display: Shows the units.

        Returns:
            Each unit's last state: done or failed.

        Raises:
            InputError: No cluster answers, none of its machines fits a unit, or one lacks what the run needs.
        """
        _connect(self.address)
        try:
            resources = self._resources(place)
            _check_nodes(place, resources)
            run = hashlib.sha256((place.store or place.output).encode()).hexdigest()[:16]
            coordinator = (
                ray.remote(Coordinator)
                .options(
                    name=f"run-{run}",
                    namespace=NAMESPACE,
                    lifetime="detached",
                    get_if_exists=True,
                    max_restarts=-1,
                    max_task_retries=-1,
                    num_cpus=0,
                    resources=HEAD,
                )
                .remote(resources)
            )
            try:
                states = _follow(coordinator, jobs, display)
            except RayError as error:
                raise InputError(
                    f"the cluster stopped answering: {type(error).__name__}",
                    where=self.address,
                    mend="the same command joins the units that still run",
                ) from error
            except BaseException:
                # Units end with the coordinator, and their processes with them.
                ray.kill(coordinator)
                raise
            ray.kill(coordinator)
            return states
        finally:
            ray.shutdown()

    def _resources(self, place: Place) -> dict[str, float]:
        """Return what a unit asks for: GPUs where it is to have them, one a process, and CPUs."""
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        gpus = place.device == "cuda" or (
            place.device == "auto" and any(node.get("GPU", 0) >= 1 for node in nodes)
        )
        wanted = {
            "num_cpus": float(self.unit_cpus),
            "num_gpus": float(place.processes if gpus else 0),
        }
        if not any(_fits(node, wanted) for node in nodes):
            what = f"{self.unit_cpus} CPU" + (f" and {place.processes} GPU" if gpus else "")
            raise InputError(
                f"no machine of the cluster has {what}",
                where=self.address,
                mend="lower --unit-cpus" if self.unit_cpus > 1 else "add machines, or --device cpu",
            )
        return wanted


def _fits(node: Mapping[str, float], wanted: Mapping[str, float]) -> bool:
    return node.get("CPU", 0) >= wanted["num_cpus"] and node.get("GPU", 0) >= wanted["num_gpus"]


def _connect(address: str) -> None:
    host, colon, port = address.removeprefix("ray://").rpartition(":")

    def refused(cause: object) -> InputError:
        return InputError(
            f"no Ray cluster answers: {' '.join(str(cause).split())}",
            where=f"--address {address}",
            mend="start one with 'ray start --head'; --address takes its host:port",
        )

    if address != "auto":
        if not colon or not port.isdecimal():
            raise refused("no host:port")
        # Ray itself would wait for long.
        try:
            socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
        except (OSError, OverflowError) as error:
            raise refused(error) from error
    try:
        ray.init(
            address=address,
            namespace=NAMESPACE,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise refused(error) from error


def _check_nodes(place: Place, resources: Mapping[str, float]) -> None:
    """Ask each machine that may get a unit whether it has what the run needs; one that dies meanwhile gets none."""
    plan = Path(place.output) / "plan.json"
    nodes = [n for n in ray.nodes() if n["Alive"] and _fits(n["Resources"], resources)]
    check = ray.remote(fault_of_node)
    asked = {
        check.options(
            num_cpus=0,
            max_retries=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
        ).remote(place, digest(plan), xharness.__version__): node
        for node in nodes
    }
    ray.wait(list(asked), num_returns=len(asked), timeout=CHECK_SECONDS)
    for reference, node in asked.items():
        where = f"machine {node['NodeManagerHostname']} ({node['NodeID'][:8]})"
        try:
            fault = ray.get(reference, timeout=0)
        except RayError as error:
            if node["NodeID"] not in _alive():
                continue
            raise InputError(
                f"cannot run xharness: {_cause(error)}",
                where=where,
                mend="install xharness there as here, or take it out of the cluster",
            ) from error
        if fault:
            raise InputError(
                fault, where=where, mend="put it there, or take the machine out of the cluster"
            )


def _alive() -> set[str]:
    """Return the ids of the machines that Ray holds to be alive."""
    return {node["NodeID"] for node in ray.nodes() if node["Alive"]}


def _cause(error: RayError) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _follow(
    coordinator: Any, jobs: Mapping[str, UnitJob], display: UnitsDisplay
) -> dict[str, UnitState]:
    while True:
        known: dict[str, UnitState] = ray.get(coordinator.states.remote())
        states = {name: known[name] for name in jobs if name in known}
        lacking = [(name, job.to_json()) for name, job in jobs.items() if name not in states]
        if lacking:
            # At the begin, and after a coordinator was lost with its machine.
            ray.get(coordinator.add.remote(lacking))
            continue
        display.show(states)
        if all(state.settled for state in states.values()):
            return states
        time.sleep(LOOK_EVERY)
