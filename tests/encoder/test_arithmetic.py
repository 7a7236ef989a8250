"""The arithmetic of a step, against what torch counts of the real modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from tests.encoder.tiny_models import KINDS, tiny_config
from xharness.encoder import DecoupledForMaskedLM
from xharness.encoder.arithmetic import training_flops

ROWS, LENGTH, PREDICTIONS = 3, 17, 7


def added_product(sum_: Sequence[int], left: Sequence[int], right: Sequence[int], **_: Any) -> int:
    """Return the operations of a product, given the shapes of its operands."""
    return 2 * left[0] * left[1] * right[1]


def counted(**changes: Any) -> int:
    """Return what torch counts of a step forward and back.

    Attention is computed by plain products, since torch counts nothing of the fused one on a CPU, and it leaves out
    the ``addmm_`` that adds to the gradient of the output embeddings in place.
    """
    model = DecoupledForMaskedLM(tiny_config(**changes))
    ids = torch.arange(ROWS * LENGTH).view(
        ROWS, LENGTH
    )  # each once, as a transform is needed for each
    positions = torch.arange(0, ROWS * LENGTH, 8)[:PREDICTIONS]
    assert len(positions) == PREDICTIONS
    in_place = {torch.ops.aten.addmm_: added_product}
    counter = FlopCounterMode(display=False, custom_mapping=in_place)
    with sdpa_kernel(SDPBackend.MATH), counter:
        loss, _ = model.loss_at(ids, positions, ids.flatten()[positions])
        torch.autograd.backward(loss)
    return int(counter.get_total_flops())


@pytest.mark.parametrize("changes", KINDS.values(), ids=KINDS.keys())
def test_as_torch_counts(changes: dict[str, Any]) -> None:
    """Equal for every kind of input; the fused attention would compute its scores once more going back."""
    needed = training_flops(tiny_config(**changes), ROWS, LENGTH, PREDICTIONS)
    assert counted(**changes) == needed


def test_by_hand() -> None:
    """RemBERT's own sizes, 32 layers of width 1152, from its paper's Table 7: input 256, output 1536, inner 4608."""
    config = tiny_config(
        vocab_size=250_000,
        hidden_size=1152,
        num_hidden_layers=32,
        num_attention_heads=18,
        intermediate_size=4608,
        input_embedding_size=256,
        output_embedding_size=1536,
        max_position_embeddings=512,
    )
    tokens, predictions = 2048 * 512, 2048 * 77
    layer = 4 * 1152 * 1152 + 2 * 1152 * 4608 + 2 * 512 * 1152
    products = tokens * (32 * layer + 256 * 1152) + predictions * (1152 * 1536 + 1536 * 250_000)
    assert training_flops(config, 2048, 512, predictions) == 6 * products


def test_logits_at_masked_positions_alone() -> None:
    config = tiny_config()
    more = training_flops(config, 2, 10, 5) - training_flops(config, 2, 10, 4)
    assert more == 6 * 24 * (32 + config.vocab_size)
