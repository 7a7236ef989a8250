"""Checkpoints that lost their last layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.analysis.tiny_encoders import write_encoder
from tests.models.tiny_checkpoints import FAMILIES, make_checkpoint
from xharness.analysis.truncation import write_truncated
from xharness.errors import InputError
from xharness.models.checkpoints import load_config, load_encoder, load_tokenizer
from xharness.sample import CHECKPOINT

#: Families that lay a norm over the last block's output: there the last state differs from the one within.
NORMED = ("modernbert", "xlm-roberta-xl")


def states(folder: Path) -> list[torch.Tensor]:
    """Hidden states of a few pieces, the first block's input foremost."""
    ids = torch.tensor([[5, 6, 7, 8, 9]])
    model = load_encoder(str(folder)).eval()
    with torch.inference_mode():
        found: Any = model(
            input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True
        )
    return list(found.hidden_states)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_layers_that_stay_compute_what_they_did(family: str, tmp_path: Path) -> None:
    """Deleted, not drawn anew: the states up to the last layer kept are bit for bit the whole model's."""
    whole = make_checkpoint(family, tmp_path / "whole")
    write_truncated(str(whole), 1, tmp_path / "cut")
    before, after = states(whole), states(tmp_path / "cut")
    assert len(after) == len(before) - 1
    compared = len(after) - (family in NORMED)
    for one, other in zip(after[:compared], before[:compared], strict=True):
        assert torch.equal(one, other)
    config = load_config(str(tmp_path / "cut"))
    assert config.num_hidden_layers == len(after) - 1
    _, pieces = load_tokenizer(str(whole), load_config(str(whole)))
    _, cut_pieces = load_tokenizer(str(tmp_path / "cut"), config)
    assert cut_pieces.fingerprint == pieces.fingerprint


def test_extra_layers_of_pre_training_are_no_layers_of_the_encoder(tmp_path: Path) -> None:
    """RemBERT's Table 5: the encoder has two layers beside two extra ones; dropping one leaves the first."""
    whole = write_encoder(tmp_path / "whole", "extra_layers")
    write_truncated(str(whole), 1, tmp_path / "cut")
    before, after = states(whole), states(tmp_path / "cut")
    assert [len(before), len(after)] == [3, 2]
    assert all(torch.equal(a, b) for a, b in zip(after, before[:2], strict=True))
    kept = load_file(tmp_path / "cut" / "model.safetensors")
    assert not any("layer.1." in name or "cls." in name for name in kept)


def test_a_pooler_that_the_checkpoint_lacks_is_not_made_up(tmp_path: Path) -> None:
    """Else every seed would start from the same random pooler."""
    whole = write_encoder(tmp_path / "whole")
    write_truncated(str(whole), 0, tmp_path / "cut")
    assert not any("pooler" in name for name in load_file(tmp_path / "cut" / "model.safetensors"))


def test_two_copies_have_the_same_bytes_and_the_second_replaces_the_first(tmp_path: Path) -> None:
    write_truncated(str(CHECKPOINT), 2, tmp_path / "cut")
    first = (tmp_path / "cut" / "model.safetensors").read_bytes()
    (tmp_path / "cut" / "stale").touch()
    write_truncated(str(CHECKPOINT), 2, tmp_path / "cut")
    assert (tmp_path / "cut" / "model.safetensors").read_bytes() == first
    assert not (tmp_path / "cut" / "stale").exists()


@pytest.mark.parametrize("drop", [-1, 4, 5])
def test_a_model_keeps_a_layer_at_least(drop: int, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{drop} of 4 layers cannot be dropped.*from 0 to 3"):
        write_truncated(str(CHECKPOINT), drop, tmp_path / "cut")
    assert not (tmp_path / "cut").exists()
