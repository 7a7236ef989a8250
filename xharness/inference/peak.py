"""What a device's matrix products reach at best, measured."""

from __future__ import annotations

import time

import torch

from xharness.inference.device import Device

#: Width of the square matrices: large enough for the peak, small enough for a few hundredths of a second.
WIDTH = 2048


#: Seconds after which no further product is tried: without hardware for a format one takes seconds.
ENOUGH = 2.0


def matmul_peak(device: Device, repeats: int = 5) -> float:
    """Return the floating-point operations a second of a square matrix product in the device's format.

    The best of some products counts. No random numbers are drawn: a training's must not depend on being measured.
    """
    dtype = getattr(torch, device.dtype)
    width = WIDTH if device.name == "cpu" else 4 * WIDTH
    factor = torch.linspace(-1, 1, width * width, device=device.torch).view(width, width).to(dtype)
    product = torch.empty_like(factor)
    best, spent = 0.0, 0.0
    for _ in range(repeats + 1):  # the first one warms up
        _finish(device)
        began = time.perf_counter()
        torch.mm(factor, factor, out=product)
        _finish(device)
        seconds = time.perf_counter() - began
        best, spent = max(best, 2 * width**3 / seconds), spent + seconds
        if spent > ENOUGH:
            break
    return best


def _finish(device: Device) -> None:
    """Wait for what the device was given to do."""
    if device.name == "cuda":
        torch.cuda.synchronize()
    elif device.name == "mps":
        torch.mps.synchronize()
