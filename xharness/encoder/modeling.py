"""The decoupled encoder, and the encoder with its masked-LM head."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.activations import ACT2FN
from transformers.modeling_outputs import BaseModelOutputWithPooling, MaskedLMOutput

from xharness.encoder.blocks import Blocks, InputMap, MatchingMap
from xharness.encoder.configuration import DecoupledConfig
from xharness.encoder.define import GroupLinear
from xharness.encoder.embeddings import InputEmbeddings, PositionTable
from xharness.encoder.masked_lm_loss import masked_lm_loss

#: The label of positions that are not predicted, as in transformers.
IGNORED = -100


class DecoupledPreTrainedModel(PreTrainedModel):
    """Base of the encoder and its heads.

    Parameters bear the names, and the prefix, that transformers' RemBERT gives them, so that a checkpoint of
    either opens as the other where the configuration allows it.
    """

    config_class = DecoupledConfig
    base_model_prefix = "rembert"
    supports_gradient_checkpointing = True
    _supports_sdpa = True
    _no_split_modules = ["Block"]
    #: The heads' losses are means over the batch that they are given; transformers' Trainer asks.
    accepts_loss_kwargs = False

    def _init_weights(self, module: nn.Module) -> None:
        """Draw weights as BERT does: normal, biases zero, normalisations one; positions as configured."""
        if isinstance(module, GroupLinear):
            module.reset()
        elif isinstance(module, PositionTable) and self.config.start == "local":
            module.start_sinusoidal(2 * self.config.initializer_range)
        else:
            super()._init_weights(module)
            if isinstance(module, MatchingMap) and self.config.start == "local":
                module.start_matching()
            elif isinstance(module, InputMap) and self.config.start == "local":
                module.start_even()


class DecoupledModel(DecoupledPreTrainedModel):
    """The encoder alone.

    Args:
        config: The configuration.
        add_pooling_layer: Whether a map with tanh over the first token is added.
        pre_training: Whether the extra layers are there, which fine-tuning does without.
    """

    # What pre-training has and fine-tuning drops: the head with the output embedding, and the extra layers.
    _keys_to_ignore_on_load_unexpected = [r"^cls\.", r"encoder\.layer\.\d+\."]

    def __init__(
        self, config: DecoupledConfig, add_pooling_layer: bool = True, pre_training: bool = False
    ) -> None:
        super().__init__(config)
        layers = config.num_hidden_layers + (config.extra_layers if pre_training else 0)
        self.embeddings = InputEmbeddings(config)
        self.encoder = Blocks(config, layers)
        self.pooler = Pooler(config) if add_pooling_layer else None
        self.post_init()

    def get_input_embeddings(self) -> nn.Embedding:
        """Return the input table."""
        return self.embeddings.word_embeddings

    def set_input_embeddings(self, value: nn.Module) -> None:
        """Replace the input table."""
        assert isinstance(value, nn.Embedding)
        self.embeddings.word_embeddings = value

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        output_attentions: bool | None = None,
        output_hidden_states: bool | None = None,
        return_dict: bool | None = None,
    ) -> BaseModelOutputWithPooling | tuple[Any, ...]:
        """Encode (batch, length) piece ids.

        Args:
            input_ids: The pieces.
            attention_mask: 1 for pieces, 0 for padding, (batch, length); all are pieces where absent.
            token_type_ids: 0 for the first segment, 1 for the second.
            position_ids: Positions, counted from 0 where absent.
            inputs_embeds: Word vectors in place of ids, (batch, length, input_embedding_size).
            output_attentions: Whether attention weights are returned.
            output_hidden_states: Whether all layers' states are returned, the first block's input foremost.
            return_dict: Whether an object is returned and not a tuple.
        """
        if (input_ids is None) == (inputs_embeds is None):
            raise ValueError("give either input_ids or inputs_embeds")
        embedded = self.embeddings(input_ids, token_type_ids, position_ids, inputs_embeds)
        mask = None
        if attention_mask is not None:
            # Added to the scores; the lowest number and not -inf, for a row of padding alone.
            blocked = (attention_mask == 0)[:, None, None, :]
            mask = torch.zeros(blocked.shape, dtype=embedded.dtype, device=embedded.device)
            mask = mask.masked_fill(blocked, torch.finfo(embedded.dtype).min)
            mask = mask.expand(-1, 1, embedded.shape[1], -1)
        last, states, weights = self.encoder(
            embedded,
            mask,
            _or(output_hidden_states, self.config.output_hidden_states),
            _or(output_attentions, self.config.output_attentions),
        )
        pooled = self.pooler(last) if self.pooler is not None else None
        output = BaseModelOutputWithPooling(
            last_hidden_state=last, pooler_output=pooled, hidden_states=states, attentions=weights
        )
        return output if _or(return_dict, self.config.return_dict) else output.to_tuple()

    def parameters_kept(self) -> int:
        """Return the number of parameters without those of extra layers: what fine-tuning has, its head apart."""
        dropped = self.encoder.layer[self.config.num_hidden_layers :]
        kept: int = sum(p.numel() for p in self.parameters())
        return kept - sum(p.numel() for layer in dropped for p in layer.parameters())

    @torch.no_grad()
    def with_cached_input(self) -> DecoupledModel:
        """Return an encoder of input kind ``table`` that gives the same states by one lookup a piece."""
        config = DecoupledConfig.from_dict(
            {**self.config.to_dict(), "input_kind": "table", "input_factor_size": None}
        )
        cached = DecoupledModel(
            config,
            self.pooler is not None,
            pre_training=len(self.encoder.layer) > config.num_hidden_layers,
        )
        kept = {
            name: value
            for name, value in self.state_dict().items()
            if not name.startswith(("embeddings.word_embeddings", "embeddings.word_transform"))
        }
        kept["embeddings.word_embeddings.weight"] = self.embeddings.word_table()
        cached.to(self.device, self.dtype)
        cached.load_state_dict(kept)
        cached.train(self.training)
        return cached


class Pooler(nn.Module):
    """A map with tanh over the first token's state."""

    def __init__(self, config: DecoupledConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden: Tensor) -> Tensor:
        """Map (batch, length, width) to (batch, width)."""
        return torch.tanh(self.dense(hidden[:, 0]))


