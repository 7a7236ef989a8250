"""The C library's allocator keeps what is freed."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys

import pytest

from xharness.inference import allocator

#: Prints how much of 64 MiB that were used and freed the process still holds, in MiB: as it is, and told to keep it.
PROGRAM = """
import torch
from xharness.inference.allocator import keep_freed_memory

def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def kept():
    before = held()
    for _ in range(3):
        block = torch.ones(2**24)
        del block
    return round((held() - before) / 2**20)

print(kept())
assert keep_freed_memory()
print(kept())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_freed_memory_stays() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    left, kept = map(int, done.stdout.split())
    assert left < 16
    assert kept > 48


def test_elsewhere_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not allocator.keep_freed_memory()


def test_another_c_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", absent)
    assert not allocator.keep_freed_memory()
