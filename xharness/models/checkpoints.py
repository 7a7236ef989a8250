"""Opening transformers checkpoints: configuration, tokenizer, weights; safetensors only, no remote code."""

from __future__ import annotations

import hashlib
import json
import logging
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForMultipleChoice,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
)
from transformers.utils.logging import disable_progress_bar

from xharness import encoder
from xharness.errors import InputError
from xharness.files import unwritable
from xharness.models.tokenization import TransformersPieces
from xharness.models.tokenizer_files import checkpoint_file, follow_files
from xharness.specs.task import Kind, TaskSpec

HEADS: dict[Kind, Any] = {
    "pair_classification": AutoModelForSequenceClassification,
    "multiple_choice": AutoModelForMultipleChoice,
    "tagging": AutoModelForTokenClassification,
    "question_answering": AutoModelForQuestionAnswering,
}

#: What an architecture with the head of a kind is called.
HEAD_SUFFIX: dict[Kind, str] = {
    "pair_classification": "ForSequenceClassification",
    "multiple_choice": "ForMultipleChoice",
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
    "luke",
    "mpnet",
    "xmod",
)


# The built-in encoder is opened by the Auto classes like any other.
encoder.register()

# Bars of checkpoint loading would break into the display of a run.
disable_progress_bar()


def checkpoint_name(reference: str) -> str:
    """Return what tables call a checkpoint: its folder's name, or NAME where that is ``NAME/model``.

    The pre-trainer puts an encoder into folder ``model`` of its output.
    """
    path = Path(reference)
    return path.parent.name if path.name == "model" and path.parent.name else path.name


def load_config(reference: str) -> Any:
    """Load a checkpoint's configuration.

    Raises:
        InputError: The reference is no folder with a config and no hub id that can be fetched.
    """
    try:
        return AutoConfig.from_pretrained(reference, trust_remote_code=False)
    except Exception as error:  # the hub's client has a class of its own for wrong values
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
        if tokenizer.is_fast:
            follow_files(tokenizer, reference)
    except ImportError as error:  # a slow tokenizer may need a package of its own
        raise InputError(
            f"no usable tokenizer: {_first_line(error)}",
            where=reference,
            mend="install that package, or put a tokenizer.json (a fast tokenizer) into the folder",
        ) from error
    except Exception as error:  # tokenizers raises bare Exception for a damaged file
        raise InputError(
            f"no usable tokenizer: {_first_line(error)}",
            where=reference,
            mend="put the checkpoint's tokenizer files beside its config",
        ) from error
    known = set(tokenizer.all_special_tokens) | {"▁"}
    if known.issuperset(tokenizer.get_vocab()):
        # Without files transformers 5 makes an empty tokenizer of the family's class.
        raise InputError(
            "no usable tokenizer: it has no pieces but special tokens",
            where=reference,
            mend="put the checkpoint's tokenizer files beside its config",
        )
    if tokenizer.pad_token_id is None:
        raise InputError(
            "the tokenizer has no padding token",
            where=reference,
            mend="name one under pad_token in tokenizer_config.json",
        )
    with_types = _makes_token_types(tokenizer) and (getattr(config, "type_vocab_size", 0) or 0) > 1
    return tokenizer, TransformersPieces(tokenizer, max_positions(config, tokenizer), with_types)


def _makes_token_types(tokenizer: Any) -> bool:
    """Whether a tokenizer tells two segments apart by token types.

    ``model_input_names`` decides where the checkpoint itself gives it. The classes' own lists do not: those of
    RemBERT and ALBERT leave token types out in transformers 5, though both models were pre-trained with them.
    """
    names = tokenizer.init_kwargs.get("model_input_names")
    if names is not None and "token_type_ids" not in names:
        return False
    types: list[int] | None = tokenizer("a", "b", return_token_type_ids=True).get("token_type_ids")
    return max(types or [0]) > 0


def max_positions(config: Any, tokenizer: Any) -> int:
    """Return the longest window that both the model's positions and its tokenizer allow."""
    positions = getattr(config, "max_position_embeddings", None) or 1_000_000
    if any(family in config.model_type for family in _OFFSET_POSITIONS):
        positions -= (config.pad_token_id or 0) + 1
    return int(min(positions, tokenizer.model_max_length, 1_000_000))


def load_encoder(reference: str, layers: int | None = None) -> Any:
    """Load a checkpoint as an encoder without head, in float32.

    With ``layers`` the encoder's hidden state of that number is the whole model's, and blocks that it does not
    need are left out. Where a norm is laid over the last block's output (ModernBERT, XLM-R XL) one block more is
    kept, so that the norm falls on that one.

    Raises:
        InputError: The weights do not load, or some of the encoder's are absent.
    """
    if layers is None:
        return _load(AutoModel, reference, new_head=True)
    encoder = _load(AutoModel, reference, new_head=True, num_hidden_layers=layers)
    if not _ends_in_a_block(encoder):
        encoder = _load(AutoModel, reference, new_head=True, num_hidden_layers=layers + 1)
    return encoder


