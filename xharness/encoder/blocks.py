"""Transformer blocks, normalised after each sublayer, with the parameter names of transformers' RemBERT."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import initialization
from transformers.activations import ACT2FN
from transformers.modeling_layers import GradientCheckpointingLayer

from xharness.encoder.configuration import DecoupledConfig


class MatchingMap(nn.Linear):
    """The map to queries or to keys, which may start so that what is alike attends to each other."""

    def start_matching(self) -> None:
        """Add the identity to the weights, times a share at which the scores of equal states are about 2 to 3."""
        initialization.copy_(self.weight, self.weight + 0.7 * torch.eye(len(self.weight)))


class InputMap(nn.Linear):
    """The map from the input embeddings to the blocks, which no normalisation follows."""

    def start_even(self) -> None:
        """Draw the weights so that states of deviation 1 keep it, as they do where there is no map."""
        initialization.normal_(self.weight, std=self.in_features**-0.5)


class SelfAttention(nn.Module):
    """Multi-head self-attention without its output map."""

    def __init__(self, config: DecoupledConfig) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.dropout = float(config.attention_probs_dropout_prob)
        self.query = MatchingMap(config.hidden_size, config.hidden_size)
        self.key = MatchingMap(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(
        self, hidden: Tensor, mask: Tensor | None, with_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Attend over (batch, length, width).

        Args:
            hidden: The states.
            mask: What is added to the scores, broadcast to (batch, heads, length, length).
            with_weights: Whether the attention weights are wanted too; scores are then held in full.
        """
        batch, length, width = hidden.shape
        query, key, value = (
            part(hidden).view(batch, length, self.heads, -1).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        dropout = self.dropout if self.training else 0.0
        if not (with_weights or _slow_when_fused(query)):
            context = functional.scaled_dot_product_attention(
                query, key, value, attn_mask=mask, dropout_p=dropout
            )
            return context.transpose(1, 2).reshape(batch, length, width), None
        scores = (query / query.shape[-1] ** 0.5) @ key.transpose(-1, -2)
        if mask is not None:
            scores = scores + mask
        weights = scores.softmax(-1)
        context = functional.dropout(weights, dropout) @ value
        return context.transpose(1, 2).reshape(batch, length, width), (
            weights if with_weights else None
        )


def _slow_when_fused(query: Tensor) -> bool:
    """Whether attention with its scores held in full is faster than the fused one.

    On a CPU the fused gradient in a narrow format takes several times as long, at any length that is trained there,
    where the scores are small. The forward pass alone is as fast fused.
    """
    narrow = query.dtype != torch.float32
    return query.device.type == "cpu" and narrow and torch.is_grad_enabled()


class Sublayer(nn.Module):
    """The end of a sublayer: a linear map, dropout, the residual sum and its normalisation."""

    def __init__(self, inputs: int, config: DecoupledConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(inputs, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, hidden: Tensor, residual: Tensor) -> Tensor:
        """Return (batch, length, width)."""
        normalised: Tensor = self.LayerNorm(self.dropout(self.dense(hidden)) + residual)
        return normalised


class Attention(nn.Module):
    """The attention sublayer."""

    def __init__(self, config: DecoupledConfig) -> None:
        super().__init__()
        self.self = SelfAttention(config)
        self.output = Sublayer(config.hidden_size, config)

    def forward(
        self, hidden: Tensor, mask: Tensor | None, with_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Return the states and, if wanted, the attention weights."""
        context, weights = self.self(hidden, mask, with_weights)
        return self.output(context, hidden), weights


class Intermediate(nn.Module):
    """The first half of the feed-forward sublayer."""

    def __init__(self, config: DecoupledConfig) -> None:
        super().__init__()
        assert config.intermediate_size is not None
        self.dense = nn.Linear(config.hidden_size, config.intermediate_size)
        self.activation = ACT2FN[config.hidden_act]

    def forward(self, hidden: Tensor) -> Tensor:
        """Return (batch, length, intermediate_size)."""
        activated: Tensor = self.activation(self.dense(hidden))
        return activated


class Block(GradientCheckpointingLayer):
    """Attention, then a feed-forward layer."""

    def __init__(self, config: DecoupledConfig) -> None:
        super().__init__()
        assert config.intermediate_size is not None
        self.attention = Attention(config)
        self.intermediate = Intermediate(config)
        self.output = Sublayer(config.intermediate_size, config)

    def forward(
        self, hidden: Tensor, mask: Tensor | None, with_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Return the states and, if wanted, the attention weights."""
        attended, weights = self.attention(hidden, mask, with_weights)
        return self.output(self.intermediate(attended), attended), weights


class Blocks(nn.Module):
    """The map to the width of the blocks, and the blocks.

    Args:
        config: The configuration.
        layers: How many blocks.
    """

    def __init__(self, config: DecoupledConfig, layers: int) -> None:
        super().__init__()
        self.embedding_hidden_mapping_in: nn.Module = nn.Identity()
        if config.input_projection:
            assert config.input_embedding_size is not None
            self.embedding_hidden_mapping_in = InputMap(
                config.input_embedding_size, config.hidden_size
            )
        self.layer = nn.ModuleList(Block(config) for _ in range(layers))
        self.gradient_checkpointing = False

    def forward(
        self, embedded: Tensor, mask: Tensor | None, with_states: bool, with_weights: bool
    ) -> tuple[Tensor, tuple[Tensor, ...] | None, tuple[Tensor, ...] | None]:
        """Return the last states, and if wanted all states and all attention weights."""
        hidden: Tensor = self.embedding_hidden_mapping_in(embedded)
        states, attentions = [hidden], []
        for block in self.layer:
            hidden, weights = block(hidden, mask, with_weights)
            if with_states:
                states.append(hidden)
            if weights is not None:
                attentions.append(weights)
        return (
            hidden,
            tuple(states) if with_states else None,
            tuple(attentions) if with_weights else None,
        )
