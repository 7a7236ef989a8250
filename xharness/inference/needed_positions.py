"""The last block, computed only where the head looks: one position of a pair, the words' first pieces of a sentence.

Keys and values are needed at every position. Queries aside, the rest of the block is not: in a model of twelve blocks
that is six per cent of the work for a pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local
from typing import Any

import torch
from torch import nn


class Needed:
    """The positions that the head looks at, told to the last block batch by batch, in each thread for its own.

    Attributes:
        works: Whether the model's last block can be told; without it the model computes every position.
    """

    def __init__(self) -> None:
        self.works = False
        self._asked = local()  # batches are computed side by side

    def first(self) -> None:
        """Ask for the first position of every window: the head gets (batch, 1, hidden)."""
        self._asked.states = lambda states: states[:, :1]

    def at(self, rows: torch.Tensor, positions: torch.Tensor) -> None:
        """Ask for some positions of the batch, each (needed,): the head gets (1, needed, hidden)."""
        self._asked.states = lambda states: states[rows, positions][None]

    def everywhere(self) -> None:
        """Ask for all."""
        self._asked.states = None

    def take(self, module: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Leave out the rest of (batch, length, hidden) states before the last block goes on with them."""
        select = getattr(self._asked, "states", None)
        return None if select is None else tuple(map(select, inputs))


@contextmanager
def only_needed(model: Any) -> Iterator[Needed]:
    """Let the last block of a model compute needed positions only, where its blocks are laid out as BERT's are.

    Whether that gives the same logits is tried on a short input.

    Args:
        model: A model with a head for pairs or words, in evaluation mode.
    """
    needed = Needed()
    end = _end_of_attention(model)
    if end is None:
        yield needed
        return
    hook = end.register_forward_pre_hook(needed.take)
    try:
        needed.works = _gives_the_same(model, needed)
        yield needed
    finally:
        hook.remove()


def _end_of_attention(model: Any) -> nn.Module | None:
    """Return the part of the last block that follows the weighted sum and takes it with the block's input."""
    layers = getattr(getattr(getattr(model, "base_model", None), "encoder", None), "layer", None)
    if not isinstance(layers, nn.ModuleList) or not len(layers):
        return None
    end = getattr(getattr(layers[-1], "attention", None), "output", None)
    whole = hasattr(layers[-1], "intermediate") and hasattr(layers[-1], "output")
    return end if whole and isinstance(end, nn.Module) else None


@torch.inference_mode()
def _gives_the_same(model: Any, needed: Needed) -> bool:
    device = next(model.parameters()).device
    ids = (torch.arange(2, 14, device=device) % int(model.config.vocab_size)).view(2, 6)
    mask = torch.ones_like(ids)
    mask[1, 4:] = 0
    whole = model(input_ids=ids, attention_mask=mask).logits
    if whole.ndim == 3:
        rows, positions = (
            torch.tensor([0, 0, 1], device=device),
            torch.tensor([1, 4, 2], device=device),
        )
        needed.at(rows, positions)
        whole = whole[rows, positions][None]
    else:
        needed.first()
    try:
        part = model(input_ids=ids, attention_mask=mask).logits
    except (RuntimeError, IndexError, TypeError):
        return False
    finally:
        needed.everywhere()
    return part.shape == whole.shape and torch.allclose(part, whole, rtol=1e-3, atol=1e-4)
