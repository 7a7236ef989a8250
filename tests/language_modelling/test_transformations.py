"""DeFINE and its ablations: weights, what a group sees, and which parts are left out."""

from __future__ import annotations

from typing import Literal

import pytest
import torch

from xharness.encoder.define import GroupLinear
from xharness.errors import InputError
from xharness.language_modelling.config import DefineSettings
from xharness.language_modelling.transformations import expansion_unit

Transformation = Literal["define", "unmixed", "hierarchical", "grouped", "linear"]


def settings(transformation: Transformation, depth: int = 3, groups: int = 4) -> DefineSettings:
    return DefineSettings(transformation=transformation, expansion=32, depth=depth, groups=groups)


@pytest.mark.parametrize(
    ("transformation", "weights"),
    [
        # Widths 8 to 16, 24 and 32 with 4, 2 and 1 groups: (inputs x outputs) / groups of each layer.
        ("define", 8 * 16 // 4 + (8 + 16) * 24 // 2 + (8 + 24) * 32),
        ("unmixed", 8 * 16 // 4 + (8 + 16) * 24 // 2 + (8 + 24) * 32),
        ("hierarchical", 8 * 16 // 4 + 16 * 24 // 2 + 24 * 32),
        ("grouped", (8 * 16 + 16 * 24 + 24 * 32) // 4),
        ("linear", 8 * 16 + 16 * 24 + 24 * 32),
    ],
)
def test_weights(transformation: Transformation, weights: int) -> None:
    """Section 3.1: a group transformation has inputs x outputs / groups weights."""
    unit = expansion_unit(settings(transformation), 8, 5)
    layers = [layer for layer in unit.modules() if isinstance(layer, GroupLinear)]
    assert sum(layer.weight.numel() for layer in layers) == weights
    assert unit(torch.randn(7, 8)).shape == (7, 5)


def reach(transformation: Transformation, depth: int) -> int:
    """Return how many of 8 inputs the first output of the last group layer depends on."""
    torch.manual_seed(0)
    unit = expansion_unit(settings(transformation, depth), 8, 32).double()
    unit.get_submodule("reduce").load_state_dict(
        {"weight": torch.eye(32, dtype=torch.double), "bias": torch.zeros(32, dtype=torch.double)}
    )
    vector = torch.randn(1, 8, dtype=torch.double, requires_grad=True)
    unit(vector)[0, 0].backward()
    assert vector.grad is not None
    return int((vector.grad != 0).sum())


def test_constant_groups_see_a_part_of_the_input() -> None:
    """Section 3.1: with constant groups an output depends on one chunk of the input however deep the stack is."""
    assert reach("grouped", 3) == 2
    assert reach("hierarchical", 2) == 4
    assert reach("hierarchical", 3) == 8
    assert reach("linear", 1) == 8


def test_the_mixer_interleaves() -> None:
    """In the second of two layers group 1 reads chunk 1 of both, or without the mixer the first half of what is joined.

    Input 8 and expanded 20 make 28 in two groups of 14: with the mixer 4 + 10 values, without it 8 + 6.
    """
    torch.manual_seed(0)
    mixed, unmixed = (expansion_unit(settings(kind, 2), 8, 4) for kind in ("define", "unmixed"))
    unmixed.load_state_dict(mixed.state_dict())
    vectors = torch.randn(3, 8)
    assert not torch.allclose(mixed(vectors), unmixed(vectors))
    assert reach("define", 2) == 4
    assert reach("unmixed", 2) == 8


def test_one_group_has_nothing_to_interleave() -> None:
    torch.manual_seed(0)
    one, other = (
        expansion_unit(settings("define", 3, 1), 8, 4),
        expansion_unit(settings("unmixed", 3, 1), 8, 4),
    )
    other.load_state_dict(one.state_dict())
    vectors = torch.randn(3, 8)
    torch.testing.assert_close(one(vectors), other(vectors))


def test_groups_that_do_not_fit() -> None:
    with pytest.raises(InputError, match="4 groups do not divide a width of 6"):
        expansion_unit(settings("grouped"), 6, 4)
    with pytest.raises(InputError):
        expansion_unit(DefineSettings(transformation="grouped", expansion=8, groups=3), 4, 4)
