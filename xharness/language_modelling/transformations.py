"""Units that make a wide vector of a narrow one: DeFINE, and what is left of it when parts are taken away.

Mehta et al., ICLR 2020 (arXiv 1911.12385), sections 3.1 to 3.3 and the ablations of its WikiText-103 models.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from xharness.encoder.define import DefineUnit, GroupLayer, GroupLinear, layer_plan
from xharness.errors import InputError
from xharness.language_modelling.config import DefineSettings


def expansion_unit(settings: DefineSettings, narrow: int, outputs: int) -> nn.Module:
    """Return the unit: (tokens, narrow) to (tokens, outputs).

    Raises:
        InputError: Sizes and groups do not fit each other.
    """
    if settings.transformation == "define":
        return DefineUnit(narrow, settings.expansion, settings.depth, settings.groups, outputs)
    plan = tuple(_plan(settings, narrow))
    return GroupStack(plan, outputs, joins_input=settings.transformation == "unmixed")


def _plan(settings: DefineSettings, narrow: int) -> Iterator[GroupLayer]:
    """Yield the layers of a reduced unit; their widths are those of the whole one, but for the rounding to groups."""
    groups = 1 if settings.transformation == "linear" else settings.groups
    whole = layer_plan(narrow, settings.expansion, settings.depth, groups)
    if settings.transformation == "unmixed":
        yield from whole
        return
    before = narrow
    for layer in whole:
        if settings.transformation == "grouped":
            width = -(-layer.outputs // groups) * groups
            yield GroupLayer(before, width, groups)
        else:
            width = layer.outputs
            yield GroupLayer(before, width, layer.groups)
        before = width


class GroupStack(nn.Module):
    """Group layers one after another, then a linear map.

    Args:
        plan: The layers.
        outputs: Width of the result.
        joins_input: Whether each layer after the first also reads the unit's input, put before the layer's own as a
            whole: a group then need not meet both.
    """

    def __init__(self, plan: tuple[GroupLayer, ...], outputs: int, *, joins_input: bool) -> None:
        super().__init__()
        if any(layer.inputs % layer.groups or layer.outputs % layer.groups for layer in plan):
            raise InputError("groups do not divide a layer's width", where="embedding.define")
        self.expand = nn.ModuleList(GroupLinear(layer) for layer in plan)
        self.reduce = nn.Linear(plan[-1].outputs, outputs)
        self.joins_input = joins_input

    def forward(self, vectors: Tensor) -> Tensor:
        """Map (tokens, narrow) to (tokens, outputs)."""
        expanded = vectors
        for number, layer in enumerate(self.expand):
            joined = torch.cat((vectors, expanded), 1) if number and self.joins_input else expanded
            expanded = layer(joined)
        reduced: Tensor = self.reduce(expanded)
        return reduced
