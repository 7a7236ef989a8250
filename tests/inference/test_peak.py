"""What the device's matrix products reach."""

from __future__ import annotations

import time

import pytest
import torch

from xharness.inference import peak
from xharness.inference.device import Device

CPU = Device("cpu", "float32", 64)


def test_is_what_a_product_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    """At least what one product here and now takes, and no more than a thousand times that."""
    monkeypatch.setattr(peak, "WIDTH", 512)
    found = peak.matmul_peak(CPU)
    factor = torch.randn(512, 512)
    factor @ factor
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        factor @ factor
        seconds.append(time.perf_counter() - began)
    typical = 2 * 512**3 / sorted(seconds)[2]
    assert typical / 20 < found < typical * 20


def test_draws_no_random_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A training's must be the same whether it was measured or not."""
    monkeypatch.setattr(peak, "WIDTH", 32)
    before = torch.get_rng_state()
    peak.matmul_peak(CPU)
    assert torch.equal(torch.get_rng_state(), before)


def test_stops_early_where_a_format_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three products of one second each are two more than enough."""
    monkeypatch.setattr(peak, "WIDTH", 8)
    clock = iter(range(100))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))
    assert peak.matmul_peak(Device("cpu", "bfloat16", 64)) == 2 * 8**3
    assert next(clock) == 6
