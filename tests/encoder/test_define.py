"""The DeFINE unit against sections 3.1 to 3.3 of arXiv 1911.12385, computed in numpy."""

from __future__ import annotations

from math import erf

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.encoder.tiny_models import filled
from xharness.encoder.define import DefineUnit, GroupLayer, GroupLinear, layer_plan, mix
from xharness.errors import InputError

Array = NDArray[np.float64]


def gelu(values: Array) -> Array:
    result: Array = values * 0.5 * (1 + np.vectorize(erf)(values / np.sqrt(2)))
    return result


def normalised(values: Array, scale: Array, shift: Array) -> Array:
    spread = np.sqrt(values.var() + 1e-5)
    result: Array = (values - values.mean()) / spread * scale + shift
    return result


def grouped(vector: Array, layer: GroupLinear) -> Array:
    """F_G for one vector: chunk by chunk, each by its own matrix, then normalised and passed through a GELU."""
    weight, bias, scale, shift = (
        part.detach().double().numpy()
        for part in (layer.weight, layer.bias, layer.norm.weight, layer.norm.bias)
    )
    groups = len(weight)
    inputs = len(vector) // groups
    outputs = []
    for j in range(groups):
        chunk = vector[j * inputs : (j + 1) * inputs]
        outputs.append(gelu(normalised(chunk @ weight[j] + bias[j, 0], scale, shift)))
    return np.concatenate(outputs)


def interleaved(first: Array, second: Array, groups: int) -> Array:
    """z = [e[1] ; o[1] ; e[2] ; o[2] ; ...], the input mixer."""
    n, m = len(first) // groups, len(second) // groups
    chunks = []
    for j in range(groups):
        chunks += [first[j * n : (j + 1) * n], second[j * m : (j + 1) * m]]
    return np.concatenate(chunks)


def by_hand(unit: DefineUnit, vector: Array, groups: list[int]) -> Array:
    layers = list(unit.expand)
    expanded = grouped(vector, layers[0])  # type: ignore[arg-type]
    for layer, count in zip(layers[1:], groups[1:], strict=True):
        expanded = grouped(interleaved(vector, expanded, count), layer)  # type: ignore[arg-type]
    weight, bias = (p.detach().double().numpy() for p in (unit.reduce.weight, unit.reduce.bias))
    result: Array = weight @ expanded + bias
    return result


@pytest.mark.parametrize(
    ("depth", "most", "groups"),
    [
        (1, 8, [8]),
        (3, 8, [8, 4, 2]),
        (4, 8, [8, 4, 2, 1]),
        (7, 8, [8, 4, 2, 1, 1, 1, 1]),
        (3, 1, [1, 1, 1]),
        (2, 6, [6, 3]),
    ],
)
def test_the_unit_is_that_of_the_paper(depth: int, most: int, groups: list[int]) -> None:
    """Groups are max(floor(g_max / 2^(l-1)), 1), as define's section 3.2 sets them."""
    assert [layer.groups for layer in layer_plan(24, 100, depth, most)] == groups
    unit = filled(DefineUnit(24, 100, depth, most, outputs=10)).double()
    vectors = torch.randn(5, 24, dtype=torch.double, generator=torch.Generator().manual_seed(1))
    expected = np.stack([by_hand(unit, vector, groups) for vector in vectors.numpy()])
    np.testing.assert_allclose(unit(vectors).detach().numpy(), expected, rtol=1e-10, atol=1e-10)


def test_widths_grow_on_a_line() -> None:
    """n = 128 to k = 1024 in three layers: 426.67, 725.33, 1024, rounded up to multiples of 8, 4 and 2."""
    assert layer_plan(128, 1024, 3, 8) == (
        GroupLayer(128, 432, 8),
        GroupLayer(128 + 432, 728, 4),
        GroupLayer(128 + 728, 1024, 2),
    )


def test_one_group_is_a_linear_layer() -> None:
    layer = filled(GroupLinear(GroupLayer(6, 9, 1)))
    vectors = torch.randn(4, 6)
    plain = torch.nn.functional.linear(vectors, layer.weight[0].T, layer.bias[0, 0])
    expected = torch.nn.functional.gelu(layer.norm(plain))
    torch.testing.assert_close(layer(vectors), expected)


def test_groups_do_not_see_each_other() -> None:
    """Without mixing, group j of a group linear transform depends on chunk j alone."""
    layer = filled(GroupLinear(GroupLayer(12, 16, 4)))
    vectors = torch.randn(1, 12, requires_grad=True)
    layer(vectors)[0, 4:8].sum().backward()
    seen = vectors.grad[0] != 0  # type: ignore[index]
    assert seen.tolist() == [False] * 3 + [True] * 3 + [False] * 6


def test_the_weights_of_a_layer_are_divided_by_its_groups() -> None:
    """(inputs x outputs) / groups weights, section 3.2."""
    assert GroupLinear(GroupLayer(24, 40, 8)).weight.numel() == 24 * 40 / 8


def test_the_mixer_interleaves_chunks() -> None:
    first, second = torch.tensor([[1, 2, 3, 4]]), torch.tensor([[10, 20]])
    assert mix(first, second, 2).tolist() == [[1, 2, 10, 3, 4, 20]]
    assert mix(first, second, 1).tolist() == [[1, 2, 3, 4, 10, 20]]


def test_each_token_is_on_its_own() -> None:
    """A token's vector depends on the token alone; only so can the table be cached."""
    unit = filled(DefineUnit(8, 32, 3, 4, outputs=6))
    vectors = torch.randn(7, 8)
    alone = torch.cat([unit(vector[None]) for vector in vectors])
    torch.testing.assert_close(unit(vectors), alone)


@settings(max_examples=60)
@given(
    chunk=st.integers(1, 5),
    most=st.integers(1, 12),
    depth=st.integers(1, 6),
    more=st.integers(0, 60),
)
def test_every_plan_runs_whose_groups_divide_the_input(
    chunk: int, most: int, depth: int, more: int
) -> None:
    """Whatever the sizes: groups divide what they cut, and the last layer is at least as wide as asked."""
    narrow = chunk * most
    if any(narrow % max(most // 2**level, 1) for level in range(depth)):
        with pytest.raises(InputError, match="groups do not divide"):
            layer_plan(narrow, narrow + more, depth, most)
        return
    plan = layer_plan(narrow, narrow + more, depth, most)
    assert all(not (p.inputs % p.groups or p.outputs % p.groups) for p in plan)
    assert plan[-1].outputs >= narrow + more
    unit = DefineUnit(narrow, narrow + more, depth, most, outputs=3)
    assert unit(torch.randn(2, narrow)).shape == (2, 3)


@pytest.mark.parametrize(("depth", "groups"), [(0, 4), (2, 0)])
def test_no_layers_or_groups_are_refused(depth: int, groups: int) -> None:
    with pytest.raises(InputError, match="must be at least 1"):
        layer_plan(8, 16, depth, groups)
