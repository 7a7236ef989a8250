"""Batch size and padding change nothing; device and number format are in the record."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from xharness.data.sources import FileDataSource
from xharness.inference.batching import collate
from xharness.inference.device import Device
from xharness.inference.progress import Silent
from xharness.models.checkpoints import load_as_is, load_config, load_tokenizer
from xharness.models.transformers import TransformersAdapter
from xharness.records.store import read_records
from xharness.sample import DATA
from xharness.specs.recipe import Settings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.pair_classification import PairEncoding, encode

NLI = load(TaskSpec, "sample_nli")


@pytest.fixture(scope="module")
def checkpoint(finished: Path) -> str:
    (folder,) = finished.glob("checkpoints/sample_nli-*/seed-1")
    return str(folder)


@torch.inference_mode()
def logits(model: object, encoding: PairEncoding, size: int) -> torch.Tensor:
    found = []
    for at in range(0, len(encoding), size):
        rows = np.arange(at, min(at + size, len(encoding)))
        inputs = collate(encoding, rows, 0, torch.device("cpu"))
        found.append(model(**inputs).logits)  # type: ignore[operator]
    return torch.cat(found)


def test_logits_of_batches_of_one_and_of_eight(checkpoint: str) -> None:
    _, pieces = load_tokenizer(checkpoint, load_config(checkpoint))
    split = FileDataSource(DATA).read(NLI, "test", "de", 24)
    encoding = encode(split.examples, NLI, pieces, Settings())  # type: ignore[arg-type]
    assert len(set(encoding.lengths.tolist())) > 1  # or nothing is padded
    model = load_as_is(checkpoint, NLI).eval()
    alone, together = logits(model, encoding, 1), logits(model, encoding, 8)
    torch.testing.assert_close(alone, together, rtol=0, atol=1e-5)


@pytest.mark.parametrize("tokens", [1, 100, 100_000])
def test_predictions_do_not_depend_on_the_token_budget(checkpoint: str, tokens: int) -> None:
    split = FileDataSource(DATA).read(NLI, "test", "sw", 24)
    found = [
        TransformersAdapter(checkpoint, Device("cpu", "float32", budget))
        .predict(NLI, split, Settings(), Silent())
        .values
        for budget in (1024, tokens)
    ]
    assert found[0] == found[1]


def test_device_and_number_format_are_recorded(finished: Path) -> None:
    for record in read_records([finished]):
        assert record.environment["device"] == "cpu"
        assert record.environment["dtype"] == "float32"
        assert record.environment["threads"] >= 1