@torch.inference_mode()
def _ends_in_a_block(encoder: Any) -> bool:
    """Whether the last hidden state is what the last block puts out, with no norm laid over it."""
    outputs: list[Any] = []

    def keep(module: Any, inputs: Any, output: Any) -> None:
        outputs.append(output[0] if isinstance(output, tuple) else output)

    # Blocks are the numbered modules; their parts are looked at too, since XLM has no module for a whole block.
    numbered = [
        module
        for name, module in encoder.named_modules()
        if any(part.isdigit() for part in name.split("."))
    ]
    hooks = [module.register_forward_hook(keep) for module in numbered]
    probe = torch.tensor([[1, 2, 3, 4]]) % encoder.config.vocab_size
    encoder.eval()
    last = encoder(
        input_ids=probe, attention_mask=torch.ones_like(probe), output_hidden_states=True
    ).hidden_states[-1]
    for hook in hooks:
        hook.remove()
    return any(isinstance(o, torch.Tensor) and torch.equal(o, last) for o in outputs)


def load_with_head(reference: str, task: TaskSpec) -> Any:
    """Load a checkpoint with the head of a task's kind, in float32; a new head is initialised by torch's seed.

    Raises:
        InputError: The family has no such head, or the encoder's weights do not load or are not all there.
    """
    changes: dict[str, Any] = {}
    if task.labels:
        changes["num_labels"] = len(task.labels)
        changes["id2label"] = dict(enumerate(task.labels))
        changes["label2id"] = {label: i for i, label in enumerate(task.labels)}
        changes["ignore_mismatched_sizes"] = True
    return _load(HEADS[task.kind], reference, new_head=True, **changes)


def load_as_is(reference: str, task: TaskSpec) -> Any:
    """Load a checkpoint with the head and labels that it has.

    Raises:
        InputError: The weights do not load, or some of the encoder's or the head's are absent.
    """
    return _load(HEADS[task.kind], reference, new_head=False)


def _load(auto: Any, reference: str, new_head: bool, **changes: Any) -> Any:
    # The list of newly initialised head weights is expected here and would break up the progress display.
    logger = logging.getLogger("transformers")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        model, info = auto.from_pretrained(
            reference,
            trust_remote_code=False,
            use_safetensors=True,
            dtype="float32",
            output_loading_info=True,
            **changes,
        )
    except Exception as error:  # safetensors and transformers raise many types for damaged files
        raise InputError(
            f"the checkpoint does not load: {_first_line(error)}",
            where=reference,
            mend="it needs intact model.safetensors weights of a family with this kind of head",
        ) from error
    finally:
        logger.setLevel(level)
    _check_complete(model, info, reference, new_head)
    return model


def _check_complete(model: Any, info: dict[str, Any], reference: str, new_head: bool) -> None:
    """Refuse weights that transformers would silently replace with random ones, a new head's apart.

    A pooler counts as part of the head: checkpoints from masked language modelling alone have none.
    """
    absent = {*info["missing_keys"], *(found[0] for found in info["mismatched_keys"])}
    if new_head:
        prefix = f"{model.base_model_prefix}." if hasattr(model, model.base_model_prefix) else ""
        absent = {key for key in absent if key.startswith(prefix) and "pooler." not in key}
    if absent:
        raise InputError(
            f"the checkpoint lacks {len(absent)} of the model's weights, {min(absent)} among them",
            where=reference,
            mend="its config.json and model.safetensors must belong together",
        )


def save_checkpoint(model: Any, tokenizer: Any, into: Path) -> None:
    """Write a model and its tokenizer into a folder.

    Raises:
        InputError: The folder cannot be written.
    """
    try:
        model.save_pretrained(into)
        tokenizer.save_pretrained(into)
    except OSError as error:
        raise unwritable(into, error) from error
    except Exception as error:  # safetensors and tokenizers have their own types for a full disk
        raise unwritable(into, OSError(_first_line(error))) from error


def weights_digest(reference: str) -> str:
    """Return the SHA-256 over a checkpoint's safetensors files, in order of their names.

    Raises:
        InputError: It has none.
    """
    paths = _weight_files(reference)
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


def _weight_files(reference: str) -> list[Path]:
    """Return a checkpoint's safetensors files, one or its shards, in order of their names."""
    if Path(reference).is_dir():
        return sorted(Path(reference).glob("*.safetensors"))
    whole = checkpoint_file(reference, "model.safetensors")
    if whole is not None:
        return [whole]
    index = checkpoint_file(reference, "model.safetensors.index.json")
    if index is None:
        return []
    try:
        shards = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"no index of weights: {_first_line(error)}", where=index) from error
    found = [checkpoint_file(reference, name) for name in sorted(shards)]
    return [path for path in found if path is not None]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
