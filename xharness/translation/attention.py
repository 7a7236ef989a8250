"""The blocks of the encoder-decoder, normalised before each sublayer (Xiong et al., arXiv 2002.04745)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from xharness.translation.config import TransformerSettings


@dataclass(frozen=True)
class KeysValues:
    """What is attended to.

    Attributes:
        keys: (batch, heads, length, width / heads).
        values: The same shape.
    """

    keys: Tensor
    values: Tensor

    def extended(self, new: KeysValues) -> KeysValues:
        """Return these and new ones after them."""
        return KeysValues(
            torch.cat((self.keys, new.keys), 2), torch.cat((self.values, new.values), 2)
        )

    def selected(self, rows: Tensor) -> KeysValues:
        """Return some rows of the batch."""
        return KeysValues(self.keys[rows], self.values[rows])


class Attention(nn.Module):
    """Multi-head attention; queries may come from other states than keys and values.

    Args:
        width: Width of all states.
        heads: Their number, which divides the width.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.output = nn.Linear(width, width)

    def attended(self, states: Tensor) -> KeysValues:
        """Return the keys and values of (batch, length, width)."""
        return KeysValues(*map(self._split, self.key_value(states).chunk(2, -1)))

    def forward(
        self, states: Tensor, attended: KeysValues, mask: Tensor | None = None, causal: bool = False
    ) -> Tensor:
        """Attend from (batch, length, width).

        Args:
            states: What asks.
            attended: What is asked.
            mask: True where it may be attended to, broadcast to (batch, heads, length, attended length).
            causal: Whether no position sees a later one.
        """
        context = functional.scaled_dot_product_attention(
            self._split(self.query(states)),
            attended.keys,
            attended.values,
            attn_mask=mask,
            is_causal=causal,
        )
        merged: Tensor = self.output(context.transpose(1, 2).flatten(2))
        return merged

    def _split(self, states: Tensor) -> Tensor:
        batch, length, width = states.shape
        return states.view(batch, length, self.heads, width // self.heads).transpose(1, 2)


class FeedForward(nn.Module):
    """Two linear maps with a ReLU between."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.expand = nn.Linear(width, inner)
        self.reduce = nn.Linear(inner, width)

    def forward(self, states: Tensor) -> Tensor:
        """Map (..., width) to the same."""
        reduced: Tensor = self.reduce(self.expand(states).relu())
        return reduced


class EncoderBlock(nn.Module):
    """Self-attention, then a feed-forward sublayer."""

    def __init__(self, settings: TransformerSettings) -> None:
        super().__init__()
        width = settings.width
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, settings.heads)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width, settings.feed_forward)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        """Map (batch, length, width) to the same; ``mask`` is of (batch, 1, 1, length)."""
        normed = self.attention_norm(states)
        states = states + self.dropout(
            self.attention(normed, self.attention.attended(normed), mask)
        )
        inner: Tensor = self.dropout(self.feed_forward(self.feed_forward_norm(states)))
        return states + inner


class DecoderBlock(nn.Module):
    """Causal self-attention, attention to the encoder's states, then a feed-forward sublayer."""

    def __init__(self, settings: TransformerSettings) -> None:
        super().__init__()
        width = settings.width
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, settings.heads)
        self.source_norm = nn.LayerNorm(width)
        self.source_attention = Attention(width, settings.heads)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width, settings.feed_forward)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, states: Tensor, source: KeysValues, mask: Tensor | None) -> Tensor:
        """Map (batch, length, width) to the same; ``source`` and ``mask`` are the encoder's."""
        normed = self.attention_norm(states)
        own = self.attention.attended(normed)
        attended = self.attention(normed, own, causal=True)
        return self._rest(states + self.dropout(attended), source, mask)

    def step(
        self, states: Tensor, before: KeysValues | None, source: KeysValues, mask: Tensor | None
    ) -> tuple[Tensor, KeysValues]:
        """Map the newest position of each hypothesis, (sentences, beam, width).

        Args:
            states: Of that position.
            before: Keys and values of the positions before, for each of sentences x beam rows.
            source: Those of each sentence, which its hypotheses share: they ask as if they were positions.
            mask: The encoder's.

        Returns:
            The states, and keys and values with the newest position's.
        """
        normed = self.attention_norm(states)
        rows = normed.flatten(0, 1).unsqueeze(1)  # (sentences x beam, 1, width)
        own = self.attention.attended(rows)
        if before is not None:
            own = before.extended(own)
        attended = self.attention(rows, own).view_as(states)
        return self._rest(states + attended, source, mask), own

    def _rest(self, states: Tensor, source: KeysValues, mask: Tensor | None) -> Tensor:
        attended = self.source_attention(self.source_norm(states), source, mask)
        states = states + self.dropout(attended)
        inner: Tensor = self.dropout(self.feed_forward(self.feed_forward_norm(states)))
        return states + inner
