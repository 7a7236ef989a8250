"""Products of ever new shapes do not make a process grow."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from xharness.inference import kernel_caches
from xharness.inference.packed_layers import _has_packed_layers

#: Prints by how much a process grows, in MiB, with products of 600 shapes and then with as many others.
PROGRAM = """
import sys, torch
from torch import nn
from xharness.inference.device import choose_device
from xharness.inference.packed_layers import PackedLinear

if sys.argv[1] == "few":
    choose_device("cpu")

def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20

layer, rows = PackedLinear(nn.Linear(64, 64)), torch.ones(1300, 64)
with torch.inference_mode():
    layer(rows)
    for shapes in (range(1, 600), range(600, 1200)):
        before = held()
        for size in shapes:
            layer(rows[:size])
        print(round(held() - before))
"""


def growth(how: str) -> list[int]:
    environment = {k: v for k, v in os.environ.items() if k not in kernel_caches.VARIABLES}
    command = [sys.executable, "-c", PROGRAM, how]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return [int(line) for line in done.stdout.split()]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.skipif(not _has_packed_layers(), reason="torch has no oneDNN here")
def test_new_shapes_take_no_more_memory() -> None:
    first, more = growth("few")
    assert more < 16
    unbounded = growth("many")
    assert sum(unbounded) > 3 * (first + more)


def test_an_own_setting_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = kernel_caches.VARIABLES
    monkeypatch.setenv(one, "7")
    monkeypatch.setenv(other, "")  # so that its absence comes back at the end
    monkeypatch.delenv(other)
    kernel_caches.keep_few_kernels()
    assert os.environ[one] == "7"
    assert os.environ[other] == str(kernel_caches.KERNELS)
