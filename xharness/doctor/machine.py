"""Where models can run, and whether the hub answers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from xharness.doctor.findings import Finding, size_text

#: The data set that most tasks name; its card is small.
_HUB_DATASET = "google/xtreme"


def examine_devices() -> Iterator[Finding]:
    """Examine processor, memory and accelerators."""
    import psutil
    import torch

    from xharness.inference.device import choose_device

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    yield Finding(
        "devices",
        "cpu",
        f"{os.cpu_count()} cores, {usable} usable, {torch.get_num_threads()} torch threads, "
        f"{torch.backends.cpu.get_cpu_capability()}",
    )
    yield Finding("devices", "cpu bfloat16", _cpu_bfloat16())
    memory = psutil.virtual_memory()
    yield Finding(
        "devices", "memory", f"{size_text(memory.available)} available of {size_text(memory.total)}"
    )
    if not torch.cuda.is_available():
        built = "none found" if torch.version.cuda else "none: this torch is built without CUDA"
        yield Finding("devices", "cuda", built)
    for number in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(number)
        with torch.cuda.device(number):
            native = torch.cuda.is_bf16_supported()
        yield Finding(
            "devices",
            f"cuda:{number}",
            f"{properties.name}, {size_text(properties.total_memory)}, bfloat16 {'yes' if native else 'no'}",
        )
    yield Finding("devices", "mps", "yes" if torch.backends.mps.is_available() else "none")
    chosen = choose_device()
    yield Finding("devices", "--device auto", f"{chosen.name}, {chosen.dtype}")


def _cpu_bfloat16() -> str:
    """Return whether the processor multiplies bfloat16 itself, as Linux lists its features."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "unknown on this system"
    words = set(text.split())
    native = sorted(words & {"amx_bf16", "avx512_bf16", "bf16"})
    return f"native ({', '.join(native)})" if native else "emulated, slower than float32"


def examine_hub() -> Iterator[Finding]:
    """Examine whether the hub is asked at all, and whether it answers within seconds."""
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url

    if constants.HF_HUB_OFFLINE:
        found = "offline, as HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE says: cache only"
        yield Finding("hub", "access", found)
        return
    try:
        card = hf_hub_url(_HUB_DATASET, "README.md", repo_type="dataset")
        get_hf_file_metadata(card, timeout=3, token=False)
    except Exception as error:  # each HTTP client behind huggingface_hub has its own errors
        found = f"no {_HUB_DATASET} at {constants.ENDPOINT} ({type(error).__name__}): cache only"
        mend = "set HF_HUB_OFFLINE=1 to skip the waits, or HF_ENDPOINT to a mirror"
        yield Finding("hub", "access", found, mend)
    else:
        yield Finding("hub", "access", f"{constants.ENDPOINT} answers")
