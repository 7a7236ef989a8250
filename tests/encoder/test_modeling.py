"""The encoder's arithmetic: attention, padding, checkpointing, dropout, seeds, files."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn
from transformers import AutoModel, AutoModelForMaskedLM, set_seed

from tests.encoder.tiny_models import (
    KINDS,
    VOCABULARY,
    assert_equal,
    batch,
    filled,
    saved,
    tiny_config,
)
from xharness import encoder
from xharness.encoder import DecoupledForMaskedLM, DecoupledModel
from xharness.errors import InputError

encoder.register()


def gradients(model: Any) -> dict[str, torch.Tensor]:
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def test_fused_attention_equals_the_plain_one() -> None:
    """SDPA against softmax(Q K' / sqrt(d) + mask) V, which runs where the attention weights are asked for."""
    model = filled(DecoupledModel(tiny_config()))
    fused = model(**batch())
    plain = model(**batch(), output_attentions=True)
    torch.testing.assert_close(plain.last_hidden_state, fused.last_hidden_state)
    assert fused.attentions is None
    assert [weights.shape for weights in plain.attentions] == [(3, 4, 11, 11)] * 2
    for weights in plain.attentions:
        torch.testing.assert_close(weights.sum(-1), torch.ones(3, 4, 11))
        # Nothing attends to padding.
        assert torch.all(weights[2, :, :, -6:] == 0)


def test_training_in_bfloat16_attends_without_fusing_and_to_the_same_result() -> None:
    """The fused gradient is slow in bfloat16 on a CPU; its 8 bits of fraction allow for the difference."""
    model = filled(DecoupledModel(tiny_config()))
    with torch.autocast("cpu", torch.bfloat16):
        training = model(**batch()).last_hidden_state
        with torch.no_grad():
            inference = model(**batch()).last_hidden_state
    assert "scaled_dot_product" not in names_in_graph(training)
    torch.testing.assert_close(training, inference, atol=0.02, rtol=0.02)
    assert "scaled_dot_product" in names_in_graph(model(**batch()).last_hidden_state)


def names_in_graph(result: torch.Tensor) -> str:
    """Return the names of all operations whose gradients lead to a result."""
    seen, waiting = set(), [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting += [before for before, _ in node.next_functions]
    return " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", node.name()).lower() for node in seen)


