"""Packed linear layers give what the plain ones give, and stay out of where they do not."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.functional import gelu
from transformers import BertConfig, BertForSequenceClassification

from xharness.inference.device import Device
from xharness.inference.packed_layers import PackedLinear, load_packed, pack

CPU = Device("cpu", "float32", 1024)


class Half(nn.Module):
    """The first half of a feed-forward sublayer."""

    def __init__(self, after: nn.Module) -> None:
        super().__init__()
        self.dense = nn.Linear(48, 64)
        self.after = after

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        outputs: torch.Tensor = self.after(self.dense(inputs))
        return outputs


def bert() -> BertForSequenceClassification:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=50,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        num_labels=3,
    )
    return BertForSequenceClassification(config)


@pytest.mark.parametrize("rows", [1, 7, 1024, 1500])
@pytest.mark.parametrize("bias", [True, False])
@torch.inference_mode()
def test_gives_the_product_of_the_plain_layer(rows: int, bias: bool) -> None:
    torch.manual_seed(rows)
    plain, inputs = nn.Linear(48, 64, bias=bias), torch.randn(rows, 48)
    expected = plain(inputs)
    torch.testing.assert_close(PackedLinear(plain)(inputs), expected, rtol=1e-5, atol=1e-5)
    after = PackedLinear(plain, gelu=True)(inputs)
    torch.testing.assert_close(after, gelu(expected), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("after", "fused"), [(nn.GELU(), True), (nn.GELU("tanh"), False), (nn.Tanh(), False)]
)
@torch.inference_mode()
def test_joins_exact_gelu_alone_with_the_product(after: nn.Module, fused: bool) -> None:
    torch.manual_seed(1)
    whole = nn.Sequential(Half(after)).eval()
    inputs = torch.randn(2, 5, 48)
    expected = whole(inputs)
    assert pack(whole) == 1
    assert isinstance(whole[0], PackedLinear) == fused
    torch.testing.assert_close(whole(inputs), expected, rtol=1e-5, atol=1e-5)


def test_leaves_layers_of_derived_classes_alone() -> None:
    class Scaled(nn.Linear):
        """A layer that does more than multiply."""

    whole = nn.Sequential(Scaled(4, 4), nn.Linear(4, 4).double())
    assert pack(whole) == 0


@torch.inference_mode()
def test_packs_all_of_a_model_and_keeps_its_outputs() -> None:
    plain = bert().eval()
    packed = load_packed(bert, CPU)
    kinds = [type(module) for module in packed.modules()]
    # In each block three maps before attention and one after it, two of the feed-forward; pooler and classifier.
    assert kinds.count(PackedLinear) == 2 * 6 + 2
    assert nn.Linear not in kinds
    ids = torch.randint(5, 50, (4, 9), generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(
        packed(input_ids=ids).logits, plain(input_ids=ids).logits, rtol=1e-5, atol=1e-5
    )


def test_packs_only_where_a_cpu_computes_in_float32() -> None:
    model = load_packed(bert, Device("cpu", "bfloat16", 1024))
    assert not any(isinstance(module, PackedLinear) for module in model.modules())


def test_leaves_a_model_that_reaches_into_its_layers_as_it_was() -> None:
    def reaching() -> BertForSequenceClassification:
        def look(module: Any, inputs: object) -> None:
            assert module.classifier.weight.ndim == 2  # packed layers have no such attribute

        model = bert()
        model.register_forward_pre_hook(look)
        return model

    model = load_packed(reaching, CPU)
    assert not any(isinstance(module, PackedLinear) for module in model.modules())
    assert torch.equal(model.classifier.weight, bert().classifier.weight)
