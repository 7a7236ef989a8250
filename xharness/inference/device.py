"""The device that models run on, its number format and how much it takes at a time."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal

import torch

from xharness.errors import InputError
from xharness.inference.kernel_caches import keep_few_kernels

DType = Literal["float32", "bfloat16"]

#: Padded pieces in one micro-batch. On a CPU larger ones leave its caches; a GPU needs more to be busy.
CPU_TOKENS = 1024
GPU_TOKENS = 16384


@dataclass(frozen=True)
class Device:
    """Where and how a model runs. None of this is part of a protocol; all of it is in the record.

    Attributes:
        name: ``cpu``, ``cuda`` or ``mps``.
        dtype: Format of matrix products; weights and optimizer state stay in float32.
        tokens: Padded pieces in one micro-batch.
        processes: Processes that fine-tune together, each on a device of its own or a share of the CPUs.
    """

    name: str
    dtype: DType
    tokens: int
    processes: int = 1

    @property
    def torch(self) -> torch.device:
        """The torch device."""
        return torch.device(self.name)

    def describe(self) -> dict[str, str | int]:
        """Return what a record says of it."""
        model = torch.cuda.get_device_name() if self.name == "cuda" else self.name
        threads = torch.get_num_threads() if self.name == "cpu" else 0
        told: dict[str, str | int] = {"device": model, "dtype": self.dtype, "threads": threads}
        told["tokens"] = self.tokens
        if self.processes > 1:
            told["processes"] = self.processes
        return told

    def autocast(self) -> AbstractContextManager[object]:
        """Return the context in which forward passes run."""
        return torch.amp.autocast(self.name, torch.bfloat16, enabled=self.dtype == "bfloat16")


def choose_device(
    name: str = "auto", dtype: str = "auto", tokens: int | None = None, processes: int = 1
) -> Device:
    """Choose a device: a GPU where there is one, bfloat16 where a GPU has it.

    A CPU computes in float32 unless asked otherwise, so that its scores do not depend on the processor's model; chosen
    before the first product, it keeps few kernels.

    Raises:
        InputError: The device or format is unknown or absent.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name not in ("cpu", "cuda", "mps"):
        raise InputError(
            f"unknown device {name!r}", where="--device", mend="cpu, cuda, mps or auto"
        )
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("no CUDA device here", where="--device", mend="use --device cpu")
    if name == "mps" and not torch.backends.mps.is_available():
        raise InputError("no MPS device here", where="--device", mend="use --device cpu")
    if dtype == "auto":
        supported = name == "cuda" and torch.cuda.is_bf16_supported()
        dtype = "bfloat16" if supported else "float32"
    if dtype not in ("float32", "bfloat16"):
        raise InputError(
            f"unknown dtype {dtype!r}", where="--dtype", mend="float32, bfloat16 or auto"
        )
    if name == "cpu":
        keep_few_kernels()
    if tokens is None:
        tokens = CPU_TOKENS if name == "cpu" else GPU_TOKENS
    if name == "cuda" and processes > torch.cuda.device_count():
        raise InputError(
            f"{processes} processes need as many GPUs, and {torch.cuda.device_count()} are here",
            where="--processes",
        )
    return Device(name, "bfloat16" if dtype == "bfloat16" else "float32", tokens, processes)
