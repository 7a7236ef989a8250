"""Input embeddings: from piece ids to the vectors that enter the first block."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from transformers import initialization

from xharness.encoder.configuration import DecoupledConfig
from xharness.encoder.define import DefineUnit
from xharness.errors import InputError


class PieceTable(nn.Embedding):
    """A vector for each piece.

    Args:
        pieces: Their number.
        width: Width of a vector.
        padding: The piece whose vector stays as it is, if any.
        frozen: Whether all vectors do.
    """

    frozen = False

    def __init__(self, pieces: int, width: int, padding: int | None, frozen: bool) -> None:
        super().__init__(pieces, width, padding_idx=padding)
        self.frozen = frozen
        self.weight.requires_grad_(not frozen)

    def register_parameter(self, name: str, param: nn.Parameter | None) -> None:
        """Take over weights; transformers' loading puts trainable ones into a frozen table too."""
        if self.frozen and param is not None:
            param.requires_grad_(False)
        super().register_parameter(name, param)


class PositionTable(nn.Embedding):
    """A learned vector for each position."""

    def start_sinusoidal(self, deviation: float) -> None:
        """Set the vectors to sines and cosines of geometric wavelengths from 2 pi to 10,000 times 2 pi.

        Args:
            deviation: Of all values; those of sines and cosines are the root of a half.
        """
        positions, width = self.weight.shape
        columns = torch.arange(width)
        angles = torch.arange(positions)[:, None] / 10_000 ** ((columns - columns % 2) / width)
        waves = torch.where(columns % 2 == 0, angles.sin(), angles.cos())
        initialization.copy_(self.weight, waves * deviation * 2**0.5)  # spares loaded weights


class InputEmbeddings(nn.Module):
    """Vectors of pieces, positions and token types, summed and normalised at the width of the input embeddings.

    The names of the parameters of kind ``table`` are those of transformers' RemBERT.
    """

    def __init__(self, config: DecoupledConfig) -> None:
        super().__init__()
        self.config = config
        width = int(config.input_embedding_size or 0)
        looked_up = width if config.input_kind == "table" else int(config.input_factor_size or 0)
        self.word_embeddings: nn.Embedding = PieceTable(
            config.vocab_size, looked_up, config.pad_token_id, config.freeze_input_embedding
        )
        self.word_transform: nn.Module | None = None
        if config.input_kind == "factorised":
            self.word_transform = nn.Linear(looked_up, width, bias=False)
        elif config.input_kind == "define":
            self.word_transform = DefineUnit(
                looked_up,
                config.define_expansion_size,
                config.define_depth,
                config.define_groups,
                width,
            )
        self.position_embeddings = PositionTable(config.max_position_embeddings, width)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, width)
        self.LayerNorm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def word_vectors(self, input_ids: Tensor) -> Tensor:
        """Return the vectors of pieces alone: (batch, length) to (batch, length, input_embedding_size).

        What a transform gives depends on the piece alone, so it is computed once for each distinct piece.
        """
        if self.word_transform is None:
            looked_up: Tensor = self.word_embeddings(input_ids)
            return looked_up
        distinct, places = torch.unique(input_ids, return_inverse=True)
        vectors: Tensor = self.word_transform(self.word_embeddings(distinct))
        return vectors[places]

    @torch.no_grad()
    def word_table(self, at_once: int = 8192) -> Tensor:
        """Return the vectors of all pieces: (vocabulary, input_embedding_size)."""
        table = self.word_embeddings.weight
        if self.word_transform is None:
            return table.detach().clone()
        return torch.cat([self.word_transform(rows) for rows in torch.split(table, at_once)])

    def forward(
        self,
        input_ids: Tensor | None,
        token_type_ids: Tensor | None,
        position_ids: Tensor | None,
        inputs_embeds: Tensor | None,
    ) -> Tensor:
        """Return (batch, length, input_embedding_size) from ids, or from word vectors given as ``inputs_embeds``.

        Raises:
            InputError: The sequences are longer than there are positions.
        """
        if inputs_embeds is None:
            assert input_ids is not None
            inputs_embeds = self.word_vectors(input_ids)
        length = inputs_embeds.shape[1]
        if position_ids is None:
            if length > self.config.max_position_embeddings:
                raise InputError(
                    f"sequences of {length} pieces are longer than {self.config.max_position_embeddings} positions",
                    where="max_position_embeddings",
                    mend="cut them shorter",
                )
            positions = self.position_embeddings.weight[:length]
        else:
            positions = self.position_embeddings(position_ids)
        if token_type_ids is None:
            types = self.token_type_embeddings.weight[0]
        else:
            types = self.token_type_embeddings(token_type_ids)
        # In this order transformers' RemBERT sums, and floating-point sums depend on it.
        normalised: Tensor = self.dropout(self.LayerNorm(inputs_embeds + types + positions))
        return normalised