def test_attention_may_start_local(tmp_path: Path) -> None:
    """Waves of twice the deviation as positions; 0.7 times the identity added to queries and keys."""
    config = tiny_config(start="local", initializer_range=0.05)
    model: Any = DecoupledModel(config)
    table = model.embeddings.position_embeddings.weight.detach()
    width = table.shape[1]
    for position, pair in ((0, 0), (3, 0), (5, 1), (7, width // 2 - 1)):
        angle = position / 10_000 ** (2 * pair / width)
        assert table[position, 2 * pair] == pytest.approx(0.1 * 2**0.5 * math.sin(angle), abs=1e-6)
        cosine = 0.1 * 2**0.5 * math.cos(angle)
        assert table[position, 2 * pair + 1] == pytest.approx(cosine, abs=1e-6)
    assert table.square().mean().sqrt() == pytest.approx(0.1, rel=1e-5)
    for block in model.encoder.layer:
        attention = block.attention.self
        for part in (attention.query, attention.key):
            drawn = part.weight.detach() - 0.7 * torch.eye(len(part.weight))
            assert drawn.std() == pytest.approx(0.05, rel=0.2)
        assert attention.value.weight.detach().diagonal().mean().abs() < 0.1
    narrow = tiny_config(start="local", input_embedding_size=16, hidden_size=256)
    mapped: Any = DecoupledModel(narrow).encoder.embedding_hidden_mapping_in
    assert mapped.weight.detach().std() == pytest.approx(16**-0.5, rel=0.1)
    # They are learned like any others, and what was saved is not set anew.
    assert model.embeddings.position_embeddings.weight.requires_grad
    trained = filled(model)
    trained.save_pretrained(tmp_path)
    again = AutoModel.from_pretrained(tmp_path)
    for name, weight in trained.state_dict().items():
        assert torch.equal(again.state_dict()[name], weight), name


@pytest.mark.parametrize("with_weights", [False, True])
def test_padding_changes_nothing(with_weights: bool) -> None:
    model = filled(DecoupledModel(tiny_config()))
    padded = batch()
    together = model(**padded, output_attentions=with_weights).last_hidden_state
    for row, length in enumerate((11, 7, 5)):
        alone = {name: part[row : row + 1, :length] for name, part in padded.items()}
        torch.testing.assert_close(
            model(**alone).last_hidden_state[0], together[row, :length], atol=1e-6, rtol=1e-5
        )


def test_a_row_of_padding_alone_gives_numbers() -> None:
    padded = batch()
    padded["attention_mask"][1] = 0
    states = filled(DecoupledModel(tiny_config()))(**padded).last_hidden_state
    assert torch.isfinite(states).all()


def test_token_types_and_positions_are_counted_from_zero_where_absent() -> None:
    model = filled(DecoupledModel(tiny_config()))
    pieces = batch()["input_ids"]
    given = model(
        pieces,
        token_type_ids=torch.zeros_like(pieces),
        position_ids=torch.arange(11).expand(3, 11),
        attention_mask=torch.ones_like(pieces),
    )
    torch.testing.assert_close(model(pieces).last_hidden_state, given.last_hidden_state)


def test_states_of_all_layers() -> None:
    """The first block's input foremost, the last block's output last, as transformers returns them."""
    output = filled(DecoupledModel(tiny_config()))(**batch(), output_hidden_states=True)
    assert len(output.hidden_states) == 3
    assert torch.equal(output.hidden_states[-1], output.last_hidden_state)
    pooled = output.pooler_output
    assert pooled.shape == (3, 32)
    plain = filled(DecoupledModel(tiny_config()))(**batch(), return_dict=False)
    assert torch.equal(plain[0], output.last_hidden_state)
    assert torch.equal(plain[1], pooled)


def test_word_vectors_in_place_of_pieces() -> None:
    model = filled(DecoupledModel(tiny_config(**KINDS["define"])))
    inputs = batch()
    vectors = model.embeddings.word_vectors(inputs.pop("input_ids"))
    expected = model(**batch()).last_hidden_state
    torch.testing.assert_close(model(inputs_embeds=vectors, **inputs).last_hidden_state, expected)


def test_too_long_a_sequence_is_refused() -> None:
    model = DecoupledModel(tiny_config())
    with pytest.raises(InputError, match="sequences of 21 pieces are longer than 20 positions"):
        model(torch.ones(1, 21, dtype=torch.long))


@pytest.mark.parametrize("kind", ["decoupled", "define"])
def test_gradient_checkpointing_gives_the_same_gradients(kind: str) -> None:
    def run(checkpointing: bool) -> tuple[float, dict[str, torch.Tensor]]:
        model = filled(DecoupledForMaskedLM(tiny_config(**KINDS[kind], hidden_dropout_prob=0.1)))
        if checkpointing:
            model.gradient_checkpointing_enable()
            assert all(block.gradient_checkpointing for block in model.rembert.encoder.layer)
        model.train()
        torch.manual_seed(3)
        loss = model(**batch(), labels=batch(seed=9)["input_ids"]).loss
        loss.backward()
        return loss.item(), gradients(model)

    loss, expected = run(checkpointing=False)
    checkpointed_loss, found = run(checkpointing=True)
    assert checkpointed_loss == loss
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, msg=name)


@pytest.mark.parametrize("field", ["hidden_dropout_prob", "attention_probs_dropout_prob"])
def test_dropout_is_in_training_alone(field: str) -> None:
    model = filled(DecoupledModel(tiny_config(**{field: 0.5})))
    still = model(**batch()).last_hidden_state
    assert torch.equal(model(**batch()).last_hidden_state, still)
    torch.testing.assert_close(
        still, filled(DecoupledModel(tiny_config()))(**batch()).last_hidden_state
    )
    model.train()
    torch.manual_seed(1)
    first = model(**batch()).last_hidden_state
    assert not torch.allclose(first, still)
    assert not torch.equal(model(**batch()).last_hidden_state, first)
    torch.manual_seed(1)
    assert torch.equal(model(**batch()).last_hidden_state, first)


def test_a_seed_decides_the_weights() -> None:
    def weights(seed: int) -> dict[str, torch.Tensor]:
        set_seed(seed)
        return dict(DecoupledForMaskedLM(tiny_config(**KINDS["define"])).state_dict())

    first, again, other = weights(1), weights(1), weights(2)
    assert all(torch.equal(again[name], tensor) for name, tensor in first.items())
    assert not torch.equal(
        other["cls.predictions.dense.weight"], first["cls.predictions.dense.weight"]
    )


def test_initial_weights_are_those_of_bert() -> None:
    """Normal with the configured deviation, biases and the padding's vector zero, norms one."""
    torch.manual_seed(0)
    model = DecoupledModel(
        tiny_config(hidden_size=256, input_embedding_size=128, initializer_range=0.02)
    )
    dense = dict(model.named_modules())["encoder.layer.0.attention.self.query"]
    assert isinstance(dense, nn.Linear)
    assert dense.weight.std().item() == pytest.approx(0.02, rel=0.02)
    assert not dense.bias.any()
    table = model.embeddings.word_embeddings.weight
    assert not table[0].any()
    assert table[1:].std().item() == pytest.approx(0.02, rel=0.05)
    assert (model.embeddings.LayerNorm.weight == 1).all()


def test_define_layers_start_by_xavier() -> None:
    """Uniform within sqrt(6 / (inputs + outputs)) of a group, as in the authors' code."""
    torch.manual_seed(0)
    config = tiny_config(input_kind="define", input_factor_size=64, define_expansion_size=256)
    for layer in DecoupledModel(config).embeddings.word_transform.expand:  # type: ignore[union-attr]
        bound = (6 / (layer.weight.shape[1] + layer.weight.shape[2])) ** 0.5
        assert 0.98 * bound < layer.weight.abs().max().item() <= bound
        assert not layer.bias.any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("head", [AutoModel, AutoModelForMaskedLM])
def test_saved_and_loaded_it_is_the_same(kind: str, head: Any, tmp_path: Path) -> None:
    model = filled(head.from_config(tiny_config(**KINDS[kind])))
    again, info = head.from_pretrained(saved(model, tmp_path), output_loading_info=True)
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    expected, found = model.state_dict(), again.state_dict()
    assert expected.keys() == found.keys()
    assert all(torch.equal(found[name], tensor) for name, tensor in expected.items())
    assert_equal(again(**batch())[0], model(**batch())[0])


def test_coupled_embeddings_stay_one(tmp_path: Path) -> None:
    model = filled(DecoupledForMaskedLM(tiny_config(**KINDS["coupled"])))
    again = DecoupledForMaskedLM.from_pretrained(saved(model, tmp_path))
    table = again.get_input_embeddings().weight
    assert again.get_output_embeddings().weight is table
    again(**batch(), labels=batch(seed=9)["input_ids"]).loss.backward()
    torch.optim.SGD(again.parameters(), lr=0.5).step()
    assert again.get_output_embeddings().weight is again.get_input_embeddings().weight
    assert not torch.equal(table, model.get_input_embeddings().weight)


def test_decoupled_embeddings_of_one_size_are_two(tmp_path: Path) -> None:
    config = tiny_config(input_embedding_size=24)
    again = DecoupledForMaskedLM.from_pretrained(saved(DecoupledForMaskedLM(config), tmp_path))
    assert again.get_output_embeddings().weight is not again.get_input_embeddings().weight


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("kind", ["table", "factorised", "define", "coupled"])
def test_a_frozen_table_stays_bit_for_bit(kind: str, loaded: bool, tmp_path: Path) -> None:
    changes = KINDS.get(kind, {})
    model: Any = DecoupledForMaskedLM(tiny_config(**changes, freeze_input_embedding=True))
    model = filled(model)
    if loaded:
        model = DecoupledForMaskedLM.from_pretrained(saved(model, tmp_path))
    model.train()
    table = model.get_input_embeddings().weight
    before = table.detach().clone()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.1)
    model(**batch(), labels=batch(seed=9)["input_ids"]).loss.backward()
    optimizer.step()
    assert table.grad is None
    assert torch.equal(model.get_input_embeddings().weight, before)
    assert all(p.grad is not None for p in model.parameters() if p.requires_grad)


