"""Tiny encoders with the sample's tokenizer, as pre-training leaves them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from tests.encoder.tiny_models import KINDS, filled, tiny_config
from xharness.encoder import DecoupledForMaskedLM
from xharness.sample import CHECKPOINT


def write_encoder(folder: Path, kind: str = "decoupled", **changes: Any) -> Path:
    """Write a checkpoint with a masked-LM head of one of the kinds of ``tiny_models``."""
    tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
    config = tiny_config(
        **{
            **KINDS[kind],
            "vocab_size": len(tokenizer),
            "max_position_embeddings": 128,
            "pad_token_id": tokenizer.pad_token_id,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            **changes,
        }
    )
    filled(DecoupledForMaskedLM(config)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
