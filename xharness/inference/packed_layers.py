"""Linear layers laid out for oneDNN, which makes prediction on a CPU in float32 faster.

torch hands linear layers in float32 to MKL, which lays the weights out anew at each call and is held back on processors
that are not Intel's. oneDNN takes weights that were laid out once, and applies GELU while a product is in the caches.
Results differ from the plain layers' by rounding alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from xharness.inference.device import CPU_TOKENS, Device

#: Differences of rounding that outputs may have, relative to their size: of a layer, and of a whole model.
LAYER_TOLERANCE = 2e-5
MODEL_TOLERANCE = 1e-3


class PackedLinear(nn.Module):
    """A linear layer, and where asked exact GELU after it. It has no gradient.

    Args:
        linear: The layer; its weights are copied.
        gelu: Whether GELU follows.
    """

    def __init__(self, linear: nn.Linear, gelu: bool = False):
        super().__init__()
        self._weight = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), CPU_TOKENS)
        self._bias = None if linear.bias is None else linear.bias.detach()
        self._after, self._variant = ("gelu", "none") if gelu else ("none", "")

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return (..., outputs) of (..., inputs)."""
        outputs: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            inputs, self._weight, self._bias, self._after, [], self._variant
        )
        return outputs


def load_packed(load: Callable[[], Any], device: Device) -> Any:
    """Load a model for prediction on a device, its linear layers packed where that gives the same outputs.

    Args:
        load: Loads it; called again where a model does not work with packed layers.
        device: Where it will run.
    """
    model = load().to(device.torch).eval()
    if device.name != "cpu" or device.dtype != "float32" or not _has_packed_layers():
        return model
    expected = _outputs(model)
    if expected is None:
        return model
    pack(model)
    found = _outputs(model)
    if found is not None and len(found) == len(expected):
        pairs = zip(found, expected, strict=True)
        if all(_close(one, other, MODEL_TOLERANCE) for one, other in pairs):
            return model
    return load().to(device.torch).eval()


@torch.inference_mode()
def pack(model: nn.Module) -> int:
    """Replace a model's linear layers by packed ones; return how many."""
    packed = 0
    for name, child in list(model.named_children()):
        replacement = _packed(child)
        if replacement is None:
            packed += pack(child)
        else:
            setattr(model, name, replacement)
            packed += 1
    return packed


def _packed(module: nn.Module) -> PackedLinear | None:
    """Return what takes a module's place: that of a linear layer, or of one that exact GELU follows."""
    if type(module) is nn.Linear:  # layers of derived classes do more than multiply
        return PackedLinear(module) if module.weight.dtype == torch.float32 else None
    parts = list(module.children())
    linear = [part for part in parts if type(part) is nn.Linear]
    if len(linear) != 1 or len(parts) != 2 or len(list(module.parameters())) > 2:
        return None
    # Whether such a pair is a product and then GELU is seen from what comes out of it.
    candidate = PackedLinear(linear[0], gelu=True)
    width = linear[0].in_features
    probe = torch.linspace(-3, 3, 4 * width).view(4, width)
    try:
        expected = module(probe)
    except (RuntimeError, TypeError, IndexError):
        return None
    same = isinstance(expected, torch.Tensor) and _close(
        candidate(probe), expected, LAYER_TOLERANCE
    )
    return candidate if same else None


@torch.inference_mode()
def _outputs(model: Any) -> list[torch.Tensor] | None:
    """Return what a model makes of a short input; ``None`` where it does not work with one."""
    probe = torch.arange(2, 10).view(1, 8) % int(model.config.vocab_size)
    if "MultipleChoice" in type(model).__name__:
        probe = probe[:, None]
    try:
        output = model(input_ids=probe, attention_mask=torch.ones_like(probe))
    except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):
        return None  # with packed layers: it reaches into them
    return list(_tensors(output.to_tuple()))


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, tuple | list):
            yield from _tensors(value)


def _close(one: torch.Tensor, other: torch.Tensor, tolerance: float) -> bool:
    if one.shape != other.shape or not other.numel():
        return one.shape == other.shape
    size = max(1.0, float(other.abs().max()))
    return bool((one - other).abs().max() <= tolerance * size)


def _has_packed_layers() -> bool:
    operators = torch.ops.mkldnn
    return torch._C._has_mkldnn and all(
        hasattr(operators, name) for name in ("_reorder_linear_weight", "_linear_pointwise")
    )
