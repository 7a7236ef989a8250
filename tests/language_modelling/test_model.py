"""The whole model: distributions, tying, projection regularisation, seeds."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.language_modelling.tiny_models import (
    EMBEDDINGS,
    VOCABULARY,
    config,
    gradient,
    tiny_model,
    words,
)
from xharness.errors import InputError
from xharness.language_modelling.model import LanguageModel


@pytest.mark.parametrize("kind", ["lstm", "transformer"])
@pytest.mark.parametrize("embedding", EMBEDDINGS.values(), ids=EMBEDDINGS)
def test_the_loss_is_that_of_a_distribution(kind: str, embedding: dict[str, Any]) -> None:
    model = LanguageModel(config(embedding, {"kind": kind}), VOCABULARY).eval()
    inputs, targets = words(5, 2), words(5, 2, seed=1)
    found = model.log_probabilities(inputs)
    torch.testing.assert_close(found.exp().sum(2), torch.ones(5, 2))
    loss, state = model(inputs, targets, None)
    torch.testing.assert_close(loss, -found.gather(2, targets[..., None]).sum())
    assert all(torch.isfinite(part).all() for part in state)
    loss.backward()
    without = [name for name, one in model.trained_parameters() if one.grad is None]
    assert without == []


def test_tied_vectors_get_both_gradients() -> None:
    """The gradient of the one matrix is the sum of what the two have in an untied model of the same weights."""
    tied, untied = tiny_model({"tied": True}), tiny_model()
    weights = {name: one for name, one in tied.state_dict().items() if name != "classifier.weight"}
    untied.load_state_dict({**weights, "classifier.weight": weights["input.lookup.weight"]})
    inputs, targets = words(5, 2), words(5, 2, seed=1)
    for model in (tied, untied):
        model(inputs, targets, None)[0].backward()
    shared, own, other = (
        gradient(model, name)
        for model, name in (
            (tied, "input.lookup.weight"),
            (untied, "input.lookup.weight"),
            (untied, "classifier.weight"),
        )
    )
    torch.testing.assert_close(shared, own + other)
    torch.testing.assert_close(tied.output_table(), tied.input_table())
    assert not torch.allclose(other, own)


def test_penalty_by_hand() -> None:
    """0.15 / 2 times the squared Frobenius norm, 1 + 4 + 9 + ... + 256 16 times."""
    model = tiny_model({"projection": 0.15})
    assert model.projection is not None
    with torch.no_grad():
        model.projection.weight.copy_(torch.arange(1, 17).repeat(16, 1))
    assert model.penalty().item() == pytest.approx(0.15 / 2 * 16 * 1496)
    assert tiny_model().penalty() == 0


def test_projection_of_the_identity_changes_nothing() -> None:
    plain, projected = tiny_model(), tiny_model({"projection": 0.15})
    assert projected.projection is not None
    with torch.no_grad():
        for name, one in plain.named_parameters():
            projected.get_parameter(name).copy_(one)
        projected.projection.weight.copy_(torch.eye(16))
    inputs = words(5, 2)
    torch.testing.assert_close(plain.log_probabilities(inputs), projected.log_probabilities(inputs))


def test_a_seed_decides_the_weights() -> None:
    one, same, other = (
        LanguageModel(config({"tied": True}, seed=seed), VOCABULARY) for seed in (1, 1, 2)
    )
    for name, weight in one.named_parameters():
        assert torch.equal(weight, same.get_parameter(name))
    assert not torch.equal(one.input_table(), other.input_table())
    assert one.input_table().abs().max() <= 0.1


def test_counts_and_tables() -> None:
    """Tying saves vocabulary x width; the narrower tied classifier needs a map to it."""
    untied, tied = tiny_model().parameter_counts(), tiny_model({"tied": True}).parameter_counts()
    assert untied.total - tied.total == VOCABULARY * 16
    assert tied.classifier == VOCABULARY
    narrow = tiny_model(EMBEDDINGS["factorised-tied"])
    assert narrow.parameter_counts().projection == 16 * 8
    assert narrow.parameter_counts().input == VOCABULARY * 8 + 8 * 16
    assert narrow.output_table().shape == (VOCABULARY, 8)
    assert tiny_model(EMBEDDINGS["factorised"]).output_table().shape == (VOCABULARY, 16)
    for embedding in EMBEDDINGS.values():
        model = tiny_model(embedding)
        trained = sum(one.numel() for _, one in model.trained_parameters())
        assert model.parameter_counts().total == trained
    with pytest.raises(InputError, match="no table of one width"):
        tiny_model(EMBEDDINGS["adaptive"]).output_table()
