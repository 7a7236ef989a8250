"""Checkpoints opened for a look inside: pieces, and the states of every layer batch by batch."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from xharness.errors import InputError
from xharness.inference.batching import collate, length_batches
from xharness.inference.device import Device
from xharness.inference.progress import Progress
from xharness.models.adapter import DEFAULT_ADAPTER
from xharness.models.checkpoints import checkpoint_name, load_config, load_encoder, load_tokenizer
from xharness.models.tokenization import TransformersPieces
from xharness.sample import CHECKPOINT as SAMPLE_CHECKPOINT
from xharness.tasks.encoding import Encoding
from xharness.tasks.pieces import IndexArray


@dataclass(frozen=True)
class OpenedEncoder:
    """An encoder without head, in evaluation.

    Attributes:
        name: What tables and figures call it.
        reference: The checkpoint folder or hub id.
        config: Its configuration.
        pieces: Its tokenizer.
        model: The encoder, on the device.
        device: Where it runs.
    """

    name: str
    reference: str
    config: Any
    pieces: TransformersPieces
    model: Any
    device: Device

    @property
    def layers(self) -> int:
        """Number of blocks."""
        return int(self.config.num_hidden_layers)

    @property
    def width(self) -> int:
        """Width of the blocks."""
        return int(self.config.hidden_size)


def checkpoint_reference(model: str) -> str:
    """Return the folder or hub id that ``--model`` stands for.

    Raises:
        InputError: It names an adapter whose models cannot be looked into.
    """
    if model == "sample":
        return str(SAMPLE_CHECKPOINT)
    prefix, colon, rest = model.partition(":")
    if not colon or Path(model).exists():
        return model
    if prefix != DEFAULT_ADAPTER:
        raise InputError(
            f"models of adapter {prefix!r} cannot be analysed",
            where=model,
            mend="give a checkpoint that the transformers Auto classes open",
        )
    return rest


def model_name(model: str) -> str:
    """Return what tables call the model that ``--model`` names."""
    return "sample" if model == "sample" else checkpoint_name(checkpoint_reference(model))


def open_encoder(model: str, device: Device) -> OpenedEncoder:
    """Open a checkpoint.

    Raises:
        InputError: It does not open.
    """
    reference = checkpoint_reference(model)
    config = load_config(reference)
    _, pieces = load_tokenizer(reference, config)
    encoder = load_encoder(reference).to(device.torch).eval()
    return OpenedEncoder(model_name(model), reference, config, pieces, encoder, device)


@contextmanager
def quiet_loading() -> Iterator[None]:
    """Keep transformers' list of weights that were not used or drawn anew off the terminal."""
    logger = logging.getLogger("transformers")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def layer_states(
    encoder: OpenedEncoder, encoding: Encoding, device: Device, progress: Progress
) -> Iterator[tuple[IndexArray, dict[str, torch.Tensor], tuple[torch.Tensor, ...]]]:
    """Run windows through the encoder.

    Args:
        encoder: The encoder.
        encoding: The windows.
        device: The encoder's device, with the budget of a micro-batch.
        progress: Told of windows done.

    Yields:
        The numbers of some windows, their inputs, and the states of all layers, each (batch, length, width); state
        0 is the first block's input, state ``l`` what block ``l`` puts out.
    """
    progress.start(len(encoding))
    pad_id = int(encoder.config.pad_token_id or 0)
    for rows in length_batches(encoding.lengths, device.tokens):
        inputs = collate(encoding, rows, pad_id, device.torch)
        with torch.inference_mode(), device.autocast():
            states = encoder.model(**inputs, output_hidden_states=True).hidden_states
        yield rows, inputs, states
        progress.advance(len(rows))