@pytest.mark.parametrize("kind", ["factorised", "define"])
def test_the_cached_table_gives_the_same_states(kind: str) -> None:
    model = filled(DecoupledModel(tiny_config(**KINDS[kind])))
    cached = model.with_cached_input()
    assert cached.config.input_kind == "table"
    assert cached.embeddings.word_transform is None
    every_piece = torch.arange(VOCABULARY).view(3, 20)
    torch.testing.assert_close(
        cached(every_piece).last_hidden_state, model(every_piece).last_hidden_state
    )
    with torch.no_grad():
        unit = model.embeddings.word_transform(model.embeddings.word_embeddings.weight)
    torch.testing.assert_close(cached.embeddings.word_embeddings.weight.detach(), unit)
    in_parts = model.embeddings.word_table(at_once=7)
    torch.testing.assert_close(in_parts, unit)


@pytest.mark.parametrize("kind", ["factorised", "define"])
def test_equal_pieces_share_one_computation_and_its_gradient(kind: str) -> None:
    """Transforming distinct pieces once gives the gradients of transforming every position."""
    config = tiny_config(**KINDS[kind])
    pieces = torch.tensor([[3, 5, 3, 3], [5, 7, 9, 3]])
    weight = torch.randn(2, 4, 16)
    shared = filled(DecoupledModel(config)).embeddings
    (shared.word_vectors(pieces) * weight).sum().backward()
    plain = filled(DecoupledModel(config)).embeddings
    (
        plain.word_transform(plain.word_embeddings(pieces.flatten())).view(2, 4, 16) * weight
    ).sum().backward()
    expected = gradients(plain)
    assert "word_embeddings.weight" in expected
    for name, gradient in gradients(shared).items():
        torch.testing.assert_close(gradient, expected[name])


