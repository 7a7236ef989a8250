"""What goes wrong around a pre-training: one line, exit code 2, nothing lost, and the same command continues."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.pretraining.tiny_run import (
    Ended,
    Fault,
    Job,
    Material,
    TinyRun,
    assert_same_run,
    material,
    run_job,
)
from xharness.pretraining.checkpoints import found_checkpoints
from xharness.pretraining.corpus import CorpusFiles
from xharness.pretraining.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def given(corpus: dict[str, CorpusFiles], vocabulary: Vocabulary) -> Material:
    return material(corpus, vocabulary)


@pytest.fixture(scope="module")
def straight(given: Material, tmp_path_factory: pytest.TempPathFactory) -> TinyRun:
    """The run without mishaps."""
    run = TinyRun(tmp_path_factory.mktemp("straight") / "run", given)
    run.finish()
    return run


def error_line(ended: list[Ended]) -> str:
    """Return the last line; the process ended with exit code 2, without a traceback."""
    (one,) = ended
    lines = one.stderr.splitlines()
    assert one.code == 2, one
    assert lines[-1].startswith("xharness: ")
    assert sum(line.startswith("xharness: ") for line in lines) == 1
    assert "Traceback" not in one.stderr
    return lines[-1]


# -- wrong use: nothing is made ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        (
            {"batch_size": 0},
            (),
            "tiny.yaml:18: batch_size: Input should be greater than or equal to 1",
        ),
        (
            {"encoder": {"hiden_size": 3}},
            (),
            "tiny.yaml:15: encoder.hiden_size: unknown key, did you mean 'hidden_size'?",
        ),
        (
            {},
            ("--set", "encoder.hiden_size=3"),
            "--set encoder.hiden_size: encoder.hiden_size: unknown key, did you mean",
        ),
        ({}, ("--set", "batch_size"), "--set: 'batch_size' is not KEY=VALUE"),
        (
            {"sequence_length": 33},
            (),
            "sequence_length: 33 tokens exceed the encoder's max_position_embeddings of 32",
        ),
        (
            {"warmup_steps": 12},
            (),
            "warmup_steps: 12 steps of warm-up leave none of 12 for the decay",
        ),
        (
            {"encoder": {"num_attention_heads": 5}},
            (),
            "encoder.num_attention_heads: 5 heads do not divide a width of 32",
        ),
        ({"languages": ["en", "fr"]}, (), "no text for fr"),
        ({}, ("--text", "nowhere"), "nowhere: cannot be read: No such file or directory"),
        ({}, ("--device", "tpu"), "--device: unknown device 'tpu'"),
    ],
)
def test_wrong_use(
    tmp_path: Path, given: Material, changes: dict[str, Any], options: tuple[str, ...], message: str
) -> None:
    run = TinyRun(tmp_path / "run", given, changes, options)
    ended = run.pretrain()
    assert ended[0].stderr.count("\n") == 1
    assert message in error_line(ended)
    assert not run.output.exists()


def test_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "name: a\nsteps: 2\nencoder: {hidden_size: 8, num_hidden_layers: 1, num_attention_heads: 1}\n"
    )
    ended = run_job(Job(("pretrain", "a.yaml", "--output", "o"), tmp_path))
    assert error_line(ended) == "xharness: text: no text is named (give --text FOLDER)"


# -- unusable text and folders ----------------------------------------------------------------------------


def test_vocabulary_too_large_for_the_text(tmp_path: Path, given: Material) -> None:
    """The mend it names works, in the same folder."""
    own = Material(given.text, given.vocabulary, tmp_path / "prepared")
    vocabulary = {"path": None, "size": 30_000, "lines": 500}
    run = TinyRun(tmp_path / "run", own, {"vocabulary": vocabulary, "steps": 1, "warmup_steps": 0})
    line = error_line(run.pretrain())
    assert "the text is too small for 30000 pieces" in line
    most = int(line.partition("the largest possible vocabulary is ")[2].rstrip(")"))
    run.changes["vocabulary"]["size"] = most
    run.finish()


def test_output_that_cannot_be_written(tmp_path: Path, given: Material) -> None:
    run = TinyRun(tmp_path / "run", given)
    run.folder.mkdir()
    run.output.write_text("a file")
    assert error_line(run.pretrain()).startswith("xharness: output: cannot be written: File exists")


def test_folder_in_use(tmp_path: Path, given: Material) -> None:
    run = TinyRun(tmp_path / "run", given)
    run.folder.mkdir()
    with run.locked():
        assert "output: another pre-training works in this folder" in error_line(run.pretrain())


def test_another_configuration(tmp_path: Path, given: Material) -> None:
    """Refused once there is a checkpoint; before that, nothing is lost by it."""
    run = TinyRun(tmp_path / "run", given)
    run.pretrain(faults=(Fault(".step-00000003"),))
    run.changes = {"seed": 2, "encoder": {"intermediate_size": 40}}
    run.pretrain(faults=(Fault(".step-00000006"),))
    assert run.checkpoints()[-1] == "step-00000003"
    run.changes = {"seed": 2, "learning_rate": 0.02}
    line = error_line(run.pretrain())
    assert "begun with another configuration: encoder.intermediate_size, learning_rate" in line
    (run.output / "config.json").write_text("{")
    assert "config.json: cannot be read" in error_line(run.pretrain())


def test_text_that_has_changed(tmp_path: Path, given: Material) -> None:
    text = tmp_path / "text"
    text.mkdir()
    for path in given.text.iterdir():
        (text / path.name).write_bytes(path.read_bytes())
    own = Material(text, given.vocabulary, tmp_path / "prepared")
    run = TinyRun(tmp_path / "run", own)
    run.pretrain(faults=(Fault(".step-00000006"),))
    with (text / "zh.txt").open("a") as file:
        file.write("又一行\n")
    line = error_line(run.pretrain())
    assert "begun with another text or tokenizer: tokens.zh.train" in line


# -- divergence -------------------------------------------------------------------------------------------


def test_diverging_at_once(tmp_path: Path, given: Material) -> None:
    """The first step of warm-up has the rate 0, the second the full one, the third finds the ruins."""
    run = TinyRun(tmp_path / "run", given, {"learning_rate": 1e30, "warmup_steps": 1})
    line = error_line(run.pretrain())
    assert "tiny: step 3: the loss is" in line
    assert "lower learning_rate" in line
    assert not (run.output / "checkpoints").exists()


def test_the_last_checkpoint_is_a_good_one(tmp_path: Path, given: Material) -> None:
    """With a checkpoint at each step, that of the weights which the next step finds ruined is not written."""
    changes = {"learning_rate": 3e3, "warmup_steps": 11, "checkpoint_every": 1, "steps": 12}
    run = TinyRun(tmp_path / "run", given, changes)
    line = error_line(run.pretrain())
    ruined = int(line.partition("tiny: step ")[2].partition(":")[0])
    assert f"the checkpoint of step {ruined - 2} is kept" in line
    assert run.checkpoints()[-1] == f"step-{ruined - 2:08d}"
    assert [line["step"] for line in run.metrics()][-1] == ruined - 1
    assert error_line(run.pretrain()) == line


# -- damage and full disks --------------------------------------------------------------------------------


def test_damaged_checkpoint(tmp_path: Path, given: Material, straight: TinyRun) -> None:
    """The one before is taken, and the run ends as it would have."""
    run = TinyRun(tmp_path / "run", given)
    run.pretrain(faults=(Fault(".step-00000009"),))
    damaged = run.output / "checkpoints" / "step-00000006" / "optimizer.safetensors"
    os.truncate(damaged, damaged.stat().st_size // 2)
    (ended,) = run.pretrain()
    assert ended.code == 0
    assert "step-00000006 is damaged" in ended.stderr
    assert "continues after step 3 of 12" in ended.stderr
    assert_same_run(run, straight)


def test_failing_files(tmp_path: Path, given: Material, straight: TinyRun) -> None:
    """One thing after the other that is written fails; each time the run says so, and goes on from where it was."""
    run = TinyRun(tmp_path / "run", given)
    for number, name, operation, kept in (
        (errno.ENOSPC, "config.json", "open", 0),
        (errno.ENOSPC, "metrics.jsonl", "open", 0),
        (errno.ENOSPC, ".step-00000003", "os.mkdir", 0),
        (errno.ENOSPC, ".step-00000006.partial/.state.json", "open", 3),
        (errno.EIO, ".step-00000006.partial", "os.rename", 3),
        (errno.ENOSPC, "metrics.jsonl", "open", 3),
        (errno.ENOSPC, ".model.partial", "os.mkdir", 12),
        (errno.ENOSPC, "loss.svg", "open", 12),
        (errno.ENOSPC, "summary.json", "open", 12),
    ):
        fault = Fault(name, error=number, operation=operation)
        assert os.strerror(number) in error_line(run.pretrain(faults=(fault,))), fault
        found = found_checkpoints(run.output / "checkpoints")
        assert [path.name for path in found][-1:] == ([f"step-{kept:08d}"] if kept else []), fault
        assert not list(run.output.rglob(".*.partial")), fault
    run.finish()
    assert_same_run(run, straight)


def test_full_disk(tmp_path: Path, given: Material, straight: TinyRun) -> None:
    """No file can grow beyond a limit, so writing stops in the middle: first of the weights, then of the moments."""
    run = TinyRun(tmp_path / "run", given)
    weights = straight.output / "checkpoints" / "step-00000012" / "model.safetensors"
    for limit in (weights.stat().st_size // 2, weights.stat().st_size + 1000):
        line = error_line(run.pretrain(file_limit=limit))
        assert "checkpoints/step-00000003: cannot be written" in line
        assert "File too large" in line
        assert run.checkpoints() == []
    run.pretrain(faults=(Fault(".step-00000009"),))
    run.pretrain(file_limit=limit)
    assert run.checkpoints() == ["step-00000003", "step-00000006"]
    run.finish()
    assert_same_run(run, straight)


@pytest.mark.slow
def test_full_disk_for_the_figures(tmp_path: Path, given: Material) -> None:
    run = TinyRun(tmp_path / "run", given, {"steps": 30, "checkpoint_every": 100})
    line = error_line(run.pretrain(file_limit=3000))
    assert "output/metrics.jsonl: cannot be written: File too large" in line
    run.finish()
    steps = [line["step"] for line in run.metrics() if line["kind"] == "train"]
    assert steps == list(range(1, 31))


# -- stopped by the user ----------------------------------------------------------------------------------


def test_ctrl_c(tmp_path: Path, given: Material) -> None:
    run = TinyRun(tmp_path / "run", given, {"steps": 4000, "checkpoint_every": 5})
    (ended,) = run.pretrain(
        signal_after_lines=(0, signal.SIGINT, "output/metrics.jsonl", 12),
    )
    assert ended.code == 130
    assert ended.stderr.endswith("xharness: stopped; the same command continues\n")
    assert "Traceback" not in ended.stderr
    (again,) = run.pretrain(signal_after_lines=(0, signal.SIGINT, "output/metrics.jsonl", 40))
    assert "continues after step " in again.stderr
