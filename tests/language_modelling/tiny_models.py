"""Small configurations and models for the tests."""

from __future__ import annotations

from typing import Any

import torch

from xharness.language_modelling.config import LanguageModelConfig
from xharness.language_modelling.model import LanguageModel

VOCABULARY = 23
ADAPTIVE = {"cutoffs": [5, 12], "division": 2}

#: Every kind of embedding.
EMBEDDINGS: dict[str, dict[str, Any]] = {
    "untied": {},
    "tied": {"tied": True},
    "projection": {"projection": 0.15},
    "tied-projection": {"tied": True, "projection": 0.15},
    "factorised": {"width": 8},
    "factorised-tied": {"width": 8, "tied": True},
    "adaptive": {"input": "adaptive", "classifier": "adaptive", "adaptive": ADAPTIVE},
    "adaptive-tied": {
        "width": 8,
        "tied": True,
        "input": "adaptive",
        "classifier": "adaptive",
        "adaptive": ADAPTIVE,
    },
    "adaptive-input": {"input": "adaptive", "adaptive": ADAPTIVE},
    "adaptive-classifier": {"classifier": "adaptive", "adaptive": ADAPTIVE},
    "define": {
        "width": 8,
        "tied": True,
        "define": {"expansion": 32, "depth": 3, "groups": 4},
    },
    "define-adaptive": {
        "width": 8,
        "tied": True,
        "input": "adaptive",
        "classifier": "adaptive",
        "adaptive": ADAPTIVE,
        "define": {"expansion": 32, "depth": 2, "groups": 2},
    },
}


def config(
    embedding: dict[str, Any] | None = None,
    model: dict[str, Any] | None = None,
    training: dict[str, Any] | None = None,
    **more: Any,
) -> LanguageModelConfig:
    """Return a small configuration with parts of it replaced."""
    return LanguageModelConfig.model_validate(
        {
            "name": "tiny",
            "text": {"vocabulary_size": VOCABULARY, "dev_words": 60},
            "model": {"hidden_size": 16, "layers": 2, "heads": 2, **(model or {})},
            "embedding": embedding or {},
            "training": {"epochs": 2, "streams": 4, "window": 6, **(training or {})},
            **more,
        }
    )


def words(*shape: int, seed: int = 0) -> torch.Tensor:
    """Return random words."""
    return torch.randint(0, VOCABULARY, shape, generator=torch.Generator().manual_seed(seed))


def tiny_model(
    embedding: dict[str, Any] | None = None, model: dict[str, Any] | None = None
) -> LanguageModel:
    """Return a model in evaluation mode, in double precision."""
    return LanguageModel(config(embedding, model), VOCABULARY).double().eval()


def gradient(model: LanguageModel, name: str) -> torch.Tensor:
    """Return the gradient of a weight that has one."""
    found = model.get_parameter(name).grad
    assert found is not None
    return found
