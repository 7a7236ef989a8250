"""Checkpoint folders as conversion reads and writes them: configuration, weights, tokenizer files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from xharness.errors import InputError
from xharness.files import write_json

Weights = dict[str, Tensor]

#: What the encoder's parameters are called by in checkpoints with a head.
PREFIX = "rembert."

_TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "*.model",
    "vocab.*",
    "merges.txt",
)


def check_target(into: Path) -> None:
    """Refuse a target with content.

    Raises:
        InputError: The folder is not empty, or it is a file.
    """
    if into.exists() and (not into.is_dir() or any(into.iterdir())):
        raise InputError("exists already", where=into, mend="name a new folder")


def read_config(folder: Path, model_type: str) -> dict[str, Any]:
    """Return what ``config.json`` says.

    Raises:
        InputError: The file is absent or damaged, or names another type of model.
    """
    path = folder / "config.json"
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"no readable configuration: {error}", where=path) from error
    found = values.get("model_type") if isinstance(values, dict) else None
    if found != model_type:
        raise InputError(f"a model of type {found!r} and not {model_type!r}", where=path)
    return dict(values)


def make_config(kind: Any, values: dict[str, Any], folder: Path) -> Any:
    """Return a configuration of a class.

    Raises:
        InputError: The class refuses a value.
    """
    try:
        return kind(**values)
    except InputError as error:
        raise InputError(error.what, where=f"{folder}: {error.where}", mend=error.mend) from error
    except Exception as error:  # transformers' validation has an error for each kind of fault
        lines = str(error).split("\n")
        raise InputError(f"unusable configuration: {lines[-1].strip()}", where=folder) from error


def read_weights(folder: Path) -> Weights:
    """Return the tensors of all shards by name; names of the encoder get the prefix where it is left out.

    Raises:
        InputError: There are no safetensors files, or one is damaged.
    """
    weights: Weights = {}
    paths = sorted(folder.glob("*.safetensors"))
    if not paths:
        raise InputError(
            "no safetensors weights", where=folder, mend="pickled weights are never loaded"
        )
    for path in paths:
        try:
            weights.update(load_file(path))
        except (OSError, SafetensorError) as error:
            raise InputError(f"damaged weights: {error}", where=path) from error
    headless = not any(name.startswith(PREFIX) for name in weights)
    return {
        f"{PREFIX}{name}" if headless else name: tensor
        for name, tensor in weights.items()
        # A constant that older releases of transformers saved with the weights.
        if not name.endswith("embeddings.position_ids")
    }


def size(weights: Weights) -> int:
    """Return the number of parameters."""
    return sum(tensor.numel() for tensor in weights.values())


def assign(module: torch.nn.Module, weights: Weights, folder: Path) -> None:
    """Make a module hold the very tensors given.

    Raises:
        InputError: A tensor is absent, unknown, or of another shape.
    """
    wanted = {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}
    given = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    faults = [
        f"{name} is {'absent' if name not in given else 'unknown' if name not in wanted else given[name]}"
        for name in sorted(wanted.keys() | given.keys())
        if wanted.get(name) != given.get(name)
    ]
    if faults:
        raise InputError(
            f"{len(faults)} weights do not fit the configuration: {faults[0]}",
            where=folder,
            mend="config.json and weights must belong together",
        )
    module.load_state_dict(weights, assign=True)


def write_checkpoint(
    model: Any, folder: Path, into: Path, tokenizer_class: str | None = None
) -> None:
    """Write a checkpoint aside and rename it.

    Args:
        model: A transformers model.
        folder: Where its tokenizer files are.
        into: Where it goes.
        tokenizer_class: Class of the tokenizer where its files name none.

    Raises:
        InputError: The folder cannot be written.
    """
    aside = into.with_name(f".{into.name}.partial")
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        model.save_pretrained(aside)
        for path in _tokenizer_files(folder):
            shutil.copyfile(path, aside / path.name)
        settings = aside / "tokenizer_config.json"
        if tokenizer_class is not None and settings.is_file():
            # Without a class transformers takes that of the model's family, which here has none.
            content = json.loads(settings.read_text(encoding="utf-8"))
            if "tokenizer_class" not in content:
                write_json(settings, {**content, "tokenizer_class": tokenizer_class})
        aside.replace(into)
    except (OSError, SafetensorError) as error:
        raise InputError(f"cannot be written: {error}", where=into) from error


def _tokenizer_files(folder: Path) -> Iterator[Path]:
    for pattern in _TOKENIZER_FILES:
        yield from (path for path in sorted(folder.glob(pattern)) if path.is_file())
