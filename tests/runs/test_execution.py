"""Options of the execution, the folder's locks, and the table of units."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from xharness.errors import InputError
from xharness.runs.execution import Execution, Gathered
from xharness.runs.run_folder import RunFolder
from xharness.runs.schedule import Shard
from xharness.runs.unit_states import Outcome, UnitsDisplay, UnitState, table_of


def test_options_are_read() -> None:
    assert Execution.checked().in_process
    assert not Execution.checked(workers=1).in_process
    assert Execution.checked(shard="2/3").shard == Shard(2, 3)
    ray = Execution.checked(executor="ray", unit_cpus=4, store="s3://bucket/run")
    assert (ray.address, ray.unit_cpus, ray.store) == ("auto", 4, "s3://bucket/run")
    assert not ray.in_process


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"executor": "slurm"}, "--executor: unknown executor 'slurm' .local or ray."),
        ({"workers": 0}, "--workers: 0 workers"),
        ({"workers": 2, "executor": "ray"}, "--workers: goes with --executor local"),
        ({"shard": "1/2", "executor": "ray"}, "--shard: goes with --executor local"),
        ({"shard": "3/2"}, "--shard: '3/2': shards count from 1 to 2"),
        ({"address": "host:1"}, "--address: goes with --executor ray"),
        ({"store": "s3://x"}, "--store: goes with --executor ray"),
        ({"unit_cpus": 2}, "--unit-cpus: goes with --executor ray"),
        ({"executor": "ray", "unit_cpus": 0}, "--unit-cpus: 0 CPUs"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Execution.checked(**options)


def test_shards_work_side_by_side_and_the_same_one_does_not(tmp_path: Path) -> None:
    folder, other = RunFolder(tmp_path), RunFolder(tmp_path)
    with folder.taken("1/2"):
        with other.taken("2/2"):
            pass
        with (
            pytest.raises(InputError, match="another run of shard 1/2 works in this folder"),
            other.taken("1/2"),
        ):
            pass
    with other.taken("1/2"):
        pass


def test_a_plan_is_written_once_and_compared_from_then_on(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.check_plan({"limit": 5, "seeds": (1, 2)})
    folder.check_plan({"limit": 5, "seeds": (1, 2)})
    with pytest.raises(InputError, match="holds another plan: limit was 5, is 6"):
        folder.check_plan({"limit": 6, "seeds": (1, 2)})
    (tmp_path / "plan.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"plan\.json: not readable"):
        folder.check_plan({"limit": 5})


def states() -> dict[str, UnitState]:
    waiting = UnitState(stages=4)
    running = waiting.begun("host a", 1).after({"stage": "predict", "total": 200, "done": 50})
    return {
        "done": running.after_try(Outcome("done"), again=False),
        "waits": waiting,
        "runs": running.after({"finished": True}),
        "failed": running.after_try(Outcome("crashed", "exit code 1", "/log"), again=False),
    }


def test_the_table_shows_what_runs_first() -> None:
    text = StringIO()
    Console(file=text, width=150).print(table_of(states()))
    lines = text.getvalue().splitlines()
    assert "1 running, 1 failed, 1 waiting, 1 done" in lines[0]
    assert [line.split()[0] for line in lines[2:]] == ["runs", "failed", "waits", "done"]
    assert "25%" in lines[2]
    assert "1/4" in lines[2]
    assert "exit code 1" in lines[3]


def test_a_long_table_counts_what_it_leaves_out() -> None:
    text = StringIO()
    Console(file=text, width=150).print(table_of({f"u{n}": UnitState() for n in range(50)}, 10))
    assert text.getvalue().count("waiting") == 11  # ten rows and the title
    assert "and 40 more" in text.getvalue()


def test_a_log_has_one_line_for_each_change() -> None:
    text = StringIO()
    first = states()
    with UnitsDisplay(Console(file=text, width=200)) as display:
        display.show(first)
        display.show(first)
        again = first["runs"].after_try(Outcome("crashed", "exit code 9", "/l"), again=True)
        display.show({**first, "runs": again})
        display.show({**first, "runs": again.begun("host b", 2)})
    lines = text.getvalue().splitlines()
    assert lines == [
        "[2/4] done: done in 0:00:00",
        "[2/4] runs: begun on host a",
        "[2/4] failed: given up: exit code 1; log: /log",
        "[2/4] runs: failed (exit code 9), will be tried again; log: /l",
        "[2/4] runs: begun on host b, try 2 (exit code 9)",
    ]


def test_what_is_not_there_is_named() -> None:
    failed = states()["failed"]
    lines = Gathered((), {"xnli_seed-1": failed}, ("panx_seed-1",)).lines()
    assert lines == [
        "unit xnli_seed-1 was given up after 1 try: exit code 1; log: /log",
        "of other shards, not done yet: panx_seed-1",
        "what is done is kept; no tables before all units are there",
    ]
    assert Gathered((Path("x"),), {}, ()).lines() == []
