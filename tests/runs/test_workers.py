"""Several units side by side on one machine: order, retries, and the same records as in one process."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import psutil
import pytest
from rich.console import Console

from tests.runs.comparing_runs import one_thread, record_texts
from tests.small_run import command
from xharness.errors import InputError
from xharness.inference.device import Device
from xharness.models.adapter import open_model
from xharness.runs.execution import Execution
from xharness.runs.jobs import Place, UnitJob
from xharness.runs.planning import make_plan
from xharness.runs.unit_states import Outcome, UnitsDisplay, UnitState
from xharness.runs.workers import Slot, Workers, slots_of, visible_gpus
from xharness.sample import CHECKPOINT

DONE = Outcome("done")


def test_gpus_are_dealt_out_and_threads_divided() -> None:
    slots = slots_of(3, ["4", "7"], 16)
    assert [slot.environment["CUDA_VISIBLE_DEVICES"] for slot in slots] == ["4", "7", "4"]
    assert {slot.environment["OMP_NUM_THREADS"] for slot in slots} == {"5"}
    (slot,) = slots_of(1, [], 2)
    assert "CUDA_VISIBLE_DEVICES" not in slot.environment
    assert slots_of(4, [], 2)[0].environment["OMP_NUM_THREADS"] == "1"


def test_processes_that_train_together_get_a_gpu_each() -> None:
    slots = slots_of(2, ["0", "1", "2", "3"], 8, each=2)
    assert [slot.environment["CUDA_VISIBLE_DEVICES"] for slot in slots] == ["0,1", "2,3"]
    assert slots[1].name == "worker 2, GPU 2, 3"
    with pytest.raises(InputError, match="3 processes need as many GPUs, and 2 are here"):
        slots_of(1, ["0", "1"], 8, each=3)


def test_gpus_keep_the_names_that_this_process_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b")
    assert visible_gpus(2) == ["GPU-a", "GPU-b"]
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert visible_gpus(2) == ["0", "1"]
    assert visible_gpus(0) == []


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, UnitJob]:
    """Jobs of the sample suite, in the order of the plan."""
    output = tmp_path_factory.mktemp("jobs")
    run = command(output)
    place = Place("sample", "sample", "cpu", "float32", None, str(output))
    benchmark = run._benchmark()
    model = open_model(str(CHECKPOINT), Device("cpu", "float32", 1024))
    plan = make_plan(benchmark, model.describe(), place.open_source(), run._options(benchmark))
    return {unit.name: UnitJob.of(unit, plan, place) for unit in plan.units()}


class Scripted:
    """Stands in for a unit's process where only the order is looked at; ends as it is told."""

    def __init__(self, script: Mapping[str, list[Outcome]]):
        self.script = {name: list(outcomes) for name, outcomes in script.items()}
        self.begun: list[tuple[str, int, str]] = []
        self._lock = threading.Lock()

    def __call__(self, job: UnitJob, environment: Mapping[str, str]) -> Process:
        return Process(self, job.name, environment)

    def begin(self, name: str, attempt: int, where: str) -> Outcome:
        with self._lock:
            self.begun.append((name, attempt, where))
            return self.script.get(name, [DONE]).pop(0) if self.script.get(name) else DONE


class Process:
    def __init__(self, to: Scripted, name: str, environment: Mapping[str, str]):
        self._to, self._name, self._where = to, name, environment["SLOT"]

    def run(self, attempt: int, on_event: Callable[[dict[str, Any]], None]) -> Outcome:
        on_event({"stage": "predict", "total": 2, "done": 1})
        return self._to.begin(self._name, attempt, self._where)

    def stop(self) -> None:
        raise AssertionError("nothing was interrupted")


def carried_out(
    jobs: Mapping[str, UnitJob], scripted: Scripted, workers: int
) -> tuple[dict[str, UnitState], str]:
    text = StringIO()
    slots = [Slot(f"worker {number}", {"SLOT": str(number)}) for number in range(workers)]
    with UnitsDisplay(Console(file=text, width=200)) as display:
        states = Workers(jobs, slots, scripted).run(display)
    return states, text.getvalue()


def test_units_begin_in_order_and_crashes_are_tried_again(jobs: dict[str, UnitJob]) -> None:
    first, second, third, *rest = jobs
    crash = Outcome("crashed", "killed by SIGKILL", "/logs/x")
    refusal = Outcome("refused", "no such file", "/logs/y")
    scripted = Scripted({first: [crash, DONE], second: [refusal], third: [crash] * 3})
    states, log = carried_out(jobs, scripted, 1)
    assert [(name, attempt) for name, attempt, _ in scripted.begun] == [
        (first, 1),
        (first, 2),
        (second, 1),
        (third, 1),
        (third, 2),
        (third, 3),
        *((name, 1) for name in rest),
    ]
    assert {name: state.status for name, state in states.items()} == {
        **dict.fromkeys(jobs, "done"),
        second: "failed",
        third: "failed",
    }
    assert (states[second].reason, states[second].tries) == ("no such file", 1)
    assert (states[third].log, states[third].tries) == ("/logs/x", 3)
    assert f"{second}: given up: no such file; log: /logs/y" in log
    assert f"[{len(jobs)}/{len(jobs)}]" in log


