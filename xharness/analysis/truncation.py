"""Checkpoints without their last layers: these are deleted, not drawn anew (RemBERT, arXiv 2010.12821, section 6.2)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from transformers import AutoModel

from xharness.analysis.encoders import quiet_loading
from xharness.errors import InputError
from xharness.models.checkpoints import load_config, load_encoder, load_tokenizer

#: Configuration fields that hold one entry a layer, in families that have them.
_BY_LAYER = ("layer_types", "mlp_layer_types")


def check_depth(config: Any, drop: int, reference: str) -> None:
    """Make sure that a model keeps a layer.

    Raises:
        InputError: As many layers as it has, or more, are to be dropped.
    """
    layers = int(config.num_hidden_layers)
    if not 0 <= drop < layers:
        raise InputError(
            f"{drop} of {layers} layers cannot be dropped",
            where=reference,
            mend=f"use --drop with a number from 0 to {layers - 1}",
        )


def write_truncated(reference: str, drop: int, into: Path) -> None:
    """Write the encoder without its last layers, and its tokenizer, as a checkpoint folder.

    A masked-LM head is left out, as is a pooler that the checkpoint does not hold: each fine-tuning draws its own.

    Args:
        reference: Checkpoint folder or hub id.
        drop: Layers to delete from the top; with 0 the copy has them all.
        into: The folder; replaced where it exists.

    Raises:
        InputError: The checkpoint does not open, has too few layers, or the folder cannot be written.
    """
    config = load_config(reference)
    check_depth(config, drop, reference)
    tokenizer, _ = load_tokenizer(reference, config)
    load_encoder(reference)  # a checkpoint that lacks weights is refused here, by name
    kept = int(config.num_hidden_layers) - drop
    changes: dict[str, Any] = {"num_hidden_layers": kept}
    for field in _BY_LAYER:
        if getattr(config, field, None):
            changes[field] = list(getattr(config, field))[:kept]
    for field, value in changes.items():
        setattr(config, field, value)
    with quiet_loading():
        model, info = AutoModel.from_pretrained(
            reference,
            config=config,
            trust_remote_code=False,
            use_safetensors=True,
            dtype="float32",
            output_loading_info=True,
        )
    drawn = set(info["missing_keys"])
    weights = {name: value for name, value in model.state_dict().items() if name not in drawn}
    aside = into.with_name(f".{into.name}.partial")
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        model.save_pretrained(aside, state_dict=weights)
        tokenizer.save_pretrained(aside)
        shutil.rmtree(into, ignore_errors=True)
        aside.replace(into)
    except (OSError, SafetensorError) as error:
        raise InputError(f"cannot be written: {error}", where=into) from error
