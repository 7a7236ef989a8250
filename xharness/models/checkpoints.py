"""Opening transformers checkpoints: configuration, tokenizer, weights; safetensors only, no remote code."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path
from typing import Any

from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
)
from transformers.utils import cached_file
from transformers.utils.logging import disable_progress_bar

from xharness.errors import InputError
from xharness.models.tokenization import TransformersPieces
from xharness.specs.task import Kind, TaskSpec

HEADS: dict[Kind, Any] = {
    "pair_classification": AutoModelForSequenceClassification,
    "tagging": AutoModelForTokenClassification,
    "question_answering": AutoModelForQuestionAnswering,
}

#: What an architecture with the head of a kind is called.
HEAD_SUFFIX: dict[Kind, str] = {
    "pair_classification": "ForSequenceClassification",
    "tagging": "ForTokenClassification",
    "question_answering": "ForQuestionAnswering",
}

#: Families whose positions begin after the padding index, as RoBERTa's do.
_OFFSET_POSITIONS = (
    "roberta",
    "camembert",
    "data2vec-text",
    "ibert",
    "longformer",
    "mpnet",
    "xmod",
)


# Bars of checkpoint loading would break into the display of a run.
disable_progress_bar()


def load_config(reference: str) -> Any:
    """Load a checkpoint's configuration.

    Raises:
        InputError: The reference is no folder with a config and no hub id that can be fetched.
    """
    try:
        return AutoConfig.from_pretrained(reference, trust_remote_code=False)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"no usable checkpoint: {_first_line(error)}",
            where=reference,
            mend="give a folder with config.json, or a hub id that is cached or can be fetched",
        ) from error


def load_tokenizer(reference: str, config: Any) -> tuple[Any, TransformersPieces]:
    """Load a checkpoint's tokenizer, and the pieces that it makes.

    Raises:
        InputError: There is none, or it does not load.
    """
    try:
        tokenizer = AutoTokenizer.from_pretrained(reference, trust_remote_code=False)
    except Exception as error:  # tokenizers raises bare Exception for a damaged file
        raise InputError(
            f"no usable tokenizer: {_first_line(error)}",
            where=reference,
            mend="put the checkpoint's tokenizer files beside its config",
        ) from error
    if tokenizer.pad_token_id is None:
        raise InputError("the tokenizer has no padding token", where=reference)
    with_types = (
        "token_type_ids" in tokenizer.model_input_names
        and (getattr(config, "type_vocab_size", 0) or 0) > 1
    )
    return tokenizer, TransformersPieces(tokenizer, max_positions(config, tokenizer), with_types)


def max_positions(config: Any, tokenizer: Any) -> int:
    """Return the longest window that both the model's positions and its tokenizer allow."""
    positions = getattr(config, "max_position_embeddings", None) or 1_000_000
    if any(family in config.model_type for family in _OFFSET_POSITIONS):
        positions -= (config.pad_token_id or 0) + 1
    return int(min(positions, tokenizer.model_max_length, 1_000_000))


def load_encoder(reference: str, layers: int | None = None) -> Any:
    """Load a checkpoint as an encoder without head, in float32, its first ``layers`` blocks only."""
    changes = {} if layers is None else {"num_hidden_layers": layers}
    return _load(AutoModel, reference, **changes)


def load_with_head(reference: str, task: TaskSpec) -> Any:
    """Load a checkpoint with the head of a task's kind, in float32; a new head is initialised by torch's seed.

    Raises:
        InputError: The family has no such head, or the weights do not load.
    """
    changes: dict[str, Any] = {}
    if task.labels:
        changes["num_labels"] = len(task.labels)
        changes["id2label"] = dict(enumerate(task.labels))
        changes["label2id"] = {label: i for i, label in enumerate(task.labels)}
        changes["ignore_mismatched_sizes"] = True
    return _load(HEADS[task.kind], reference, **changes)


def load_as_is(reference: str, task: TaskSpec) -> Any:
    """Load a checkpoint with the head and labels that it has."""
    return _load(HEADS[task.kind], reference)


def _load(auto: Any, reference: str, **changes: Any) -> Any:
    # The list of newly initialised head weights is expected here and would break up the progress display.
    logger = logging.getLogger("transformers")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        return auto.from_pretrained(
            reference, trust_remote_code=False, use_safetensors=True, dtype="float32", **changes
        )
    except Exception as error:  # safetensors and transformers raise many types for damaged files
        raise InputError(
            f"the checkpoint does not load: {_first_line(error)}",
            where=reference,
            mend="it needs intact model.safetensors weights of a family with this kind of head",
        ) from error
    finally:
        logger.setLevel(level)


def weights_digest(reference: str) -> str:
    """Return the SHA-256 over a checkpoint's safetensors files, in order of their names.

    Raises:
        InputError: It has none.
    """
    folder = Path(reference)
    if folder.is_dir():
        paths = sorted(folder.glob("*.safetensors"))
    else:
        found = cached_file(
            reference, "model.safetensors", _raise_exceptions_for_missing_entries=False
        )
        paths = [Path(found)] if found else []
    if not paths:
        raise InputError(
            "no safetensors weights",
            where=reference,
            mend="convert pytorch_model.bin to model.safetensors; pickled weights are never loaded",
        )
    total = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
