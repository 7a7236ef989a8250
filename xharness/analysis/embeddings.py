"""The input and output embeddings of a checkpoint, and the vectors of whole words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from transformers import MODEL_FOR_MASKED_LM_MAPPING, AutoModelForMaskedLM

from xharness.analysis.encoders import checkpoint_reference, model_name, quiet_loading
from xharness.encoder import DecoupledModel
from xharness.errors import InputError
from xharness.models.checkpoints import load_config, load_encoder, load_tokenizer
from xharness.models.tokenization import TransformersPieces
from xharness.tasks.pieces import PieceTokenizer

Table = npt.NDArray[np.float32]


@dataclass(frozen=True)
class EmbeddingTables:
    """The embeddings of one checkpoint.

    Attributes:
        name: What tables and figures call the checkpoint.
        config: Its configuration.
        pieces: Its tokenizer.
        ordinary: Ids of the pieces that are no special tokens.
        input: What enters the encoder for each piece, before positions: (vocabulary, input width).
        output: What the logits are products with, (vocabulary, output width); ``None`` where the checkpoint has none.
        tied: Whether both are the same matrix.
        note: Why there is no output embedding.
    """

    name: str
    config: Any
    pieces: TransformersPieces
    ordinary: npt.NDArray[np.int64]
    input: Table
    output: Table | None
    tied: bool = False
    note: str = ""


def open_tables(model: str) -> EmbeddingTables:
    """Read the embeddings of a checkpoint.

    The output embedding is read only where the checkpoint holds a masked-LM head: where transformers would make up
    some of the head's weights, the encoder was saved without it.

    Raises:
        InputError: The checkpoint does not open.
    """
    reference = checkpoint_reference(model)
    config = load_config(reference)
    tokenizer, pieces = load_tokenizer(reference, config)
    table = _input_table(load_encoder(reference))
    output, tied, note = _output_table(reference, config)
    special = np.isin(np.arange(len(table)), tokenizer.all_special_ids)
    # Rows beyond the tokenizer's pieces only pad the table to a round size.
    named = np.arange(len(table)) < len(tokenizer)
    ordinary = np.flatnonzero(named & ~special)
    return EmbeddingTables(model_name(model), config, pieces, ordinary, table, output, tied, note)


def _input_table(encoder: Any) -> Table:
    if isinstance(encoder, DecoupledModel):  # whose vectors may be computed, not looked up
        computed: Table = encoder.embeddings.word_table().numpy()
        return computed
    weight: Table = encoder.get_input_embeddings().weight.detach().numpy()
    return weight


def _output_table(reference: str, config: Any) -> tuple[Table | None, bool, str]:
    if type(config) not in MODEL_FOR_MASKED_LM_MAPPING:
        return None, False, f"{config.model_type} has no masked-LM head"
    with quiet_loading():
        try:
            model, info = AutoModelForMaskedLM.from_pretrained(
                reference,
                trust_remote_code=False,
                use_safetensors=True,
                dtype="float32",
                output_loading_info=True,
            )
        except (
            Exception
        ) as error:  # safetensors and transformers raise many types for damaged files
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"the masked-LM head does not load: {first}", where=reference
            ) from error
    prefix = f"{model.base_model_prefix}."
    absent = {*info["missing_keys"], *(found[0] for found in info["mismatched_keys"])}
    if any(not key.startswith(prefix) for key in absent):
        return None, False, "the checkpoint holds no masked-LM head"
    layer = model.get_output_embeddings()
    if layer is None:
        return None, False, "the family names no output embedding"
    tied = layer.weight is model.get_input_embeddings().weight
    return layer.weight.detach().numpy(), tied, ""


def word_vectors(words: Sequence[str], table: Table, pieces: PieceTokenizer) -> dict[str, Table]:
    """Return the mean of each word's pieces' vectors, as RemBERT's section 6.1 has it.

    A word of no piece has no vector, nor has one with an unknown piece, whose vector says nothing of the word.

    Args:
        words: The words; repeated ones count once.
        table: (vocabulary, width).
        pieces: Cuts words as inside a sentence.
    """
    distinct = list(dict.fromkeys(words))
    cut = pieces.words(distinct)
    vectors = {}
    for number, word in enumerate(distinct):
        ids = cut[number]
        if len(ids) and pieces.unknown_id not in ids:
            vectors[word] = table[ids].mean(axis=0)
    return vectors
