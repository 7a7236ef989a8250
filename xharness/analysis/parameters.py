"""Parameter counts, taken from the very modules of a model, built without memory for their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn
from transformers import AutoModel, AutoModelForMaskedLM, PretrainedConfig

from xharness import encoder
from xharness.errors import InputError

Pooler = Literal["none", "pre_training", "both"]

encoder.register()


@dataclass(frozen=True)
class Convention:
    """What counts beside the encoder. A task's head never does; position and token type embeddings always do.

    The default measures fine-tuning as RemBERT's authors do (arXiv 2010.12821, section 2: without task head, output
    embedding and pooler) and pre-training by all that its model holds.

    Attributes:
        pooler: Whether the map over the first token counts nowhere, in pre-training, or in fine-tuning too.
        head: Whether the masked-LM head's transform and biases count, and not its output table alone.
    """

    pooler: Pooler = "none"
    head: bool = True


@dataclass(frozen=True)
class Counts:
    """Parameters of a model, part by part.

    Attributes:
        embedding: Vectors of the pieces, with what makes the input vectors of them.
        frozen: Those of them that training leaves as they are.
        encoder: All that fine-tuning has, the embedding included, without pooler and task head.
        pooler: The map over the first token.
        extra_layers: Blocks that fine-tuning drops.
        output_embedding: The output table; 0 where it is the input's.
        head: The rest of the masked-LM head: transform, norm, biases.
    """

    embedding: int
    frozen: int
    encoder: int
    pooler: int
    extra_layers: int
    output_embedding: int
    head: int

    def fine_tuning(self, convention: Convention) -> int:
        """Return the parameters in fine-tuning."""
        return self.encoder + self.pooler * (convention.pooler == "both")

    def pre_training(self, convention: Convention) -> int:
        """Return the parameters in pre-training."""
        return (
            self.encoder
            + self.pooler * (convention.pooler != "none")
            + self.extra_layers
            + self.output_embedding
            + self.head * convention.head
        )


def count(config: PretrainedConfig) -> Counts:
    """Count the parameters of an encoder with a masked-LM head.

    Both models are built by the Auto classes on the meta device, where weights have sizes and no values.

    Args:
        config: Of any family that has such a head.

    Raises:
        InputError: The family has none.
    """
    with torch.device("meta"):
        try:
            masked_lm = AutoModelForMaskedLM.from_config(config)
            fine_tuned = AutoModel.from_config(config)
        except Exception as error:  # families refuse sizes that do not fit in ways of their own
            first = str(error).strip().split("\n")[0]
            raise InputError(
                f"no encoder with a masked-LM head: {first}",
                where=f"model type {config.model_type}",
            ) from error
    table = fine_tuned.get_input_embeddings()
    embedding = _size(table)
    transform = getattr(getattr(fine_tuned, "embeddings", None), "word_transform", None)
    pooler = _size(getattr(fine_tuned, "pooler", None))
    kept = _size(fine_tuned) - pooler
    base = masked_lm.base_model
    pre_trained = _size(base) - _size(getattr(base, "pooler", None))
    output = masked_lm.get_output_embeddings()
    tied = output is None or output.weight is masked_lm.get_input_embeddings().weight
    output_embedding = 0 if tied else int(output.weight.numel())
    return Counts(
        embedding=embedding + _size(transform),
        frozen=sum(p.numel() for p in table.parameters() if not p.requires_grad),
        encoder=kept,
        pooler=pooler,
        extra_layers=pre_trained - kept,
        output_embedding=output_embedding,
        head=_size(masked_lm) - _size(base) - output_embedding,
    )


def _size(module: Any) -> int:
    """Return the parameters of a module, shared ones once."""
    return sum(p.numel() for p in module.parameters()) if isinstance(module, nn.Module) else 0
