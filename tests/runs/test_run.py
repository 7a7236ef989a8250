"""The main job on the sample: what it writes, how it continues, what it refuses."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.small_run import command
from xharness.errors import InputError
from xharness.records.store import read_record, read_records
from xharness.sample import DATA

TASKS = {"sample_nli", "sample_pos", "sample_ner", "sample_qa", "sample_bitext", "sample_retrieval"}


def content(folder: Path) -> dict[str, Any]:
    """Return the records of a run without what two runs may differ in."""
    return {
        record.task: record.model_dump(
            exclude={"timings", "content_sha256", "command", "environment"}
        )
        for record in read_records([folder])
    }


def predictions(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted((folder / "predictions").rglob("test-*"))
    }


def mtimes(folder: Path) -> dict[str, float]:
    return {path.name: path.stat().st_mtime for path in (folder / "receipts").glob("*.json")}


def test_run_writes_records_predictions_and_tables(finished: Path) -> None:
    records = {record.task: record for record in read_records([finished])}
    assert set(records) == TASKS
    for record in records.values():
        assert record.score is not None
        assert all(result.status == "scored" for result in record.languages.values())
        # A corpus to mine is never cut.
        assert record.protocol.limit == (None if record.task == "sample_bitext" else 5)
        assert record.environment["torch"]
        assert record.data.test.keys() == record.languages.keys()
    nli = records["sample_nli"]
    assert nli.protocol.training is not None
    assert nli.protocol.training["steps"] == 1  # 24 examples in batches of 32, one epoch
    assert nli.data.train_examples == 24
    assert nli.languages["de"].counts["examples"] == 5
    table = (finished / "leaderboard.md").read_text(encoding="utf-8")
    assert "trained on at most 24 examples" in table
    assert "tested on at most 5 examples a language" in table


def test_predictions_lie_in_the_submission_layout(finished: Path) -> None:
    folder = finished / "predictions" / "seed-1"
    assert {path.name for path in folder.iterdir()} == TASKS
    lines = (folder / "sample_nli" / "test-sw.tsv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 5
    answers = json.loads((folder / "sample_qa" / "test-zh.json").read_text(encoding="utf-8"))
    assert len(answers) == 5


def test_second_run_does_nothing_again(finished: Path) -> None:
    before = mtimes(finished)
    command(finished).execute()
    assert mtimes(finished) == before


def test_same_plan_gives_the_same_bytes(finished: Path, tmp_path: Path) -> None:
    command(tmp_path / "again").execute()
    assert predictions(tmp_path / "again") == predictions(finished)
    assert content(tmp_path / "again") == content(finished)


def test_harmed_prediction_file_is_made_again_and_nothing_else(
    finished: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(finished, copy)
    harmed = copy / "predictions" / "seed-1" / "sample_pos" / "test-ru.tsv"
    right = harmed.read_bytes()
    harmed.write_bytes(right[: len(right) // 2])
    before = mtimes(copy)
    command(copy).execute()
    changed = {name for name, time_ in mtimes(copy).items() if time_ != before[name]}
    assert changed == {"predict_sample_pos_seed-1_ru.json"}
    assert harmed.read_bytes() == right


@pytest.mark.slow
def test_killed_run_continues_to_the_same_records(finished: Path, tmp_path: Path) -> None:
    output = tmp_path / "killed"
    arguments = ["--suite", "sample", "--model", "sample", "--seeds", "1", "--limit", "5"]
    arguments += [
        "--limit-train",
        "24",
        "--set",
        "epochs=1",
        "--device",
        "cpu",
        "--output",
        str(output),
    ]
    line = [sys.executable, "-m", "xharness", "run", *arguments]
    for stages in (2, 9, 20):
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            if len(list((output / "receipts").glob("*.json"))) >= stages:
                os.kill(process.pid, signal.SIGKILL)
                break
            time.sleep(0.01)
        process.wait()
    done = mtimes(output)
    subprocess.run(line, check=True, capture_output=True)
    after = mtimes(output)
    assert {name: after[name] for name in done} == done
    assert content(output) == content(finished)
    assert predictions(output) == predictions(finished)


def test_other_plan_in_the_folder_is_refused(finished: Path) -> None:
    with pytest.raises(InputError, match=r"another plan: limit was 5, is 6"):
        command(finished, limit=6).execute()
    with pytest.raises(InputError, match=r"another plan: settings\.\w+\.learning_rate was"):
        command(finished, overrides=("epochs=1", "learning_rate=1e-5")).execute()


def test_locked_folder_is_refused(finished: Path) -> None:
    with (
        FileLock(finished / ".lock"),
        pytest.raises(InputError, match="another run works in this folder"),
    ):
        command(finished).execute()


def test_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        command(blocked, suite=None, tasks=("sample_retrieval",)).execute()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"suite": "smaple"}, "no suite named 'smaple' .did you mean 'sample'"),
        ({"suite": None}, "give either --suite or --task"),
        ({"tasks": ("xnli",)}, "give either --suite or --task"),
        ({"suite": None, "tasks": ("sample_nil",)}, "did you mean 'sample_nli'"),
        ({"suite": "xtreme"}, "--data: no data given for xtreme"),
        ({"data": "nowhere"}, "nowhere: no such data folder"),
        ({"languages": "de,xx"}, "has the language 'xx'"),
        ({"model": "nowhere/model"}, "nowhere/model: no usable checkpoint"),
        ({"model": "tranformers:x"}, "did you mean 'transformers'"),
        ({"recipe": "xtrem"}, "no recipe named 'xtrem' .did you mean 'xtreme'"),
        ({"seeds": "1,1"}, "seeds must be distinct"),
        ({"seeds": "one"}, "no list of whole numbers"),
        ({"overrides": ("epochs",)}, "'epochs' is not KEY=VALUE"),
        ({"overrides": ("squad.epochs=1",)}, "'squad' is no task or training set"),
        ({"overrides": ("epoch=1",)}, "did you mean 'epochs'"),
        ({"profile": "offical"}, "no profile named 'offical'"),
        ({"device": "tpu"}, "unknown device 'tpu'"),
        ({"finetune": False}, "has no head for pair_classification"),
    ],
)
def test_wrong_use_is_refused_before_anything_is_written(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        command(tmp_path / "run", **changes).execute()
    assert not (tmp_path / "run").exists()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A copy of the sample's data that a test may break."""
    folder = tmp_path / "data"
    shutil.copytree(DATA, folder)
    return folder


