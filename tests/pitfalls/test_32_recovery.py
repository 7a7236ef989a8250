"""Nothing is recovered from by changing the protocol: empty examples stay, and memory never changes the batch."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.pitfalls.submission import write
from tests.pitfalls.tiny_tokenizers import bert_pieces
from tests.small_run import command
from xharness.data.examples import PairExample
from xharness.errors import InputError
from xharness.finetuning.training import train
from xharness.inference.device import Device
from xharness.inference.progress import Silent
from xharness.records.store import read_records
from xharness.sample import DATA
from xharness.specs.recipe import Settings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.pair_classification import PairEncoding, encode

XNLI = load(TaskSpec, "xnli")


def test_an_empty_example_is_predicted_scored_and_counted(tmp_path: Path) -> None:
    folder = tmp_path / "data/sample_nli"
    for name in ("train-en.tsv", "dev-en.tsv"):
        write(folder / name, (DATA / "sample_nli" / name).read_bytes())
    write(folder / "test-en.tsv", "A cat.\t\tneutral\n \t\tentailment\nA cat.\tA cat.\tneutral\n")
    run = command(
        tmp_path / "run",
        suite=None,
        tasks=("sample_nli",),
        languages="en",
        data=str(tmp_path / "data"),
        limit_train=8,
    )
    run.execute()
    (record,) = read_records([tmp_path / "run"])
    counts = record.languages["en"].counts
    assert (counts["examples"], counts["unanswered"]) == (3, 0)
    assert counts["empty_sentences"] == 2
    lines = (tmp_path / "run/predictions/seed-1/sample_nli/test-en.tsv").read_text("utf-8")
    assert lines.count("\n") == 3


class Model(torch.nn.Module):
    """Bag of pieces with a classifier; runs out of memory at the given calls."""

    def __init__(self, fails: tuple[int, ...] = ()):
        super().__init__()
        generator = torch.Generator().manual_seed(3)
        self.embedding = torch.nn.Embedding(200, 8)
        self.classifier = torch.nn.Linear(8, 3)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator))
        self.config = type("Config", (), {"pad_token_id": 0})()
        self.calls = 0
        self._fails = fails

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, **_: Any) -> Any:
        self.calls += 1
        if self.calls in self._fails:
            raise torch.OutOfMemoryError("CUDA out of memory")
        states = self.embedding(input_ids) * attention_mask[:, :, None]
        pooled = states.sum(dim=1) / attention_mask.sum(dim=1, keepdim=True)
        return type("Output", (), {"logits": self.classifier(pooled)})()


def training_set() -> PairEncoding:
    texts = ["a", "bb cc", "def ghi jkl", "x y z a b c", "nn"]
    pairs = [
        PairExample(str(i), texts[i % 5], texts[(i * 3) % 5], XNLI.labels[i % 3]) for i in range(24)
    ]
    return encode(pairs, XNLI, bert_pieces(), Settings())


SETTINGS = Settings(batch_size=8, epochs=2, learning_rate=1e-2)


def trained(model: Model, tokens: int) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    device = Device("cpu", "float32", tokens)
    report = train(model, training_set(), SETTINGS, 1, device, None, Silent())
    return {name: value.clone() for name, value in model.state_dict().items()}, asdict(report)


def test_micro_batches_change_neither_steps_nor_weights() -> None:
    whole, whole_report = trained(Model(), 100_000)
    parts, parts_report = trained(Model(), 1)
    assert whole_report["steps"] == parts_report["steps"] == 6
    assert whole_report["effective_batch"] == parts_report["effective_batch"] == 8
    for name, value in whole.items():
        torch.testing.assert_close(value, parts[name], rtol=0, atol=1e-5)
    assert not np.isclose(float(whole["classifier.weight"].sum()), 0.0)


def test_running_out_of_memory_ends_the_training_or_is_told_and_changes_nothing() -> None:
    expected, _ = trained(Model(), 100_000)
    try:
        found, report = trained(Model(fails=(2,)), 100_000)
    except (torch.OutOfMemoryError, InputError) as error:
        assert "memory" in str(error)  # noqa: PT017  (a failure is as right as a recovery that is told)
        return
    assert report["effective_batch"] == SETTINGS.batch_size
    assert report["steps"] == 6
    assert any("memory" in name and value for name, value in report.items())
    for name, value in expected.items():
        torch.testing.assert_close(value, found[name], rtol=0, atol=1e-5)


def test_a_loss_that_is_no_number_ends_the_training() -> None:
    model = Model()
    with torch.no_grad():
        model.classifier.bias[0] = torch.nan
    with pytest.raises(InputError, match="the loss is nan at step 1 of 6"):
        trained(model, 100_000)
