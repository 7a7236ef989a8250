"""The DeFINE unit: a narrow vector is expanded by a hierarchical group transformation, then reduced.

Mehta et al., ICLR 2020 (arXiv 1911.12385), sections 3.1 to 3.3. Widths grow linearly from n to k over the N layers
and groups halve from layer to layer; from the second layer on, the input mixer interleaves chunks of the input with
chunks of the layer before, so that group j reads chunk j of both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from xharness.errors import InputError


@dataclass(frozen=True)
class GroupLayer:
    """One layer of the expansion: inputs, outputs and groups, which divide both."""

    inputs: int
    outputs: int
    groups: int


def layer_plan(narrow: int, expansion: int, depth: int, groups: int) -> tuple[GroupLayer, ...]:
    """Return the layers that expand a vector of width ``narrow`` to ``expansion``.

    Layer l of N has max(groups / 2^(l-1), 1) groups, rounded down, and a width on the line from ``narrow`` to
    ``expansion``, rounded up so that its own groups and those of the next layer divide it.

    Raises:
        InputError: No depth, or the first layer's groups do not divide the narrow width.
    """
    if depth < 1 or groups < 1:
        raise InputError(
            f"depth {depth} and {groups} groups: both must be at least 1", where="define"
        )
    counts = [max(groups // 2**level, 1) for level in range(depth)]
    if any(narrow % count for count in counts) or narrow < 1:
        raise InputError(
            f"{groups} groups do not divide a width of {narrow}",
            where="define_groups",
            mend="take a power of two that divides input_factor_size",
        )
    if expansion < narrow:
        raise InputError(
            f"an expansion to {expansion} is narrower than its input of {narrow}",
            where="define_expansion_size",
        )
    layers, before = [], 0
    for level, count in enumerate(counts):
        after = counts[min(level + 1, depth - 1)]
        # The next layer's groups cut this output too; from an odd number of groups neither divides the other.
        multiple = math.lcm(count, after)
        exact = narrow + (expansion - narrow) * (level + 1) / depth
        width = -(-round(exact) // multiple) * multiple
        layers.append(GroupLayer(narrow + before, width, count))
        before = width
    return tuple(layers)


class GroupLinear(nn.Module):
    """A linear map in groups: chunk j of the input meets only its own matrix.

    Args:
        layer: Its sizes; (inputs x outputs) / groups weights.
    """

    def __init__(self, layer: GroupLayer) -> None:
        super().__init__()
        self.layer = layer
        shape = (layer.groups, layer.inputs // layer.groups, layer.outputs // layer.groups)
        self.weight = nn.Parameter(torch.empty(shape))
        self.bias = nn.Parameter(torch.zeros(layer.groups, 1, shape[2]))
        self.norm = nn.LayerNorm(shape[2])
        self.reset()

    def reset(self) -> None:
        """Draw the weights: Xavier uniform within each group, as in the authors' code."""
        bound = (6 / (self.weight.shape[1] + self.weight.shape[2])) ** 0.5
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.zeros_(self.bias)

    def forward(self, vectors: Tensor) -> Tensor:
        """Map (tokens, inputs) to (tokens, outputs); each group is normalised, then passed through a GELU."""
        tokens = vectors.shape[0]
        chunks = vectors.view(tokens, self.layer.groups, -1).transpose(
            0, 1
        )  # (groups, tokens, inputs / groups)
        mapped = torch.baddbmm(self.bias, chunks, self.weight)
        mapped = nn.functional.gelu(self.norm(mapped))
        return mapped.transpose(0, 1).reshape(tokens, self.layer.outputs)


def mix(first: Tensor, second: Tensor, groups: int) -> Tensor:
    """Interleave chunks: (tokens, n) and (tokens, m) to (tokens, n + m), chunk j of both next to each other."""
    tokens = first.shape[0]
    pair = (first.view(tokens, groups, -1), second.view(tokens, groups, -1))
    return torch.cat(pair, dim=2).view(tokens, -1)


class DefineUnit(nn.Module):
    """Expand and reduce: (tokens, narrow) to (tokens, outputs).

    Args:
        narrow: Width n of the looked-up vectors.
        expansion: Width k of the widest layer.
        depth: Layers N.
        groups: Groups of the first layer.
        outputs: Width m of the result.
    """

    def __init__(self, narrow: int, expansion: int, depth: int, groups: int, outputs: int) -> None:
        super().__init__()
        plan = layer_plan(narrow, expansion, depth, groups)
        self.expand = nn.ModuleList(GroupLinear(layer) for layer in plan)
        self.reduce = nn.Linear(plan[-1].outputs, outputs)

    def forward(self, vectors: Tensor) -> Tensor:
        """Map (tokens, narrow) to (tokens, outputs)."""
        layers = self._layers()
        expanded = next(layers)(vectors)
        for layer in layers:
            expanded = layer(mix(vectors, expanded, layer.layer.groups))
        reduced: Tensor = self.reduce(expanded)
        return reduced

    def _layers(self) -> Iterator[GroupLinear]:
        for layer in self.expand:
            assert isinstance(layer, GroupLinear)
            yield layer
