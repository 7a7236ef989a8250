"""How much arithmetic a step needs: what a share of a machine's peak is measured against."""

from __future__ import annotations

from xharness.encoder.configuration import DecoupledConfig
from xharness.encoder.define import layer_plan

#: The backward pass has two products for each of the forward pass: of the inputs' gradients and of the weights'.
_FORWARD_AND_BACKWARD = 3


def training_flops(config: DecoupledConfig, rows: int, length: int, predictions: int) -> int:
    """Return the floating-point operations of the matrix products in a pre-training step.

    Only what is needed counts: logits at predicted positions, no recomputation, and of a transform of the input
    vectors at most one product a token. Elementwise work, lookups and the optimizer do not count.

    Args:
        config: The encoder's.
        rows: Rows of the batch.
        length: Tokens of a row, without padding.
        predictions: Masked positions in the batch.
    """
    width, inner = config.hidden_size, config.intermediate_size or 0
    entry, out = config.input_embedding_size or 0, config.output_embedding_size or 0
    tokens = rows * length
    block = 4 * width * width + 2 * width * inner
    attention = 2 * length * width  # scores, then the weighted sum
    layers = config.num_hidden_layers + config.extra_layers
    products = tokens * layers * (block + attention)
    if config.input_projection:
        products += tokens * entry * width
    products += predictions * out * (width + config.vocab_size)
    products += tokens * _transform_products(config)
    return 2 * products * _FORWARD_AND_BACKWARD


def _transform_products(config: DecoupledConfig) -> int:
    narrow, entry = config.input_factor_size or 0, config.input_embedding_size or 0
    if config.input_kind == "factorised":
        return narrow * entry
    if config.input_kind == "define":
        plan = layer_plan(
            narrow, config.define_expansion_size, config.define_depth, config.define_groups
        )
        grouped = sum(layer.inputs * layer.outputs // layer.groups for layer in plan)
        return grouped + plan[-1].outputs * entry
    return 0