SIZES = st.sampled_from([4, 8, 12, 24])


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(
    input_size=SIZES,
    output_size=SIZES,
    layers=st.integers(1, 3),
    extra=st.integers(0, 2),
    kind=st.sampled_from(["table", "factorised", "define"]),
    coupled=st.booleans(),
    projection=st.booleans(),
    act=st.sampled_from(["gelu", "relu", "gelu_new"]),
    pad=st.sampled_from([None, 0, 7]),
)
def test_any_configuration_survives_its_files(
    tmp_path_factory: pytest.TempPathFactory,
    input_size: int,
    output_size: int,
    layers: int,
    extra: int,
    kind: str,
    coupled: bool,
    projection: bool,
    act: str,
    pad: int | None,
) -> None:
    coupled = coupled and kind == "table"
    config = tiny_config(
        hidden_size=24,
        num_hidden_layers=layers,
        extra_layers=extra,
        input_embedding_size=input_size,
        output_embedding_size=input_size if coupled else output_size,
        coupling="coupled" if coupled else "decoupled",
        input_kind=kind,
        input_factor_size=None if kind == "table" else 8,
        define_expansion_size=20,
        input_projection=projection or input_size != 24,
        hidden_act=act,
        pad_token_id=pad,
    )
    folder = tmp_path_factory.mktemp("any")
    model = filled(DecoupledForMaskedLM(config))
    again = AutoModelForMaskedLM.from_pretrained(saved(model, folder))
    assert again.config.pad_token_id == pad
    expected, found = model.state_dict(), again.state_dict()
    assert all(torch.equal(found[name], tensor) for name, tensor in expected.items())
    assert_equal(again(**batch()).logits, model(**batch()).logits)
    assert len(again.rembert.encoder.layer) == layers + extra
