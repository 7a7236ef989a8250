"""The sequence models: an LSTM, and a causal Transformer that remembers earlier windows."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from xharness.language_modelling.config import ModelSettings

#: What a model carries from one window to the next.
State = tuple[Tensor, ...]


class LstmModel(nn.Module):
    """Stacked LSTM layers, with dropout before, between and after them (Zaremba et al. 2014, arXiv 1409.2329).

    Args:
        settings: Its shape; ``hidden_size`` is also the width of its input.
    """

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__()
        size, layers = settings.hidden_size, settings.layers
        between = settings.dropout if layers > 1 else 0.0
        self.lstm = nn.LSTM(size, size, layers, dropout=between)
        self.dropout = nn.Dropout(settings.dropout)
        # torch has two biases a gate, whose sum alone matters; one of them stays 0.
        for layer in range(layers):
            getattr(self.lstm, f"bias_hh_l{layer}").requires_grad_(False)

    def forward(self, inputs: Tensor, state: State | None) -> tuple[Tensor, State]:
        """Map (time, streams, width) to the same shape, and carry the state."""
        before = None if state is None else (state[0], state[1])
        outputs, after = self.lstm(self.dropout(inputs), before)
        return self.dropout(outputs), after


class TransformerModel(nn.Module):
    """Pre-norm causal Transformer with rotary positions.

    Each layer's attention also sees what entered it in earlier windows, up to ``memory`` positions, without
    gradient (Dai et al. 2019, arXiv 1901.02860). Rotary positions are relative, so windows need no place in the text.

    Args:
        settings: Its shape; ``hidden_size`` is also the width of its input.
    """

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__()
        self.memory = settings.memory
        self.layers = nn.ModuleList(_Layer(settings) for _ in range(settings.layers))
        self.norm = nn.LayerNorm(settings.hidden_size)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, inputs: Tensor, state: State | None) -> tuple[Tensor, State]:
        """Map (time, streams, width) to the same shape, and carry each layer's memory."""
        hidden = self.dropout(inputs.transpose(0, 1))  # (streams, time, width)
        memories = state or tuple(hidden[:, :0] for _ in self.layers)
        kept = []
        for layer, memory in zip(self.layers, memories, strict=True):
            seen = torch.cat((memory, hidden), 1)
            kept.append(seen[:, max(0, seen.shape[1] - self.memory) :].detach())
            hidden = layer(hidden, seen)
        return self.norm(hidden).transpose(0, 1), tuple(kept)


class _Layer(nn.Module):
    def __init__(self, settings: ModelSettings) -> None:
        super().__init__()
        size = settings.hidden_size
        inner = settings.feed_forward_size or 4 * size
        self.heads = settings.heads
        self.dropout_rate = settings.dropout
        self.attention_norm, self.inner_norm = nn.LayerNorm(size), nn.LayerNorm(size)
        self.query, self.key_value = nn.Linear(size, size), nn.Linear(size, 2 * size)
        self.output = nn.Linear(size, size)
        self.inner = nn.Sequential(nn.Linear(size, inner), nn.GELU(), nn.Linear(inner, size))
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, hidden: Tensor, seen: Tensor) -> Tensor:
        """Map (streams, time, width), attending to (streams, memory + time, width)."""
        hidden = hidden + self.dropout(self._attend(hidden, seen))
        added: Tensor = self.dropout(self.inner(self.inner_norm(hidden)))
        return hidden + added

    def _attend(self, hidden: Tensor, seen: Tensor) -> Tensor:
        time, reach = hidden.shape[1], seen.shape[1]
        normed = self.attention_norm(seen)
        query = self._split(self.query(normed[:, reach - time :]))
        key, value = (self._split(part) for part in self.key_value(normed).chunk(2, 2))
        places = torch.arange(reach, device=hidden.device)
        visible = places[None] <= places[reach - time :, None]
        attended = nn.functional.scaled_dot_product_attention(
            rotated(query, places[reach - time :]),
            rotated(key, places),
            value,
            attn_mask=visible,
            dropout_p=self.dropout_rate if self.training else 0.0,
        )
        merged: Tensor = self.output(attended.transpose(1, 2).flatten(2))
        return merged

    def _split(self, vectors: Tensor) -> Tensor:
        """Cut (streams, time, width) into heads, (streams, heads, time, head width)."""
        streams, time, _ = vectors.shape
        return vectors.view(streams, time, self.heads, -1).transpose(1, 2)


def rotated(vectors: Tensor, places: Tensor) -> Tensor:
    """Turn each pair of entries by an angle that grows with the place (Su et al. 2021, arXiv 2104.09864).

    Args:
        vectors: (..., time, an even width).
        places: (time,); products of two rotated vectors depend on the difference of their places alone.
    """
    half = vectors.shape[-1] // 2
    rates = 10_000 ** (-torch.arange(half, device=vectors.device) / half)
    angles = places[:, None] * rates
    cosine, sine = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    one, other = vectors.chunk(2, -1)
    return torch.cat((one * cosine - other * sine, other * cosine + one * sine), -1)


def sequence_model(settings: ModelSettings) -> LstmModel | TransformerModel:
    """Return the sequence model that is asked for."""
    return LstmModel(settings) if settings.kind == "lstm" else TransformerModel(settings)
