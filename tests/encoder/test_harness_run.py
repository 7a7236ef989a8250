"""The harness trains, saves, loads and scores the built-in encoder by the code that serves any other model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoTokenizer

from tests.encoder.tiny_models import KINDS, filled, tiny_config
from tests.small_run import command
from xharness.encoder import DecoupledForMaskedLM
from xharness.encoder.conversion import to_rembert
from xharness.records.record import Record
from xharness.records.store import read_records
from xharness.sample import CHECKPOINT


@pytest.fixture
def checkpoint(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A pre-training checkpoint of the kind asked for, with the sample's tokenizer."""
    tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
    config = tiny_config(
        **KINDS[request.param],
        vocab_size=len(tokenizer),
        max_position_embeddings=128,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    filled(DecoupledForMaskedLM(config)).save_pretrained(tmp_path / "tiny")
    tokenizer.save_pretrained(tmp_path / "tiny")
    return tmp_path / "tiny"


def run(model: Path, output: Path, **changes: Any) -> dict[str, Record]:
    """Run the sample suite, or a part of it, and return the records by task."""
    command(output, model=str(model), **changes).execute()
    return {record.task: record for record in read_records([output])}


@pytest.mark.parametrize(
    ("checkpoint", "tasks"),
    [("extra_layers", ()), ("frozen", ("sample_pos",))],
    indirect=["checkpoint"],
)
def test_a_run_from_a_pre_training_checkpoint(
    checkpoint: Path, tasks: tuple[str, ...], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The whole suite, or a part of it with the recipe of the sample."""
    output = tmp_path / "run"
    part: dict[str, Any] = {"suite": None, "tasks": tasks, "recipe": "sample"} if tasks else {}
    records = run(checkpoint, output, **part)
    assert len(records) == (len(tasks) or 6)
    for record in records.values():
        assert record.score is not None
        assert record.model["architecture"] == "decoupled_encoder"
    trained = sorted(output.rglob("model.safetensors"))
    assert len(trained) == (len(tasks) or 4)
    before = load_file(checkpoint / "model.safetensors")
    table = "rembert.embeddings.word_embeddings.weight"
    query = "rembert.encoder.layer.1.attention.self.query.weight"
    for path in trained:
        after = load_file(path)
        # The head and the layers of pre-training are gone, and training moved what it should.
        assert not any(name.startswith(("cls.", "rembert.encoder.layer.2.")) for name in after)
        frozen = "frozen" in request.node.name
        assert torch.equal(after[table], before[table]) == frozen
        assert not torch.equal(after[query], before[query])


@pytest.mark.parametrize("checkpoint", ["decoupled"], indirect=True)
def test_a_converted_checkpoint_scores_the_same(checkpoint: Path, tmp_path: Path) -> None:
    """Sentences embedded without training: equal answers from either family."""
    to_rembert(checkpoint, tmp_path / "rembert")
    options: dict[str, Any] = {
        "suite": None,
        "tasks": ("sample_retrieval",),
        "recipe": "sample",
        "limit": 40,
    }
    ours = run(checkpoint, tmp_path / "ours", **options)["sample_retrieval"]
    theirs = run(tmp_path / "rembert", tmp_path / "theirs", **options)["sample_retrieval"]
    assert theirs.model["architecture"] == "rembert"
    assert ours.score is not None
    assert ours.languages == theirs.languages
    predictions = [
        {path.name: path.read_bytes() for path in (tmp_path / name / "predictions").rglob("test-*")}
        for name in ("ours", "theirs")
    ]
    assert predictions[0]
    assert predictions[0] == predictions[1]