def test_every_worker_gets_its_own_share(jobs: dict[str, UnitJob]) -> None:
    states, _ = carried_out(jobs, scripted := Scripted({}), 3)
    assert all(state.status == "done" for state in states.values())
    assert sorted(name for name, _, _ in scripted.begun) == sorted(jobs)
    assert {where for _, _, where in scripted.begun} <= {"0", "1", "2"}


def test_a_job_survives_its_journey(jobs: dict[str, UnitJob]) -> None:
    for name, job in jobs.items():
        there = UnitJob.from_json(job.to_json())
        assert there == job
        assert there.unit == job.unit
        assert {plan.task.name for plan in there.plan.tasks} == {
            p.task.name for p in job.unit.plans
        }
        assert [stage.name for stage in there.unit.stages()] == [
            stage.name for stage in job.unit.stages()
        ]
        assert name == there.unit.name


SMALL: dict[str, object] = {"suite": None, "tasks": ("sample_nli", "sample_retrieval")}


def test_two_workers_leave_the_records_of_one_process(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xharness.runs.execution.usable_cpus", lambda: 2)
    output = tmp_path / "run"
    assert command(output, execution=Execution.checked(workers=2), **SMALL).execute() == 0
    apart = record_texts(output)
    assert set(apart) == {("sample_nli", 1), ("sample_retrieval", 1)}
    tables = capsys.readouterr().out
    output.rename(tmp_path / "apart")
    with one_thread():
        command(output, **SMALL).execute()
    assert record_texts(output) == apart
    assert capsys.readouterr().out == tables
    files = [
        str(path.relative_to(output)) for path in output.glob("predictions/**/*") if path.is_file()
    ]
    assert len(files) == 15
    for name in files:
        assert (output / name).read_bytes() == (tmp_path / "apart" / name).read_bytes()


@pytest.mark.slow
def test_shards_share_out_the_units_and_a_later_run_gathers_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "run"
    assert command(output, execution=Execution.checked(shard="1/2"), **SMALL).execute() == 0
    told = capsys.readouterr().err
    assert "of other shards, not done yet: sample_retrieval_seed-1" in told
    assert not (output / "leaderboard.md").exists()
    assert set(record_texts(output)) == {("sample_nli", 1)}
    assert command(output, execution=Execution.checked(shard="2/2"), **SMALL).execute() == 0
    assert (output / "leaderboard.md").is_file()
    before = {path: path.stat().st_mtime_ns for path in (output / "receipts").iterdir()}
    (output / "leaderboard.md").unlink()
    assert command(output, **SMALL).execute() == 0
    assert (output / "leaderboard.md").is_file()
    assert before == {path: path.stat().st_mtime_ns for path in (output / "receipts").iterdir()}


@pytest.mark.slow
def test_a_unit_that_crashes_thrice_is_named_and_the_others_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "run"
    # An error that no one foresaw, where a unit's process comes to write a checkpoint.
    (tmp_path / "sitecustomize.py").write_text(
        f"""\
import sys

def fail(event, arguments):
    if event == "os.mkdir" and str(arguments[0]).startswith({str(output / "checkpoints")!r}):
        raise RuntimeError("unforeseen")

if "xharness.runs.unit_process" in sys.orig_argv:
    sys.addaudithook(fail)
""",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    assert command(output, execution=Execution.checked(workers=1), **SMALL).execute() == 1
    told = capsys.readouterr().err
    (line,) = [line for line in told.splitlines() if line.startswith("unit ")]
    log = Path(line.rpartition("log: ")[2])
    assert "was given up after 3 tries: exit code 1" in line
    assert log.read_text(encoding="utf-8").count("-- try ") == 3
    assert log.read_text(encoding="utf-8").count("RuntimeError: unforeseen") == 3
    assert set(record_texts(output)) == {("sample_retrieval", 1)}
    assert not (output / "leaderboard.md").exists()
    (tmp_path / "sitecustomize.py").unlink()
    assert command(output, execution=Execution.checked(workers=1), **SMALL).execute() == 0
    assert set(record_texts(output)) == {("sample_nli", 1), ("sample_retrieval", 1)}


@pytest.mark.slow
def test_ctrl_c_stops_the_units(tmp_path: Path, jobs: dict[str, UnitJob]) -> None:
    class Interrupted(UnitsDisplay):
        def show(self, states: Mapping[str, UnitState]) -> None:
            if any(state.stage not in ("", "starting") for state in states.values()):
                raise KeyboardInterrupt

    slots = [Slot("worker", {"OMP_NUM_THREADS": "1"})]
    with pytest.raises(KeyboardInterrupt):
        Workers(jobs, slots).run(Interrupted(Console(file=StringIO())))
    children = psutil.Process().children(recursive=True)
    assert not [child for child in children if "xharness.runs.unit_process" in child.cmdline()]
