"""Clocks, memory, arithmetic, and processes of one's own."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

Row = dict[str, Any]

#: Width of the square matrices whose product is the yardstick.
WIDTH = 2048


def seconds() -> float:
    """Return the time by the clock that ``SPEED_CLOCK`` names: the wall's, or ``cpu`` for this process' own.

    On a machine with other work the second is the only one that tells anything; with one thread they are alike.
    """
    return time.process_time() if os.environ.get("SPEED_CLOCK") == "cpu" else time.perf_counter()


def in_own_process(script: str, arguments: Sequence[str], threads: int) -> list[Row]:
    """Run a script of this folder in a process of its own and return the rows that it prints as JSON.

    A failing process ends this one with what it wrote on stderr.
    """
    limits = {"OMP_NUM_THREADS": str(threads), "RAYON_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, script, *arguments, "--threads", str(threads)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **limits, "HF_HUB_OFFLINE": "1"},
    )
    if done.returncode:
        sys.exit(f"{' '.join(arguments)} failed:\n{done.stderr}")
    rows: list[Row] = json.loads(done.stdout.splitlines()[-1])
    return rows


class EncoderClock:
    """Adds up the seconds in which some batch is in a model's encoder.

    Args:
        model: A model with a head.

    Attributes:
        seconds: In the encoder, since the last reset.
        began: When the encoder was first called since then; infinite before.
    """

    def __init__(self, model: Any):
        self.reset()
        self._entered = 0.0
        self._inside = 0
        self._lock = Lock()
        model.base_model.register_forward_pre_hook(self._enter, with_kwargs=True)
        model.base_model.register_forward_hook(self._leave)

    def reset(self) -> None:
        """Begin anew."""
        self.seconds = 0.0
        self.began = float("inf")

    def _enter(self, module: Any, inputs: Any, named: Any) -> None:
        with self._lock:
            if not self._inside:
                self._entered = seconds()
                self.began = min(self.began, self._entered)
            self._inside += 1

    def _leave(self, module: Any, inputs: Any, output: Any) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self.seconds += seconds() - self._entered


class Peak:
    """The highest resident memory of this process since it was forgotten."""

    def __init__(self) -> None:
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")

    def mib(self) -> float:
        """Return it in MiB."""
        return resident("VmHWM")


def resident(key: str = "VmRSS") -> float:
    """Return a figure of this process' memory in MiB: ``VmRSS`` now, ``VmHWM`` at the highest."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"no {key}")


def products(dtype: str = "float32") -> Row:
    """Return the floating-point operations a second that a large matrix product reaches here.

    Returns:
        ``product``, of torch's own, which is the yardstick of all shares, and ``fastest``, of the faster of the two
        libraries behind it: the other one needs weights that are laid out for it, and which is faster depends on the
        processor.
    """
    import torch

    factor = torch.linspace(-1, 1, WIDTH * WIDTH).view(WIDTH, WIDTH).to(getattr(torch, dtype))
    found = {"product": _rate(lambda: torch.mm(factor, factor))}
    found["fastest"] = found["product"]
    if torch._C._has_mkldnn:
        packed = torch.ops.mkldnn._reorder_linear_weight(factor, WIDTH)
        multiply = torch.ops.mkldnn._linear_pointwise
        other = _rate(lambda: multiply(factor, packed, None, "none", [], ""))
        found["fastest"] = max(other, found["product"])
    return found


def highest(rows: Sequence[Row]) -> Row:
    """Return the highest of each figure."""
    return {key: max(row[key] for row in rows) for key in rows[0]}


def _rate(product: Callable[[], Any]) -> float:
    found = 0.0
    for _ in range(5):  # the first one warms up
        began = seconds()
        product()
        found = max(found, 2 * WIDTH**3 / (seconds() - began))
    return found


def encoder_flops(config: Any, lengths: Any, looked_at: Any) -> int:
    """Return the floating-point operations of the matrix products that encoding some windows needs.

    Padding is not needed. Neither are, in the last block, queries and feed-forward at positions that the head does
    not look at.

    Args:
        config: A BERT-like configuration.
        lengths: (windows,) pieces of each window.
        looked_at: (windows,) positions of each that the head looks at.
    """
    width, inner = int(config.hidden_size), int(config.intermediate_size)
    keys = 2 * 2 * width * width
    rest = 2 * (2 * width * width + 2 * width * inner)
    block = lengths * (keys + rest) + 4 * width * lengths**2
    last = lengths * keys + looked_at * rest + 4 * width * lengths * looked_at
    return int(((config.num_hidden_layers - 1) * block + last).sum())


def machine(threads: int) -> Row:
    """Return what the figures were measured on."""
    import platform

    import torch
    import transformers

    names = [
        line.split(":", 1)[1].strip()
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if line.startswith("model name")
    ]
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "threads": threads,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
