"""Several processes: the same curve as one, the main one alone writes, and all end together."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from torch.testing import assert_close

from tests.pretraining.tiny_run import (
    NO_DROPOUT,
    ROOT,
    Ended,
    Fault,
    Material,
    TinyRun,
    assert_same_run,
    material,
)
from xharness.pretraining.corpus import CorpusFiles
from xharness.pretraining.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def given(corpus: dict[str, CorpusFiles], vocabulary: Vocabulary) -> Material:
    return material(corpus, vocabulary)


@pytest.fixture(scope="module")
def alone(given: Material, tmp_path_factory: pytest.TempPathFactory) -> TinyRun:
    """One process, without dropout, which differs between devices; a batch at a time."""
    changes = {"encoder": NO_DROPOUT, "micro_batch_size": None}
    run = TinyRun(tmp_path_factory.mktemp("alone") / "run", given, changes)
    run.finish()
    return run


def assert_same_curve(run: TinyRun, other: TinyRun) -> None:
    lines, others = run.metrics(), other.metrics()
    assert [(line["kind"], line["step"]) for line in lines] == [
        (line["kind"], line["step"]) for line in others
    ]
    for line, theirs in zip(lines, others, strict=True):
        for key in ("loss", "mean_loss", "accuracy", "grad_norm", "learning_rate"):
            if key in line:
                assert line[key] == pytest.approx(theirs[key], abs=1e-4), (key, line["step"])
    assert_close(run.weights(), other.weights(), atol=1e-4, rtol=0)


def one_line(ended: list[Ended]) -> str:
    """Return the only line that the processes wrote; all ended with exit code 2."""
    assert [one.code for one in ended] == [2] * len(ended), ended
    lines = [line for one in ended for line in one.stderr.splitlines()]
    assert len(lines) == 1, lines
    return lines[0]


@pytest.fixture(scope="module")
def two(given: Material, tmp_path_factory: pytest.TempPathFactory) -> tuple[TinyRun, list[Ended]]:
    """Two processes, with dropout, and how they ended."""
    run = TinyRun(tmp_path_factory.mktemp("two") / "run", given)
    ended = run.pretrain(processes=2)
    assert [one.code for one in ended] == [0, 0], ended
    return run, ended


def test_micro_batches(tmp_path: Path, alone: TinyRun) -> None:
    run = TinyRun(tmp_path / "run", alone.material, alone.changes | {"micro_batch_size": 3})
    run.finish()
    assert_same_curve(run, alone)


def test_two_processes(tmp_path: Path, alone: TinyRun) -> None:
    """Four of the eight rows each, in micro-batches of three and one: the loss curve of one process."""
    run = TinyRun(tmp_path / "run", alone.material, alone.changes | {"micro_batch_size": 3})
    run.finish(processes=2)
    assert_same_curve(run, alone)


@pytest.mark.slow
def test_torchrun(tmp_path: Path, alone: TinyRun) -> None:
    """The same, started as users do; the main process alone tells of anything."""
    run = TinyRun(tmp_path / "run", alone.material, alone.changes | {"micro_batch_size": 3})
    run.write_config()
    command = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")

    def torchrun(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, "-m", "xharness", *run.arguments, *options],
            cwd=run.folder,
            env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )

    done = torchrun()
    assert done.returncode == 0, done.stderr
    assert_same_curve(run, alone)
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == [
        "step 5",
        "step 10",
        "step 12",
        "tiny",
    ]
    failed = torchrun("--set", "batch_size=7")
    assert (
        failed.returncode == 1
    )  # torchrun's own, which reports at length that its processes failed
    assert failed.stderr.count("xharness: batch_size: 2 processes do not divide") == 1


def test_resume_of_two(tmp_path: Path, given: Material, two: tuple[TinyRun, list[Ended]]) -> None:
    killed = TinyRun(tmp_path / "killed", given)
    ended = killed.pretrain(processes=2, faults=(Fault(".step-00000009", operation="os.mkdir"),))
    assert ended[0].code == -signal.SIGKILL
    assert ended[1].code == 2
    assert ended[1].stderr == ""
    assert killed.checkpoints() == ["step-00000003", "step-00000006"]
    killed.finish(processes=2)
    assert_same_run(two[0], killed)


@pytest.mark.slow
def test_two_go_on_where_one_stopped(tmp_path: Path, alone: TinyRun) -> None:
    run = TinyRun(tmp_path / "run", alone.material, alone.changes)
    run.pretrain(faults=(Fault(".step-00000006", operation="os.mkdir"),))
    assert run.checkpoints() == ["step-00000003"]
    run.finish(processes=2)
    assert_same_curve(run, alone)


def test_the_main_process_alone_writes(two: tuple[TinyRun, list[Ended]]) -> None:
    main, other = two[1]
    assert any("metrics.jsonl" in path for path in main.written)
    assert [path for path in other.written if path != os.devnull] == []
    assert other.stderr == ""


def test_batch_that_the_processes_do_not_divide(tmp_path: Path, given: Material) -> None:
    run = TinyRun(tmp_path / "run", given, {"batch_size": 7})
    line = one_line(run.pretrain(processes=2))
    assert line == "xharness: batch_size: 2 processes do not divide a batch of 7 rows"
    assert not run.output.exists()


def test_mistyped_key(tmp_path: Path, given: Material) -> None:
    run = TinyRun(tmp_path / "run", given, {"batchsize": 8})
    assert "unknown key, did you mean 'batch_size'?" in one_line(run.pretrain(processes=2))


def test_error_while_the_main_process_prepares(tmp_path: Path, given: Material) -> None:
    """The other one waits for it meanwhile."""
    text = tmp_path / "text"
    text.mkdir()
    (text / "en.txt").write_bytes(b"good\nbad \xff\n")
    own = Material(text, given.vocabulary, tmp_path / "prepared")
    run = TinyRun(tmp_path / "run", own, {"languages": ["en"]})
    line = one_line(run.pretrain(processes=2))
    assert f"{text / 'en.txt'}:2: byte 0xff is not UTF-8" in line


def test_error_of_the_other_process(tmp_path: Path, given: Material) -> None:
    """It tells of what the main one does not meet, here an index of shards that it cannot read."""
    run = TinyRun(tmp_path / "run", given)
    fault = Fault("shards/index.json", error=errno.EACCES, rank=1)
    ended = run.pretrain(processes=2, faults=(fault,))
    assert "Permission denied" in one_line(ended)
    assert ended[0].stderr == ""


def test_a_checkpoint_that_one_process_cannot_read(tmp_path: Path, given: Material) -> None:
    """It alone would go on from the one before."""
    run = TinyRun(tmp_path / "run", given)
    run.pretrain(faults=(Fault(".step-00000009"),))
    fault = Fault("step-00000006/state.json", error=errno.EACCES, rank=1)
    line = one_line(run.pretrain(processes=2, faults=(fault,)))
    assert "processes would go on from different steps: 6, 3" in line


def test_two_runs_in_one_folder(tmp_path: Path, given: Material) -> None:
    run = TinyRun(tmp_path / "run", given)
    run.folder.mkdir()
    with run.locked():
        assert "another pre-training works in this folder" in one_line(run.pretrain(processes=2))


def test_diverging(tmp_path: Path, given: Material) -> None:
    run = TinyRun(tmp_path / "run", given, {"learning_rate": 1e30})
    assert "the loss is" in one_line(run.pretrain(processes=2))


def test_full_disk(tmp_path: Path, given: Material) -> None:
    run = TinyRun(tmp_path / "run", given)
    line = one_line(run.pretrain(processes=2, file_limit=60_000))
    assert "checkpoints/step-00000003: cannot be written" in line


def test_other_process_killed(tmp_path: Path, given: Material) -> None:
    run = TinyRun(tmp_path / "run", given, {"steps": 2000, "checkpoint_every": 20})
    ended = run.pretrain(
        processes=2, signal_after_lines=(1, signal.SIGKILL, "output/metrics.jsonl", 45)
    )
    assert ended[1].code == -signal.SIGKILL
    assert ended[0].code == 2
    assert (
        ended[0].stderr.splitlines()[-1].startswith("xharness: torchrun: another process has ended")
    )
    assert run.checkpoints()
    assert run.pretrain(file_limit=30_000)[0].stderr.startswith("continues after step ")
