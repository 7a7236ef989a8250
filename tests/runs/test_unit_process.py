"""A unit's process: results through a store, refusals, and no unit that works for nobody."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

from tests.small_run import command
from xharness.data.sources import DataSource
from xharness.errors import InputError
from xharness.inference.device import Device
from xharness.models.adapter import ModelAdapter, open_model
from xharness.records.store import read_record
from xharness.runs.jobs import Place, UnitJob
from xharness.runs.launch import UnitProcess
from xharness.runs.plan import Plan
from xharness.runs.planning import make_plan
from xharness.runs.runner import Runner
from xharness.runs.store import Store
from xharness.runs.unit_process import EventDisplay, carry_out
from xharness.sample import CHECKPOINT

CPU = Device("cpu", "float32", 1024)


class Parts:
    """What a driver has in hand."""

    def __init__(self, output: Path, store: str | None = None):
        run = command(output, suite=None, tasks=("sample_nli",), languages="en,de")
        benchmark = run._benchmark()
        self.place = Place("sample", "sample", "cpu", "float32", None, str(output), store)
        self.source: DataSource = self.place.open_source()
        self.model: ModelAdapter = open_model(str(CHECKPOINT), CPU)
        options = run._options(benchmark)
        self.plan: Plan = make_plan(benchmark, self.model.describe(), self.source, options)
        self.job = UnitJob.of(self.plan.units()[0], self.plan, self.place)

    def runner(self, folder: Path) -> Runner:
        return Runner(self.plan, self.model, self.source, CPU, folder)


def events(text: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.getvalue().splitlines()]


@pytest.mark.parametrize("protocol", ["memory", "file"])
def test_results_go_through_a_store_and_a_second_machine_takes_them_up(
    tmp_path: Path, protocol: str
) -> None:
    url = f"memory://{uuid4()}" if protocol == "memory" else f"file://{tmp_path}/store"
    parts = Parts(tmp_path / "driver", url)
    told = io.StringIO()
    carry_out(parts.job, tmp_path / "one", EventDisplay(told))
    finished = [event for event in events(told) if event.get("finished")]
    assert len(finished) == len(parts.job.unit.stages()) == 4
    # A machine that has nothing fetches all, checkpoint included, and does nothing again.
    carry_out(parts.job, tmp_path / "two", EventDisplay(io.StringIO()))
    for name in ("receipts", "predictions", "checkpoints"):
        files = [p for p in (tmp_path / "one" / name).rglob("*") if p.is_file()]
        assert files
        for path in files:
            there = tmp_path / "two" / path.relative_to(tmp_path / "one")
            assert there.read_bytes() == path.read_bytes()
    # The driver fetches all but the checkpoint and ends with the same record.
    driver = tmp_path / "driver"
    Store(url).fetch_unit(driver, parts.job.unit, checkpoints=False)
    assert not (driver / "checkpoints").exists()
    records = parts.runner(driver).gather(parts.job.unit)
    assert records is not None
    (record,) = [read_record(path) for path in records]
    sent = read_record(tmp_path / "one" / "records" / "sample_nli-seed-1.json")
    assert record.content_sha256 == sent.content_sha256
    assert record.score == sent.score


def test_half_a_transfer_is_fetched_again(tmp_path: Path) -> None:
    url = f"memory://{uuid4()}"
    parts = Parts(tmp_path / "driver", url)
    carry_out(parts.job, tmp_path / "one", EventDisplay(io.StringIO()))
    store, name = Store(url), "predictions/seed-1/sample_nli/test-de.tsv"
    path = tmp_path / "driver" / name
    path.parent.mkdir(parents=True)
    path.write_text("half", encoding="utf-8")
    store.fetch_unit(tmp_path / "driver", parts.job.unit, checkpoints=False)
    assert path.read_bytes() == (tmp_path / "one" / name).read_bytes()
    # One that is harmed in the store itself is a stage that is not done.
    path.write_text("half", encoding="utf-8")
    store.send(tmp_path / "driver", [name])
    store.fetch_unit(tmp_path / "driver", parts.job.unit, checkpoints=False)
    assert parts.runner(tmp_path / "driver").gather(parts.job.unit) is None


def test_a_store_is_not_trusted_with_paths(tmp_path: Path) -> None:
    store = Store(f"memory://{uuid4()}")
    for name in ("../outside", "/etc/passwd", "a/../../b"):
        with pytest.raises(InputError, match="leads out of the folder"):
            store.fetch(tmp_path, [name])


@pytest.mark.parametrize("url", ["nothing://x", "warp://bucket/run"])
def test_an_unknown_store_is_refused(url: str) -> None:
    with pytest.raises(InputError, match=f"{url}: cannot be opened"):
        Store(url)


def test_other_data_or_weights_than_the_plans_are_refused(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "run")
    model = replace(parts.plan.model, weights_sha256="0" * 64)
    job = replace(parts.job, plan=replace(parts.job.plan, model=model))
    with pytest.raises(InputError, match="the weights are not those that the plan was made with"):
        carry_out(job, tmp_path / "run", EventDisplay(io.StringIO()))
    (task,) = parts.job.plan.tasks
    changed = replace(task, train_fingerprint="another")
    job = replace(parts.job, plan=replace(parts.job.plan, tasks=(changed,)))
    with pytest.raises(InputError, match="the data of sample_nli train are not those"):
        carry_out(job, tmp_path / "run", EventDisplay(io.StringIO()))


def test_a_unit_that_another_process_works_on_is_refused(tmp_path: Path) -> None:
    from xharness.runs.run_folder import RunFolder

    parts = Parts(tmp_path / "run")
    name = parts.job.name
    with (
        RunFolder(tmp_path / "run").unit_taken(name, 0),
        pytest.raises(InputError, match=f"another run works on {name}"),
    ):
        parts.runner(tmp_path / "run").run_unit(parts.job.unit, EventDisplay(io.StringIO()))


def test_a_job_of_another_version_is_refused() -> None:
    with pytest.raises(InputError, match="no job of this version"):
        UnitJob.from_json('{"name": "x"}')


def test_a_refusal_is_one_line_and_no_trace(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "run")
    place = replace(parts.place, data=str(tmp_path / "nowhere"))
    outcome = UnitProcess(replace(parts.job, place=place), {}).run(1, lambda event: None)
    assert outcome.kind == "refused"
    assert outcome.reason.startswith(f"{tmp_path / 'nowhere'}: no such data folder")
    log = Path(outcome.log).read_text(encoding="utf-8")
    assert log.startswith("-- try 1 on ")
    assert "Traceback" not in log


STARTER = """
import sys
from pathlib import Path
from xharness.runs.jobs import UnitJob
from xharness.runs.launch import UnitProcess
job = UnitJob.from_json(Path(sys.argv[1]).read_text())
UnitProcess(job, {}).run(1, lambda event: print(event, flush=True))
"""


@pytest.mark.slow
def test_a_unit_ends_with_whoever_started_it(tmp_path: Path) -> None:
    job = tmp_path / "job.json"
    job.write_text(Parts(tmp_path / "run").job.to_json(), encoding="utf-8")
    starter = subprocess.Popen([sys.executable, "-c", STARTER, str(job)], stdout=subprocess.PIPE)
    assert starter.stdout is not None
    assert b"fine-tune" in starter.stdout.readline()
    (unit,) = psutil.Process(starter.pid).children()
    os.kill(starter.pid, signal.SIGKILL)
    starter.wait()
    deadline = time.monotonic() + 10
    while unit.is_running() and unit.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.05)