class PredictionHead(nn.Module):
    """From states to the width of the output embeddings, and the output embeddings."""

    def __init__(self, config: DecoupledConfig) -> None:
        super().__init__()
        assert config.output_embedding_size is not None
        self.dense = nn.Linear(config.hidden_size, config.output_embedding_size)
        self.activation = ACT2FN[config.hidden_act]
        self.LayerNorm = nn.LayerNorm(config.output_embedding_size, eps=config.layer_norm_eps)
        self.decoder = nn.Linear(config.output_embedding_size, config.vocab_size)

    def before_logits(self, hidden: Tensor) -> Tensor:
        """Map (..., width) to (..., output_embedding_size)."""
        normalised: Tensor = self.LayerNorm(self.activation(self.dense(hidden)))
        return normalised

    def forward(self, hidden: Tensor) -> Tensor:
        """Map (..., width) to logits, (..., vocabulary)."""
        logits: Tensor = self.decoder(self.before_logits(hidden))
        return logits


class MaskedLMHead(nn.Module):
    """Holds the prediction head under the name that checkpoints know."""

    def __init__(self, config: DecoupledConfig) -> None:
        super().__init__()
        self.predictions = PredictionHead(config)


class DecoupledForMaskedLM(DecoupledPreTrainedModel):
    """The encoder with all its layers and the output embedding, for pre-training."""

    _tied_weights_keys = {
        "cls.predictions.decoder.weight": "rembert.embeddings.word_embeddings.weight"
    }

    def __init__(self, config: DecoupledConfig) -> None:
        super().__init__(config)
        self.rembert = DecoupledModel(config, add_pooling_layer=False, pre_training=True)
        self.cls = MaskedLMHead(config)
        self.post_init()

    def get_output_embeddings(self) -> nn.Linear:
        """Return the output embedding with the pieces' biases."""
        return self.cls.predictions.decoder

    def set_output_embeddings(self, value: nn.Module) -> None:
        """Replace the output embedding."""
        assert isinstance(value, nn.Linear)
        self.cls.predictions.decoder = value

    def loss_at(
        self, input_ids: Tensor, positions: Tensor, labels: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the mean loss in nats over the masked positions alone, and how many were predicted rightly.

        Args:
            input_ids: Packed rows without padding, (batch, length).
            positions: Masked positions, counted through the flattened batch, (predictions,).
            labels: The pieces that were there, (predictions,).
        """
        hidden = self.rembert(input_ids).last_hidden_state.flatten(0, 1)
        head = self.cls.predictions
        states = head.before_logits(hidden[positions])
        kind = states.device.type
        mixed = torch.is_autocast_enabled(kind)
        return masked_lm_loss(
            states,
            head.decoder.weight,
            head.decoder.bias,
            labels,
            dtype=torch.get_autocast_dtype(kind) if mixed else torch.float32,
        )

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        output_attentions: bool | None = None,
        output_hidden_states: bool | None = None,
        return_dict: bool | None = None,
    ) -> MaskedLMOutput | tuple[Any, ...]:
        """Return the logits of all positions, (batch, length, vocabulary), and the loss where labels are given.

        The arguments are those of the encoder; ``labels`` has -100 where nothing is predicted.
        """
        encoded = self.rembert(
            input_ids,
            attention_mask,
            token_type_ids,
            position_ids,
            inputs_embeds,
            output_attentions,
            output_hidden_states,
            return_dict=True,
        )
        logits = self.cls.predictions(encoded.last_hidden_state)
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(
                logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED
            )
        output = MaskedLMOutput(
            loss=loss,
            logits=logits,
            hidden_states=encoded.hidden_states,
            attentions=encoded.attentions,
        )
        return output if _or(return_dict, self.config.return_dict) else output.to_tuple()


def _or(given: bool | None, default: bool | None) -> bool:
    return bool(default if given is None else given)
