"""The encoder-decoder, its embeddings tied or not.

Press and Wolf (arXiv 1608.05859, section 4) share the matrix of the decoder's input with the classifier, V x d
parameters fewer, and over a joint vocabulary the encoder's input too, 2 V x d fewer: three-way weight tying.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from xharness.encoder.define import DefineUnit
from xharness.encoder.masked_lm_loss import masked_lm_loss
from xharness.translation.attention import DecoderBlock, EncoderBlock, KeysValues
from xharness.translation.config import TransformerSettings
from xharness.translation.vocabulary import PAD


class PieceInput(nn.Module):
    """Vectors of pieces and their positions.

    What is looked up is drawn with a variance of 1 / width and scaled back, so that a tied classifier gives logits
    of a variance of 1. Positions are sines and cosines (Vaswani et al., arXiv 1706.03762, section 3.5).
    """

    def __init__(self, settings: TransformerSettings, vocabulary: int, table: nn.Embedding | None):
        super().__init__()
        define = settings.define
        looked_up = settings.width if define is None else define.map_size
        self.table = table if table is not None else nn.Embedding(vocabulary, looked_up)
        if table is None:
            nn.init.normal_(self.table.weight, std=looked_up**-0.5)
        self.unit = None
        if define is not None:
            self.unit = DefineUnit(
                looked_up, define.expansion_size, define.depth, define.groups, settings.width
            )
        self.width = settings.width
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, pieces: Tensor, start: int = 0) -> Tensor:
        """Map (batch, length) to (batch, length, width); the first column has the position ``start``."""
        positions = position_vectors(start, pieces.shape[1], self.width, pieces.device)
        vectors = self._vectors(pieces)
        states: Tensor = self.dropout(vectors + positions.to(vectors.dtype))
        return states

    def _vectors(self, pieces: Tensor) -> Tensor:
        scale = self.table.embedding_dim**0.5
        if self.unit is None:
            vectors: Tensor = self.table(pieces) * scale
            return vectors
        # The unit's result depends on the piece alone, so it is computed once for each distinct one.
        distinct, places = torch.unique(pieces, return_inverse=True)
        mapped: Tensor = self.unit(self.table(distinct) * scale)
        return mapped[places]


def position_vectors(start: int, length: int, width: int, device: torch.device) -> Tensor:
    """Return sines, then cosines, of (length, width); wavelengths go from 2 pi to 20,000 pi."""
    positions = torch.arange(start, start + length, device=device, dtype=torch.float32)
    rates = torch.exp(
        torch.arange(0, width, 2, device=device, dtype=torch.float32) * (-math.log(10_000) / width)
    )
    angles = positions[:, None] * rates
    return torch.cat((angles.sin(), angles.cos()), 1)


@dataclass(frozen=True)
class SourceMemory:
    """What the decoder attends to of each source sentence.

    Attributes:
        layers: Keys and values for each block of the decoder.
        mask: (batch, 1, 1, length), true where there is a piece; ``None`` where there is one everywhere.
    """

    layers: list[KeysValues]
    mask: Tensor | None

    def selected(self, rows: Tensor) -> SourceMemory:
        """Return some sentences."""
        mask = None if self.mask is None else self.mask[rows]
        return SourceMemory([layer.selected(rows) for layer in self.layers], mask)


class TranslationModel(nn.Module):
    """An encoder-decoder Transformer.

    Args:
        settings: Its shape.
        vocabulary: Pieces V of the joint vocabulary.

    Attributes:
        classifier: The matrix whose products with the decoder's states are the logits, (V, width or map width).
    """

    classifier: Tensor

    def __init__(self, settings: TransformerSettings, vocabulary: int) -> None:
        super().__init__()
        self.settings = settings
        width, tying = settings.width, settings.tying
        self.source_input = PieceInput(settings, vocabulary, None)
        shared = self.source_input.table if tying == "three-way" else None
        self.target_input = PieceInput(settings, vocabulary, shared)
        self.encoder = nn.ModuleList(EncoderBlock(settings) for _ in range(settings.encoder_layers))
        self.encoder_norm = nn.LayerNorm(width)
        self.decoder = nn.ModuleList(DecoderBlock(settings) for _ in range(settings.decoder_layers))
        self.decoder_norm = nn.LayerNorm(width)
        table = self.target_input.table
        self.to_classifier: nn.Linear | None = None
        if tying == "none":
            self.classifier = nn.Parameter(torch.randn(vocabulary, width) * width**-0.5)
        else:
            self.classifier = table.weight
            if table.embedding_dim != width:
                self.to_classifier = nn.Linear(width, table.embedding_dim, bias=False)
        for module in self.modules():
            if isinstance(module, EncoderBlock | DecoderBlock):
                _draw(module)

    def encode(self, source: Tensor) -> SourceMemory:
        """Return what the decoder needs of source pieces, (batch, length), padded at the end."""
        real = source != PAD
        mask = None if bool(real.all()) else real[:, None, None, :]
        states = self.source_input(source).to(self.encoder_norm.weight.dtype)
        for block in self.encoder:
            states = block(states, mask)
        states = self.encoder_norm(states)
        return SourceMemory(
            [block.source_attention.attended(states) for block in self._decoder_blocks()], mask
        )

    def states(self, source: Tensor, inputs: Tensor) -> Tensor:
        """Return the classifier's input, (batch, target length, its width).

        Args:
            source: Source pieces, (batch, source length).
            inputs: Begin and target pieces, (batch, target length), padded at the end.
        """
        memory = self.encode(source)
        states = self.target_input(inputs).to(self.decoder_norm.weight.dtype)
        for block, layer in zip(self._decoder_blocks(), memory.layers, strict=True):
            states = block(states, layer, memory.mask)
        return self._classified(states)

    def step(
        self, newest: Tensor, position: int, before: list[KeysValues] | None, memory: SourceMemory
    ) -> tuple[Tensor, list[KeysValues]]:
        """Return the logits after the newest piece of each hypothesis.

        Args:
            newest: (sentences, beam).
            position: Its position.
            before: Keys and values of the positions before, for each block, of sentences x beam rows.
            memory: Of the sentences.

        Returns:
            Logits (sentences, beam, V) in float32, and keys and values with the newest position's.
        """
        sentences, beam = newest.shape
        states = self.target_input(newest.reshape(-1, 1), position).view(sentences, beam, -1)
        kept = []
        for number, block in enumerate(self._decoder_blocks()):
            past = None if before is None else before[number]
            states, own = block.step(states, past, memory.layers[number], memory.mask)
            kept.append(own)
        return (self._classified(states) @ self.classifier.t()).float(), kept

    def loss(
        self,
        source: Tensor,
        inputs: Tensor,
        positions: Tensor,
        labels: Tensor,
        smoothing: float = 0.0,
        dtype: torch.dtype = torch.float32,
    ) -> tuple[Tensor, Tensor]:
        """Return the mean loss to minimise and the mean cross-entropy, both in nats a piece.

        With smoothing s the target is 1 - s at the label and s / V at every piece (Szegedy et al., arXiv
        1512.00567, section 7), so that loss = cross-entropy + s (logit of the label - mean of all logits); the
        latter needs no logits but the label's.

        Args:
            source: Source pieces, (batch, source length).
            inputs: What the decoder reads, (batch, target length).
            positions: Flat indices of the pieces to predict, (M,): no logits are computed at padding.
            labels: Those pieces, (M,).
            smoothing: s, a fraction.
            dtype: Format of the logits.
        """
        states = self.states(source, inputs).flatten(0, 1)[positions]
        weight = self.classifier
        no_bias = torch.zeros(len(weight), device=weight.device)
        entropy, _ = masked_lm_loss(states, weight, no_bias, labels, dtype=dtype)
        if not smoothing:
            return entropy, entropy.detach()
        apart = nn.functional.embedding(labels, weight) - weight.mean(0)
        return entropy + smoothing * (states.float() * apart).sum(1).mean(), entropy.detach()

    def parameter_counts(self) -> dict[str, int]:
        """Count parameters: ``total``, ``trained``, and of the total the ``embeddings`` (inputs and classifier)."""
        parameters: dict[int, Tensor] = {id(p): p for p in self.parameters()}
        embeddings: dict[int, Tensor] = {
            id(p): p for m in self._embedding_modules() for p in m.parameters()
        }
        embeddings[id(self.classifier)] = self.classifier
        return {
            "total": sum(p.numel() for p in parameters.values()),
            "trained": sum(p.numel() for p in parameters.values() if p.requires_grad),
            "embeddings": sum(p.numel() for p in embeddings.values()),
        }

    def _classified(self, states: Tensor) -> Tensor:
        normed: Tensor = self.decoder_norm(states)
        return normed if self.to_classifier is None else self.to_classifier(normed)

    def _embedding_modules(self) -> Iterator[nn.Module]:
        yield self.source_input
        yield self.target_input
        if self.to_classifier is not None:
            yield self.to_classifier

    def _decoder_blocks(self) -> Iterator[DecoderBlock]:
        for block in self.decoder:
            assert isinstance(block, DecoderBlock)
            yield block


def _draw(block: nn.Module) -> None:
    """Draw a block's matrices, Xavier uniform; biases are 0."""
    for module in block.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)