def small(output: Path, data: Path, **changes: object) -> None:
    options: dict[str, object] = {"suite": None, "tasks": ("sample_nli",), "data": str(data)}
    command(output, **{**options, **changes}).execute()


def test_absent_language_is_a_hole_and_has_no_average(tmp_path: Path, data: Path) -> None:
    (data / "sample_nli" / "test-hi.tsv").unlink()
    small(tmp_path / "run", data)
    record = read_record(tmp_path / "run" / "records" / "sample_nli-seed-1.json")
    assert record.languages["hi"].status == "missing"
    assert record.languages["de"].status == "scored"
    assert record.score is None
    table = (tmp_path / "run" / "leaderboard.md").read_text(encoding="utf-8")
    assert "hole: Inference hi (no data)" in table


def test_absent_language_that_was_asked_for_is_an_error(tmp_path: Path, data: Path) -> None:
    (data / "sample_nli" / "test-hi.tsv").unlink()
    with pytest.raises(InputError, match=r"test-hi\.tsv: no such file.*nearest there"):
        small(tmp_path / "run", data, languages="hi")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "test-de.tsv",
            "a\tb\tneutrall\n",
            r"test-de\.tsv:1: label 'neutrall'.*did you mean 'neutral'",
        ),
        ("test-de.tsv", "a\tb\tneutral\na\tb\n", r"test-de\.tsv:2: 2 cells where 3"),
        ("train-en.tsv", None, r"train-en\.tsv: no such file"),
        ("train-en.tsv", "", r"train-en\.tsv: no example in the file"),
        ("dev-en.tsv", "a\tb\n", "no labels to choose a checkpoint by"),
    ],
)
def test_bad_data_are_named(
    tmp_path: Path, data: Path, file: str, text: str | None, message: str
) -> None:
    path = data / "sample_nli" / file
    if text is None:
        path.unlink()
    else:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        small(tmp_path / "run", data)


def test_test_set_without_labels_is_predicted_and_unscored(tmp_path: Path, data: Path) -> None:
    path = data / "sample_nli" / "test-tr.tsv"
    rows = [line.rsplit("\t", 1)[0] for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    small(tmp_path / "run", data)
    record = read_record(tmp_path / "run" / "records" / "sample_nli-seed-1.json")
    assert record.languages["tr"].status == "unscored"
    assert (tmp_path / "run" / "predictions" / "seed-1" / "sample_nli" / "test-tr.tsv").is_file()
    assert record.score is None


def test_dry_run_prints_sizes_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command(tmp_path / "run").execute(dry_run=True)
    plan = capsys.readouterr().err
    assert "sample_nli" in plan
    assert "24" in plan
    assert not (tmp_path / "run").exists()


def test_two_seeds_give_a_deviation_and_retrieval_runs_once(tmp_path: Path) -> None:
    output = tmp_path / "run"
    command(output, suite=None, tasks=("sample_nli", "sample_retrieval"), seeds="1,2").execute()
    names = {path.name for path in (output / "records").glob("*.json")}
    assert names == {
        "sample_nli-seed-1.json",
        "sample_nli-seed-2.json",
        "sample_retrieval-seed-1.json",
    }
    assert "±" in (output / "leaderboard.md").read_text(encoding="utf-8")


def test_finetuned_checkpoint_is_scored_without_training(finished: Path, tmp_path: Path) -> None:
    checkpoint = next((finished / "checkpoints").glob("sample_nli-*")) / "seed-1"
    output = tmp_path / "run"
    command(
        output,
        model=str(checkpoint),
        suite=None,
        tasks=("sample_nli",),
        finetune=False,
        limit_train=None,
    ).execute()
    record = read_record(output / "records" / "sample_nli-seed-1.json")
    assert not record.protocol.finetuned
    same = "predictions/seed-1/sample_nli/test-ru.tsv"
    assert (output / same).read_bytes() == (finished / same).read_bytes()


def test_a_training_that_diverges_is_recorded_as_failed_and_the_others_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rate beyond float32 makes every weight infinite in the first step."""
    output = tmp_path / "run"
    changes: dict[str, object] = {
        "suite": None,
        "tasks": ("sample_nli", "sample_retrieval"),
        "overrides": ("epochs=1", "sample_nli.learning_rate=1e39"),
    }
    assert command(output, **changes).execute() == 0
    records = {record.task: record for record in read_records([output])}
    failed, other = records["sample_nli"], records["sample_retrieval"]
    assert other.score is not None
    assert failed.score is None
    assert {(r.status, r.reason) for r in failed.languages.values()} == {
        ("missing", "the fine-tuning failed")
    }
    assert failed.protocol.training is not None
    assert "not finite" in failed.protocol.training["failed"]
    assert failed.data.train
    assert "seed 1 failed" in capsys.readouterr().out
    assert not list((output / "checkpoints").glob("*/*"))
    before = mtimes(output)
    command(output, **changes).execute()
    assert mtimes(output) == before
