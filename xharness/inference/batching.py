"""Batches of windows of like length under a token budget, padded to their own longest."""

from __future__ import annotations

import numpy as np
import torch

from xharness.tasks.encoding import Encoding
from xharness.tasks.pieces import IndexArray, ranges

#: Part of a batch that may be padding. A further batch costs less than that much of one.
PADDING_SHARE = 16

#: Windows in one batch, however short they are: bounds the logits' memory.
MAX_ROWS = 512


def length_batches(
    lengths: IndexArray,
    tokens: int,
    rows: IndexArray | None = None,
    most_padding: int | None = None,
) -> list[IndexArray]:
    """Group windows, longest first, so that rows x longest stays within ``tokens``.

    A window longer than the budget forms a batch of its own. The order within equal lengths is that of the
    input, so the batches depend on nothing but the lengths.

    Args:
        lengths: Pieces of every window.
        tokens: Padded pieces in a batch.
        rows: The windows to group; all of them where absent.
        most_padding: Pieces of padding after which a batch is closed before it is full; any number where absent.
    """
    rows = np.arange(len(lengths)) if rows is None else rows
    order = rows[np.argsort(-lengths[rows], kind="stable")]
    batches, at = [], 0
    while at < len(order):
        longest = int(lengths[order[at]])
        size = int(np.clip(tokens // max(longest, 1), 1, MAX_ROWS))
        if most_padding is not None:
            padding = np.cumsum(longest - lengths[order[at : at + size]])
            size = int(np.searchsorted(padding, most_padding, side="right"))
        batches.append(order[at : at + size])
        at += size
    return batches


def collate(
    encoding: Encoding, rows: IndexArray, pad_id: int, device: torch.device
) -> dict[str, torch.Tensor]:
    """Return the model inputs of some rows' windows, padded on the right to the longest of them."""
    rows = encoding.windows(rows)
    starts = encoding.starts[rows]
    lengths = encoding.starts[rows + 1] - starts
    longest = int(lengths.max())
    mask = np.arange(longest) < lengths[:, None]  # (batch, length)
    flat = ranges(starts, lengths)
    ids = np.full(mask.shape, pad_id, np.int64)
    ids[mask] = encoding.ids[flat]
    inputs = {"input_ids": ids, "attention_mask": mask.astype(np.int64)}
    if len(encoding.types):
        types = np.zeros(mask.shape, np.int64)
        types[mask] = encoding.types[flat]
        inputs["token_type_ids"] = types
    return {name: torch.from_numpy(array).to(device) for name, array in inputs.items()}
