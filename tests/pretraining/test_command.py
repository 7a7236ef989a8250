"""A pre-training from its configuration to a model that opens, and what lies in its folder."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from tests.pretraining.tiny_run import Material, TinyRun, material
from xharness.encoder import register
from xharness.pretraining.checkpoints import found_checkpoints
from xharness.pretraining.corpus import CorpusFiles
from xharness.pretraining.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def given(corpus: dict[str, CorpusFiles], vocabulary: Vocabulary) -> Material:
    return material(corpus, vocabulary)


@pytest.fixture(scope="module")
def begun(given: Material, tmp_path_factory: pytest.TempPathFactory) -> TinyRun:
    """A run of a configuration that learns something in seconds."""
    changes = {
        "steps": 40,
        "learning_rate": 0.02,
        "checkpoint_every": 100,
        "evaluate_every": 20,
        "encoder": {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0},
    }
    return TinyRun(tmp_path_factory.mktemp("finished") / "run", given, changes)


@pytest.fixture(scope="module")
def told(begun: TinyRun) -> str:
    """What the run told without a terminal."""
    (ended,) = begun.pretrain()
    assert ended.code == 0, ended.stderr
    return ended.stderr


@pytest.fixture(scope="module")
def run(begun: TinyRun, told: str) -> TinyRun:
    """The finished run."""
    assert told
    return begun


def test_the_loss_falls_below_that_of_guessing(run: TinyRun, vocabulary: Vocabulary) -> None:
    lines = run.metrics()
    losses = [line["loss"] for line in lines if line["kind"] == "train"]
    assert losses[0] == pytest.approx(torch.tensor(vocabulary.size).log().item(), abs=0.2)
    assert sum(losses[-5:]) / 5 < losses[0] - 1
    dev = [line for line in lines if line["kind"] == "dev"]
    assert [line["step"] for line in dev] == [20, 40]
    for line in dev:
        assert set(line["loss"]) == {"en", "zh"}
        assert line["mean_loss"] == pytest.approx((line["loss"]["en"] + line["loss"]["zh"]) / 2)
        assert line["mean_accuracy"] == pytest.approx(
            (line["accuracy"]["en"] + line["accuracy"]["zh"]) / 2
        )


def test_model_and_tokenizer_open(run: TinyRun, vocabulary: Vocabulary) -> None:
    register()
    model, loading = AutoModelForMaskedLM.from_pretrained(
        run.output / "model", output_loading_info=True
    )
    assert not loading["missing_keys"]
    assert not loading["unexpected_keys"]
    tokenizer = AutoTokenizer.from_pretrained(run.output / "model")
    text = "The river is wide."
    expected = AutoTokenizer.from_pretrained(vocabulary.path)(text)["input_ids"]
    assert tokenizer(text)["input_ids"] == expected
    assert model.config.vocab_size == vocabulary.size
    with torch.no_grad():
        logits = model(torch.tensor([expected])).logits
    assert logits.shape == (1, len(expected), vocabulary.size)


def test_summary(run: TinyRun, vocabulary: Vocabulary) -> None:
    """Parameters as counted by hand from the sizes: width 32, inner 48, input 16, output 24, 32 positions, 2 types."""
    summary = json.loads((run.output / "summary.json").read_text("utf-8"))
    block = 4 * (32 * 32 + 32) + 2 * 32 + (32 * 48 + 48) + (48 * 32 + 32) + 2 * 32
    kept = (vocabulary.size + 32 + 2) * 16 + 2 * 16 + (16 * 32 + 32) + 2 * block
    head = (32 * 24 + 24) + 2 * 24 + vocabulary.size * (24 + 1)
    assert summary["parameters"] == {"pretraining": kept + head, "fine_tuning": kept}
    assert summary["steps"] == 40
    assert summary["tokens"] == 40 * 8 * 24
    assert summary["tokens_per_second"] == pytest.approx(40 * 8 * 24 / summary["seconds"])
    assert 0 < summary["share_of_matmul_peak"] < 1
    assert summary["held_out"] == run.metrics()[-1]


def test_nothing_else_is_left(run: TinyRun) -> None:
    assert sorted(path.name for path in run.output.iterdir()) == [
        ".lock",
        "checkpoints",
        "config.json",
        "data.json",
        "loss.svg",
        "metrics.jsonl",
        "model",
        "summary.json",
    ]
    assert [path.name for path in found_checkpoints(run.output / "checkpoints")] == [
        "step-00000040"
    ]


def test_finished_before(run: TinyRun) -> None:
    """The same command says so, without text, tokenizer or training."""
    before = {path: path.stat().st_mtime_ns for path in run.output.rglob("*")}
    gone = Material(Path("nowhere"), run.material.vocabulary, Path("nowhere"))
    (ended,) = TinyRun(run.folder, gone, run.changes).pretrain()
    assert ended.code == 0
    (line,) = ended.stderr.splitlines()
    assert line.startswith("finished before; tiny: 7,680 tokens in ")
    assert line.endswith("kept for fine-tuning: output/model")
    assert ended.seconds < 10
    assert {path: path.stat().st_mtime_ns for path in run.output.rglob("*")} == before


def test_another_configuration_than_the_finished_one(run: TinyRun) -> None:
    other = TinyRun(run.folder, run.material, run.changes, ("--set", "seed=3"))
    (ended,) = other.pretrain()
    assert ended.code == 2
    assert "begun with another configuration: seed" in ended.stderr


def test_model_that_was_removed_is_written_again_without_training(run: TinyRun) -> None:
    before = run.weights()
    (run.output / "summary.json").unlink()
    began = time.time_ns()
    run.finish()
    assert (run.output / "model").stat().st_mtime_ns > began
    checkpoint = found_checkpoints(run.output / "checkpoints")[-1]
    assert checkpoint.stat().st_mtime_ns < began
    for name, weight in run.weights().items():
        assert torch.equal(weight, before[name])


def test_lines_without_a_terminal(told: str) -> None:
    """One for each evaluation and one at the end; no bar of transformers' or of ours."""
    lines = told.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["step 20", "step 40", "tiny"]
    assert "\x1b" not in told
    assert "\r" not in told
