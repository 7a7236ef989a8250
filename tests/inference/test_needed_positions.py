"""The last block at needed positions gives the logits of the whole one, and steps aside where it would not."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertForTokenClassification,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
    XLMRobertaForTokenClassification,
)

from xharness.inference.needed_positions import only_needed

SIZES: dict[str, Any] = {
    "vocab_size": 60,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "num_labels": 5,
}
BERT = BertConfig(**SIZES)
XLMR = XLMRobertaConfig(**SIZES, max_position_embeddings=40, pad_token_id=1)

IDS = torch.randint(5, 60, (3, 9), generator=torch.Generator().manual_seed(0))
MASK = (torch.arange(9) < torch.tensor([9, 6, 4])[:, None]).long()


def made(kind: Any, config: Any) -> Any:
    torch.manual_seed(1)
    return kind(config).eval()


@pytest.mark.parametrize(
    ("kind", "config"),
    [(BertForSequenceClassification, BERT), (XLMRobertaForSequenceClassification, XLMR)],
)
@torch.inference_mode()
def test_a_pair_needs_its_first_position(kind: Any, config: Any) -> None:
    model = made(kind, config)
    whole = model(input_ids=IDS, attention_mask=MASK).logits
    seen: list[int] = []
    last = model.base_model.encoder.layer[-1].intermediate
    last.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0].shape[1]))
    with only_needed(model) as needed:
        assert needed.works
        seen.clear()
        needed.first()
        part = model(input_ids=IDS, attention_mask=MASK).logits
    assert seen == [1]
    torch.testing.assert_close(part, whole, rtol=1e-5, atol=1e-6)
    assert torch.equal(model(input_ids=IDS, attention_mask=MASK).logits, whole)
    assert seen == [1, 9]


@pytest.mark.parametrize(
    ("kind", "config"),
    [(BertForTokenClassification, BERT), (XLMRobertaForTokenClassification, XLMR)],
)
@torch.inference_mode()
def test_words_need_their_first_pieces(kind: Any, config: Any) -> None:
    model = made(kind, config)
    whole = model(input_ids=IDS, attention_mask=MASK).logits
    rows, positions = torch.tensor([0, 0, 1, 2, 2]), torch.tensor([1, 7, 3, 1, 2])
    with only_needed(model) as needed:
        assert needed.works
        needed.at(rows, positions)
        part = model(input_ids=IDS, attention_mask=MASK).logits
    assert part.shape == (1, 5, 5)
    torch.testing.assert_close(part[0], whole[rows, positions], rtol=1e-5, atol=1e-6)


def test_a_model_of_another_layout_computes_everything() -> None:
    config = DistilBertConfig(vocab_size=60, dim=32, n_layers=2, n_heads=2, hidden_dim=48)
    with only_needed(made(DistilBertForSequenceClassification, config)) as needed:
        assert not needed.works


@torch.inference_mode()
def test_a_head_that_looks_at_other_positions_gets_them_all() -> None:
    class Mean(torch.nn.Module):
        """Pools all positions."""

        def forward(self, states: torch.Tensor) -> torch.Tensor:
            return states.mean(dim=1)

    model = made(BertForSequenceClassification, BERT)
    model.bert.pooler = Mean()
    whole = model(input_ids=IDS, attention_mask=MASK).logits
    with only_needed(model) as needed:
        assert not needed.works
        assert torch.equal(model(input_ids=IDS, attention_mask=MASK).logits, whole)
