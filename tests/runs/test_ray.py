"""Ray: a real cluster of two machines, of which one dies, seen by a driver that dies too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.runs.comparing_runs import one_thread, record_texts
from tests.small_run import command
from xharness.data.lines import digest
from xharness.errors import InputError
from xharness.runs.execution import Execution
from xharness.runs.jobs import Place

ray = pytest.importorskip("ray", reason="the extra xharness[ray] is not installed")

from tests.runs.ray_cluster import (  # noqa: E402
    STARTED_SECONDS,
    Machine,
    TwoMachines,
    texts,
    wait_for,
)
from xharness import __version__  # noqa: E402
from xharness.runs.ray_cluster import fault_of_node  # noqa: E402
from xharness.runs.ray_executor import _alive, _check_nodes, _connect  # noqa: E402

TASKS = ("sample_nli", "sample_retrieval")

#: Two units that train and one that does not; long enough that a machine can die in the middle of one.
CHANGES: dict[str, object] = {
    "suite": None,
    "tasks": TASKS,
    "seeds": "1,2",
    "limit": 20,
    "limit_train": 600,
    "overrides": ("epochs=2",),
}

PROGRAM = """
import sys
from pathlib import Path
from tests.runs.test_ray import CHANGES
from tests.small_run import command
from xharness.runs.execution import Execution
execution = Execution.checked(executor="ray", address=sys.argv[2])
sys.exit(command(Path(sys.argv[1]), execution=execution, **CHANGES).execute())
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[TwoMachines]:
    machines = TwoMachines()
    try:
        machines.add_machine()
        yield machines
    finally:
        machines.close()


def driver(output: Path, cluster: TwoMachines) -> subprocess.Popen[bytes]:
    with (output.parent / "driver.txt").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(output), cluster.address],
            cwd=Path(__file__).parents[2],
            stdout=log,
            stderr=log,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )


def killable(machine: Machine, output: Path) -> bool:
    """Whether the machine works on a unit that trains, and has begun to."""
    units = machine.unit_processes()
    begun = list(output.glob("checkpoints/*/.seed-*.partial"))
    return bool(units) and len(begun) == 2


@pytest.mark.slow
def test_a_machine_and_the_driver_die_and_the_records_are_those_of_a_local_run(
    cluster: TwoMachines, tmp_path: Path
) -> None:
    output = tmp_path / "run"
    first = driver(output, cluster)
    other = cluster.other
    assert other is not None
    wait_for("both machines train", lambda: killable(other, output), first, 300)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert cluster.head.unit_processes()
    assert other.unit_processes()
    other.pull_the_plug()
    second = driver(output, cluster)
    assert second.wait(timeout=600) == 0, (tmp_path / "driver.txt").read_text()
    logs = texts(output / "logs")
    tries = sorted(log.count("-- try ") for log in logs.values())
    # One training was on the machine that died; the other one went on without its driver and was not begun again.
    assert tries == [1, 1, 2], logs
    remote = record_texts(output)
    assert set(remote) == {("sample_nli", 1), ("sample_nli", 2), ("sample_retrieval", 1)}
    output.rename(tmp_path / "remote")
    with one_thread():
        command(output, **CHANGES).execute()
    assert remote == record_texts(output)
    assert (tmp_path / "remote/leaderboard.md").read_bytes() == (
        output / "leaderboard.md"
    ).read_bytes()


@pytest.mark.slow
def test_a_machine_without_the_data_is_named(cluster: TwoMachines, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("{}", encoding="utf-8")
    _connect(cluster.address)
    try:
        with pytest.raises(InputError, match=r"^machine .*: has no data folder .*nowhere"):
            _check_nodes(place(tmp_path, data="/nowhere"), {"num_cpus": 1, "num_gpus": 0})
    finally:
        ray.shutdown()


@pytest.mark.slow
def test_a_machine_that_dies_while_it_is_asked_is_no_fault(
    cluster: TwoMachines, tmp_path: Path
) -> None:
    (tmp_path / "plan.json").write_text("{}", encoding="utf-8")
    other = cluster.other
    if other is None or other.process.poll() is not None:  # it died in another test
        other = cluster.add_machine()
    _connect(cluster.address)
    try:
        deadline = time.monotonic() + STARTED_SECONDS
        while len(_alive()) < 2 and time.monotonic() < deadline:
            time.sleep(0.2)
        other.pull_the_plug()
        assert len(_alive()) == 2  # Ray has not noticed yet
        _check_nodes(place(tmp_path), {"num_cpus": 1, "num_gpus": 0})
        assert len(_alive()) == 1
    finally:
        ray.shutdown()


@pytest.mark.slow
def test_a_unit_that_fits_no_machine_is_refused(cluster: TwoMachines, tmp_path: Path) -> None:
    for changes, execution, message in (
        ({}, {"unit_cpus": 64}, "no machine of the cluster has 64 CPU .lower --unit-cpus"),
        ({"device": "cuda"}, {}, "no machine of the cluster has 1 CPU and 1 GPU"),
    ):
        chosen = Execution.checked(executor="ray", address=cluster.address, **execution)  # type: ignore[arg-type]
        small = {**CHANGES, "tasks": ("sample_retrieval",), **changes}
        with pytest.raises(InputError, match=message):
            command(tmp_path / "run", execution=chosen, **small).execute()


def place(folder: Path, **changes: str) -> Place:
    plain = Place("sample", "sample", "cpu", "float32", tokens=None, output=str(folder))
    return replace(plain, **changes)  # type: ignore[arg-type]


def test_a_machine_tells_what_it_lacks(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text("{}", encoding="utf-8")
    right = digest(plan)
    assert fault_of_node(place(tmp_path), right, __version__) == ""
    assert "has no data folder /nowhere" in fault_of_node(
        place(tmp_path, data="/nowhere"), right, __version__
    )
    assert "no checkpoint /nowhere" in fault_of_node(
        place(tmp_path, model="/nowhere"), right, __version__
    )
    assert "does not share the output folder" in fault_of_node(
        place(tmp_path), "another", __version__
    )
    assert "the driver 0.0.0" in fault_of_node(place(tmp_path), right, "0.0.0")
    assert "cannot use the store" in fault_of_node(
        place(tmp_path, store="nothing://x"), right, __version__
    )


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere", "127.0.0.1:x", "ray://127.0.0.1:1"])
def test_an_address_where_no_cluster_answers_is_refused(tmp_path: Path, address: str) -> None:
    execution = Execution.checked(executor="ray", address=address)
    with pytest.raises(InputError, match=f"--address {address}: no Ray cluster answers"):
        command(
            tmp_path / "run", suite=None, tasks=("sample_retrieval",), execution=execution
        ).execute()
    assert not (tmp_path / "run" / "records").exists()
