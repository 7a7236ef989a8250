"""Conversion between the decoupled encoder and transformers' RemBERT, weights bit for bit.

Both give their parameters the same names, so most checkpoints need a new configuration only. What RemBERT has no key
for is expressed in another way that gives the same states, and the ``Conversion`` tells what was.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import (
    PretrainedConfig,
    RemBertConfig,
    RemBertForMaskedLM,
    RemBertForMultipleChoice,
    RemBertForQuestionAnswering,
    RemBertForSequenceClassification,
    RemBertForTokenClassification,
    RemBertModel,
)

from xharness.encoder.checkpoint_folders import (
    PREFIX,
    Weights,
    assign,
    check_target,
    make_config,
    read_config,
    read_weights,
    size,
    write_checkpoint,
)
from xharness.encoder.configuration import DecoupledConfig
from xharness.encoder.embeddings import InputEmbeddings
from xharness.encoder.heads import (
    DecoupledForMultipleChoice,
    DecoupledForQuestionAnswering,
    DecoupledForSequenceClassification,
    DecoupledForTokenClassification,
)
from xharness.encoder.modeling import DecoupledForMaskedLM, DecoupledModel
from xharness.errors import InputError

#: What follows the family's name in the name of an architecture: the classes of either family, and a head's prefix.
_ARCHITECTURES: dict[str, tuple[Any, Any, str]] = {
    "Model": (DecoupledModel, RemBertModel, ""),
    "ForMaskedLM": (DecoupledForMaskedLM, RemBertForMaskedLM, "cls."),
    "ForSequenceClassification": (
        DecoupledForSequenceClassification,
        RemBertForSequenceClassification,
        "classifier.",
    ),
    "ForTokenClassification": (
        DecoupledForTokenClassification,
        RemBertForTokenClassification,
        "classifier.",
    ),
    "ForMultipleChoice": (DecoupledForMultipleChoice, RemBertForMultipleChoice, "classifier."),
    "ForQuestionAnswering": (
        DecoupledForQuestionAnswering,
        RemBertForQuestionAnswering,
        "qa_outputs.",
    ),
}
_FAMILY = re.compile(r"^(?:Decoupled|RemBert)")

#: Configuration keys that RemBERT has not.
_OWN_KEYS = (
    "extra_layers",
    "coupling",
    "input_kind",
    "input_factor_size",
    "define_expansion_size",
    "define_depth",
    "define_groups",
    "freeze_input_embedding",
    "start",
    "input_projection",
)
#: Keys that a conversion decides anew.
_IDENTITY_KEYS = ("model_type", "architectures", "transformers_version", "dtype", "torch_dtype")

_TABLE = f"{PREFIX}embeddings.word_embeddings.weight"
_TRANSFORM = f"{PREFIX}embeddings.word_transform."
_PROJECTION = f"{PREFIX}encoder.embedding_hidden_mapping_in"
_OUTPUT = "cls.predictions.decoder.weight"


@dataclass(frozen=True)
class Conversion:
    """What a conversion did.

    Attributes:
        architecture: Class that the result opens as.
        parameters: Parameters of the result.
        dropped: Parameters that were left out with the output embedding.
        changes: One line for each thing that is expressed in another way.
    """

    architecture: str
    parameters: int
    dropped: int
    changes: tuple[str, ...]


def to_rembert(folder: Path, into: Path, *, drop_pre_training: bool = False) -> Conversion:
    """Write a checkpoint of the decoupled encoder as one of transformers' RemBERT.

    Labels, weights' types and tokenizer files are kept. A factorised or DeFINE input becomes the table of its
    vectors, coupled embeddings become two equal ones, and an encoder without input projection gets the identity.

    Args:
        folder: The checkpoint.
        into: Folder of the result; must not exist, or be empty.
        drop_pre_training: Whether extra layers and the masked-LM head are left out, as fine-tuning does.

    Raises:
        InputError: The checkpoint is unusable or not of this family, it has extra layers that are not dropped, or
            the result cannot be written.
    """
    check_target(into)
    values = read_config(folder, DecoupledConfig.model_type)
    config = make_config(DecoupledConfig, values, folder)
    weights = read_weights(folder)
    architecture = _architecture(config, weights, folder)
    kept = dict(weights)
    if drop_pre_training and architecture == "ForMaskedLM":
        kept = {
            name: tensor
            for name, tensor in weights.items()
            if not name.startswith("cls.") and _layer(name) < config.num_hidden_layers
        }
        architecture = "Model"
    elif architecture == "ForMaskedLM" and config.extra_layers:
        raise InputError(
            f"RemBERT has no {config.extra_layers} extra layers that fine-tuning drops",
            where=f"{folder}: extra_layers",
            mend="drop them with the masked-LM head (drop_pre_training)",
        )
    dropped = size(weights) - size(kept)
    changes = [
        change
        for express in (_cache_input, _project_input, _untie, _unfreeze)
        if (change := express(config, kept, folder))
    ]
    values = {**values, **config.to_dict(), "tie_word_embeddings": False}
    target = make_config(RemBertConfig, _without(values, (*_OWN_KEYS, *_IDENTITY_KEYS)), folder)
    model = _fill(_ARCHITECTURES[architecture][1], target, kept, folder)
    write_checkpoint(model, folder, into)
    return Conversion(type(model).__name__, size(kept), dropped, tuple(changes))


def from_rembert(folder: Path, into: Path) -> Conversion:
    """Write a checkpoint of transformers' RemBERT as one of the decoupled encoder.

    Labels, weights' types and tokenizer files are kept.

    Args:
        folder: The checkpoint.
        into: Folder of the result; must not exist, or be empty.

    Raises:
        InputError: The checkpoint is unusable or not of this family, it is a decoder, or the result cannot be
            written.
    """
    check_target(into)
    values = read_config(folder, RemBertConfig.model_type)
    for key in ("is_decoder", "add_cross_attention"):
        if values.get(key):
            raise InputError(
                "only an encoder can be converted", where=f"{folder}: {key}", mend="set it to false"
            )
    source = make_config(RemBertConfig, values, folder)
    values = {**values, **source.to_dict(), "tie_word_embeddings": False, "input_projection": True}
    config = make_config(DecoupledConfig, _without(values, _IDENTITY_KEYS), folder)
    # transformers takes this key for one of generation and drops it; the way back needs it.
    config.use_cache = source.use_cache
    weights = read_weights(folder)
    architecture = _architecture(source, weights, folder)
    model = _fill(_ARCHITECTURES[architecture][0], config, weights, folder)
    write_checkpoint(model, folder, into, tokenizer_class="RemBertTokenizer")
    return Conversion(type(model).__name__, size(weights), 0, ())


def _cache_input(config: DecoupledConfig, weights: Weights, folder: Path) -> str | None:
    if config.input_kind == "table":
        return None
    with torch.device("meta"):
        embeddings = InputEmbeddings(config)
    own = f"{PREFIX}embeddings."
    state = {name.removeprefix(own): weights[name] for name in weights if name.startswith(own)}
    dtype = weights[_TABLE].dtype if _TABLE in weights else None
    assign(embeddings, {name: tensor.float() for name, tensor in state.items()}, folder)
    for name in [name for name in weights if name.startswith(_TRANSFORM)]:
        del weights[name]
    weights[_TABLE] = embeddings.word_table().to(dtype)
    return (
        f"input_kind: the {config.input_kind} input is the table of its {config.vocab_size} vectors"
    )


def _project_input(config: DecoupledConfig, weights: Weights, folder: Path) -> str | None:
    if config.input_projection:
        return None
    like = weights.get(_TABLE)
    dtype = None if like is None else like.dtype
    weights[f"{_PROJECTION}.weight"] = torch.eye(config.hidden_size, dtype=dtype)
    weights[f"{_PROJECTION}.bias"] = torch.zeros(config.hidden_size, dtype=dtype)
    return "input_projection: the blocks' input goes through the identity"


def _untie(config: DecoupledConfig, weights: Weights, folder: Path) -> str | None:
    if config.coupling == "decoupled":
        return None
    if any(name.startswith("cls.") for name in weights) and _TABLE in weights:
        weights[_OUTPUT] = weights[_TABLE].clone()
    return "coupling: input and output embeddings are two, equal at first"


def _unfreeze(config: DecoupledConfig, weights: Weights, folder: Path) -> str | None:
    if not config.freeze_input_embedding:
        return None
    return "freeze_input_embedding: the input table learns unless the training freezes it"


def _without(values: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in keys}


def _architecture(config: PretrainedConfig, weights: Weights, folder: Path) -> str:
    """Tell the architecture by the weights, and heads of one name by the configuration."""
    declared = {_FAMILY.sub("", name) for name in config.architectures or ()}
    fitting = [
        name
        for name, (_, _, prefix) in _ARCHITECTURES.items()
        if prefix and any(key.startswith(prefix) for key in weights)
    ]
    if not fitting:
        fitting = ["Model"]
    if len(fitting) > 1:
        fitting = [name for name in fitting if name in declared]
    if len(fitting) != 1:
        raise InputError(
            "the head is unknown",
            where=f"{folder / 'config.json'}: architectures",
            mend="name one, such as DecoupledForTokenClassification",
        )
    return fitting[0]


def _layer(name: str) -> int:
    found = re.match(rf"{re.escape(PREFIX)}encoder\.layer\.(\d+)\.", name)
    return int(found[1]) if found else -1


def _fill(model_class: Callable[..., Any], config: Any, weights: Weights, folder: Path) -> Any:
    """Return a model that holds the very tensors given."""
    options: dict[str, bool] = {}
    if model_class in (DecoupledModel, RemBertModel):
        options["add_pooling_layer"] = f"{PREFIX}pooler.dense.weight" in weights
        weights = {name.removeprefix(PREFIX): tensor for name, tensor in weights.items()}
    with torch.device("meta"):
        model = model_class(config, **options)
    assign(model, weights, folder)
    return model
