"""Tiny encoders with random weights, and inputs for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from xharness.encoder import DecoupledConfig

VOCABULARY = 60

#: Configurations of every kind, beside the plain one: small input, larger output.
KINDS: dict[str, dict[str, Any]] = {
    "decoupled": {},
    "coupled": {"coupling": "coupled", "output_embedding_size": None},
    "equal_sizes": {"input_embedding_size": 32},
    "factorised": {"input_kind": "factorised", "input_factor_size": 8},
    "define": {"input_kind": "define", "input_factor_size": 8, "define_expansion_size": 40},
    "extra_layers": {"extra_layers": 2},
    "frozen": {"freeze_input_embedding": True},
}


def tiny_config(**changes: Any) -> DecoupledConfig:
    """Return a configuration of two blocks, 32 wide, some fields changed."""
    values: dict[str, Any] = {
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 48,
        "input_embedding_size": 16,
        "output_embedding_size": 24,
        "max_position_embeddings": 20,
        "classifier_dropout_prob": 0.0,
        "initializer_range": 0.1,
    }
    return DecoupledConfig(**{**values, **changes})


def filled(model: nn.Module, seed: int = 5) -> Any:
    """Return the model in evaluation, every weight drawn anew: no norm is the identity and no bias zero."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            drawn = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(0.15 * drawn + (1.0 if parameter.ndim == 1 else 0.0))
    return model.eval()


def batch(rows: int = 3, length: int = 11, seed: int = 6) -> dict[str, Tensor]:
    """Return padded pieces of two segments: the second row loses four pieces, the third six."""
    generator = torch.Generator().manual_seed(seed)
    mask = torch.ones(rows, length, dtype=torch.long)
    mask[1:2, -4:] = 0
    mask[2:3, -6:] = 0
    types = torch.zeros(rows, length, dtype=torch.long)
    types[:, 4:] = 1
    pieces = torch.randint(1, VOCABULARY, (rows, length), generator=generator)
    return {"input_ids": pieces * mask, "attention_mask": mask, "token_type_ids": types * mask}


def assert_equal(found: Tensor, expected: Tensor) -> None:
    """Outputs of the same weights: equal but for the last bit, which where a weight lies in memory can decide."""
    torch.testing.assert_close(found, expected, atol=2e-6, rtol=0)


def saved(model: Any, folder: Path) -> Path:
    """Save a model and return its folder."""
    model.save_pretrained(folder)
    return folder
