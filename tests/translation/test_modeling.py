from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from xharness.translation.config import TransformerSettings
from xharness.translation.modeling import TranslationModel, position_vectors
from xharness.translation.vocabulary import BEGIN, END, PAD

V, D = 50, 16
DEFINE = {"map_size": 8, "expansion_size": 32, "depth": 3, "groups": 2}
KINDS: list[dict[str, Any]] = [
    {"tying": "none"},
    {"tying": "decoder"},
    {"tying": "three-way"},
    {"tying": "none", "define": DEFINE},
    {"tying": "decoder", "define": DEFINE},
]


def model_of(kind: dict[str, Any], dropout: float = 0.0) -> TranslationModel:
    torch.manual_seed(1)
    shape = {"width": D, "encoder_layers": 2, "decoder_layers": 2, "heads": 2, "feed_forward": 24}
    settings = TransformerSettings.model_validate({**shape, "dropout": dropout, **kind})
    return TranslationModel(settings, V)


def total(kind: dict[str, Any]) -> int:
    return model_of(kind).parameter_counts()["total"]


def batch() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    source = torch.tensor([[5, 6, 7, END], [8, END, PAD, PAD]])
    inputs = torch.tensor([[BEGIN, 9, PAD], [BEGIN, 10, 11]])
    positions = torch.tensor([0, 1, 3, 4, 5])
    return source, inputs, positions, torch.tensor([9, END, 10, 11, END])


def test_tying_saves_one_and_two_matrices_of_v_by_d() -> None:
    # Press and Wolf, arXiv 1608.05859, section 4: V x d for the decoder's pair, 2 V x d for all three.
    untied = total({"tying": "none"})
    assert untied - total({"tying": "decoder"}) == V * D
    assert untied - total({"tying": "three-way"}) == 2 * V * D


def test_parameters_of_define_inputs() -> None:
    # Widths 16, 24, 32 by groups 2, 1, 1 from a map of 8; each layer has its matrix, a bias and a normalisation.
    layers = 8 * 16 // 2 + 16 + 2 * 8, (8 + 16) * 24 + 24 + 2 * 24, (8 + 24) * 32 + 32 + 2 * 32
    unit = sum(layers) + 32 * D + D
    plain, define = total({"tying": "none"}), total({"tying": "none", "define": DEFINE})
    assert plain - define == 2 * (V * D - V * 8 - unit)
    # Tied, the classifier is the map itself, reached from width d by one matrix.
    tied = total({"tying": "decoder", "define": DEFINE})
    assert define - tied == V * D - D * 8


def test_counts_of_embeddings_leave_the_blocks_alone() -> None:
    blocks = {
        counts["total"] - counts["embeddings"]
        for counts in (model_of(kind).parameter_counts() for kind in KINDS)
    }
    assert len(blocks) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_loss_and_gradients_are_those_of_torch_over_all_logits(
    kind: dict[str, Any], smoothing: float
) -> None:
    source, inputs, positions, labels = batch()
    model = model_of(kind)
    loss, entropy = model.loss(source, inputs, positions, labels, smoothing)
    torch.autograd.backward(loss)
    found = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    logits = model.states(source, inputs).flatten(0, 1)[positions] @ model.classifier.t()
    expected = cross_entropy(logits, labels, label_smoothing=smoothing)
    torch.autograd.backward(expected)
    assert loss.item() == pytest.approx(expected.item(), abs=1e-5)
    assert entropy.item() == pytest.approx(cross_entropy(logits, labels).item(), abs=1e-5)
    assert len(found) == len(list(model.parameters()))
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(found[name], parameter.grad, atol=1e-5, rtol=1e-4)


def test_bfloat16_logits_change_the_loss_by_rounding_alone() -> None:
    model = model_of({"tying": "three-way"})
    exact, _ = model.loss(*batch(), smoothing=0.1)
    rounded, _ = model.loss(*batch(), smoothing=0.1, dtype=torch.bfloat16)
    assert rounded.item() == pytest.approx(exact.item(), rel=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_and_neighbours_change_nothing(kind: dict[str, Any]) -> None:
    model = model_of(kind).eval()
    source, inputs, _, _ = batch()
    together = model.states(source, inputs)
    alone = model.states(source[1:, :2], inputs[1:])
    torch.testing.assert_close(together[1:], alone, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(
        together[:1, :2], model.states(source[:1], inputs[:1, :2]), atol=1e-5, rtol=1e-4
    )


def test_no_position_sees_a_later_one() -> None:
    model = model_of({"tying": "none"}).eval()
    source, inputs, _, _ = batch()
    changed = inputs.clone()
    changed[:, 2] = 30
    before, after = model.states(source, inputs), model.states(source, changed)
    torch.testing.assert_close(before[:, :2], after[:, :2])
    assert not torch.allclose(before[1, 2], after[1, 2])


@pytest.mark.parametrize("kind", KINDS)
def test_one_position_at_a_time_gives_the_logits_of_all_at_once(kind: dict[str, Any]) -> None:
    model = model_of(kind).eval()
    source = batch()[0]
    hypotheses = torch.tensor([[[BEGIN, 9, 12], [BEGIN, 13, 9]], [[BEGIN, 4, 4], [BEGIN, 5, 6]]])
    memory = model.encode(source)
    kept = None
    for position in range(3):
        logits, kept = model.step(hypotheses[:, :, position], position, kept, memory)
        whole = model.states(
            source.repeat_interleave(2, 0), hypotheses.flatten(0, 1)[:, : position + 1]
        )
        expected = whole[:, -1] @ model.classifier.t()
        torch.testing.assert_close(logits.flatten(0, 1), expected, atol=1e-5, rtol=1e-4)


def test_dropout_is_there_in_training_alone() -> None:
    model = model_of({"tying": "none"}, dropout=0.5)
    source, inputs, _, _ = batch()
    assert not torch.equal(model.states(source, inputs), model.states(source, inputs))
    model.eval()
    assert torch.equal(model.states(source, inputs), model.states(source, inputs))


def test_positions_are_sines_and_cosines() -> None:
    found = position_vectors(3, 2, 4, torch.device("cpu"))
    # Wavelengths 2 pi and 2 pi 100 at width 4: angles 3, 0.03 and 4, 0.04.
    angles = torch.tensor([[3.0, 0.03], [4.0, 0.04]])
    torch.testing.assert_close(found, torch.cat((angles.sin(), angles.cos()), 1))
