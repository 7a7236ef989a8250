"""The configuration: derived sizes, and a message for every value that cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from tests.encoder.tiny_models import KINDS, tiny_config
from xharness.encoder import DecoupledConfig
from xharness.errors import InputError


def test_sizes_left_out_follow_from_the_width() -> None:
    config = DecoupledConfig(hidden_size=48, num_attention_heads=4)
    assert config.intermediate_size == 192
    assert config.input_embedding_size == 48
    assert config.output_embedding_size == 48
    assert config.input_projection is False


def test_the_output_follows_the_input() -> None:
    config = DecoupledConfig(input_embedding_size=128)
    assert config.output_embedding_size == 128
    assert config.input_projection is True


@pytest.mark.parametrize("coupling", ["coupled", "decoupled"])
def test_coupling_decides_tying(coupling: str) -> None:
    config = DecoupledConfig(coupling=coupling)
    assert config.tie_word_embeddings == (coupling == "coupled")


@pytest.mark.parametrize("kind", KINDS)
def test_a_configuration_survives_its_file(kind: str, tmp_path: Any) -> None:
    config = tiny_config(**KINDS[kind], id2label={0: "no", 1: "maybe", 2: "yes"})
    config.save_pretrained(tmp_path)
    again = DecoupledConfig.from_pretrained(tmp_path)
    assert again.to_dict() == config.to_dict()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocab_size": 0}, "vocab_size: 0 is not a whole number of at least 1"),
        ({"hidden_size": "wide"}, "hidden_size: 'wide' is not a whole number of at least 1"),
        ({"hidden_size": 32.0}, "hidden_size: 32.0 is not a whole number of at least 1"),
        ({"num_hidden_layers": True}, "num_hidden_layers: True is not a whole number"),
        ({"num_hidden_layers": None}, "num_hidden_layers: None is not a whole number"),
        ({"extra_layers": -1}, "extra_layers: -1 is not a whole number of at least 0"),
        ({"num_attention_heads": 0}, "num_attention_heads: 0 is not"),
        ({"num_attention_heads": 5}, "num_attention_heads: 5 heads do not divide a width of 32"),
        ({"intermediate_size": 0}, "intermediate_size: 0 is not"),
        ({"input_embedding_size": -4}, "input_embedding_size: -4 is not"),
        ({"type_vocab_size": 0}, "type_vocab_size: 0 is not"),
        ({"max_position_embeddings": 0}, "max_position_embeddings: 0 is not"),
        ({"hidden_dropout_prob": 1.0}, "hidden_dropout_prob: 1.0 is not a share from 0 up to 1"),
        ({"attention_probs_dropout_prob": -0.1}, "attention_probs_dropout_prob: -0.1 is not"),
        ({"classifier_dropout_prob": "0.1"}, "classifier_dropout_prob: '0.1' is not"),
        ({"pad_token_id": 60}, "pad_token_id: 60 is not in a vocabulary of 60"),
        ({"coupling": "tied"}, "coupling: 'tied' is none of coupled, decoupled"),
        ({"input_kind": "hash"}, "input_kind: 'hash' is none of table, factorised, define"),
        ({"hidden_act": "gelo"}, "hidden_act: 'gelo' is none of gelu"),
        ({"tie_word_embeddings": True}, "tie_word_embeddings: decoupled embeddings cannot be tied"),
        ({"input_projection": False}, "input_projection: input embeddings of 16 need a map"),
        ({"input_kind": "factorised"}, "input_factor_size: input kind factorised needs a width"),
        ({"input_factor_size": 8}, "input_factor_size: input kind table has no narrower vector"),
        (
            {"coupling": "coupled"},
            "coupling: coupled embeddings of sizes 16 and 24 (make the sizes equal",
        ),
        (
            {"coupling": "coupled", "input_kind": "factorised", "input_factor_size": 8},
            "coupling: input kind factorised has no table to share with the output",
        ),
        (
            {"input_kind": "define", "input_factor_size": 12},
            "define_groups: 8 groups do not divide a width of 12 (take a power of two",
        ),
        (
            {"input_kind": "define", "input_factor_size": 16, "define_expansion_size": 8},
            "define_expansion_size: an expansion to 8 is narrower than its input of 16",
        ),
        (
            {"input_kind": "define", "input_factor_size": 16, "define_depth": 0},
            "define_depth: 0 is not a whole number of at least 1",
        ),
    ],
)
def test_what_cannot_be_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        tiny_config(**changes)
    assert str(caught.value).startswith(message)


def test_rembert_configurations_always_have_the_projection() -> None:
    """transformers' RemBERT maps its embeddings even where they are as wide as the blocks."""
    config = tiny_config(input_embedding_size=32, model_type="rembert")
    assert config.input_projection is True
    assert config.model_type == "decoupled_encoder"
