"""Sequence models: nothing of the future is seen, and the past is carried."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from xharness.language_modelling.config import ModelSettings
from xharness.language_modelling.sequence_models import (
    LstmModel,
    TransformerModel,
    rotated,
    sequence_model,
)

KINDS: dict[str, dict[str, Any]] = {
    "lstm": {"kind": "lstm"},
    "transformer": {"kind": "transformer", "heads": 2, "memory": 12},
}


def build(kind: str, **more: Any) -> LstmModel | TransformerModel:
    torch.manual_seed(0)
    settings = ModelSettings(hidden_size=8, layers=2, **{**KINDS[kind], **more})
    return sequence_model(settings).double().eval()


@pytest.mark.parametrize("kind", KINDS)
def test_the_future_is_not_seen(kind: str) -> None:
    model = build(kind)
    inputs = torch.randn(9, 2, 8, dtype=torch.double)
    changed = inputs.clone()
    changed[5:] = torch.randn(4, 2, 8, dtype=torch.double)
    before, after = model(inputs, None)[0], model(changed, None)[0]
    torch.testing.assert_close(before[:5], after[:5])
    assert not torch.allclose(before[5:], after[5:])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("window", [1, 4, 5])
def test_windows_are_as_good_as_the_whole(kind: str, window: int) -> None:
    """With the state carried, and a memory that holds all of it, cutting changes nothing."""
    model = build(kind)
    inputs = torch.randn(12, 3, 8, dtype=torch.double)
    whole, _ = model(inputs, None)
    state, parts = None, []
    for part in torch.split(inputs, window):
        found, state = model(part, state)
        parts.append(found)
    torch.testing.assert_close(torch.cat(parts), whole)


def test_memory_ends() -> None:
    """With one layer and a memory of two, a word sees itself and the two before it."""
    torch.manual_seed(0)
    settings = ModelSettings(kind="transformer", hidden_size=8, layers=1, heads=2, memory=2)
    model = sequence_model(settings).double().eval()
    inputs = torch.randn(6, 1, 8, dtype=torch.double)
    changed = inputs.clone()
    changed[2] = -inputs[2]
    found = []
    for one in (inputs, changed):
        state, parts = None, []
        for part in torch.split(one, 1):
            output, state = model(part, state)
            parts.append(output[0, 0])
        found.append(torch.stack(parts))
    differs = (found[0] != found[1]).any(1)
    assert differs.tolist() == [False, False, True, True, True, False]


def test_no_memory_at_all() -> None:
    model = build("transformer", memory=0)
    inputs = torch.randn(4, 1, 8, dtype=torch.double)
    _, state = model(inputs, None)
    torch.testing.assert_close(model(inputs, state)[0], model(inputs, None)[0])


def test_rotation_keeps_lengths_and_differences() -> None:
    """The product of vectors at places 3 and 1 is that at places 9 and 7; place 0 turns nothing."""
    torch.manual_seed(0)
    one, other = torch.randn(2, 6, dtype=torch.double)

    def product(first: int, second: int) -> torch.Tensor:
        turned = rotated(torch.stack((one, other)), torch.tensor([first, second]))
        torch.testing.assert_close(turned.norm(dim=1), torch.stack((one, other)).norm(dim=1))
        return turned[0] @ turned[1]

    torch.testing.assert_close(product(3, 1), product(9, 7))
    torch.testing.assert_close(product(0, 0), one @ other)
    assert not torch.allclose(product(3, 1), product(3, 2))


def test_dropout_only_in_training() -> None:
    for kind in KINDS:
        model = build(kind, dropout=0.5)
        inputs = torch.randn(4, 2, 8, dtype=torch.double)
        assert torch.equal(model(inputs, None)[0], model(inputs, None)[0])
        model.train()
        assert not torch.equal(model(inputs, None)[0], model(inputs, None)[0])
