"""Pre-training steps of the built-in encoder against transformers' RemBERT trained the plain way.

    python scripts/bench_pretraining.py [--rounds N] [--steps N]

Both sides have the same shapes, number of weights and batches; each runs in a process of its own, in turn. The plain
way takes logits at every position, with torch's default optimizer loop. Memory is the peak beyond what is there
before the first step and beyond weights, gradients and the optimizer's moments. The share of the peak counts the
arithmetic that is needed (``xharness.encoder.arithmetic``) against a large matrix product measured in the same process.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from tabulate import tabulate

ROWS: Final = 16
LENGTH: Final = 128
PREDICTIONS: Final = 19  # 15 % of a row
SHAPE: Final = {
    "vocab_size": 120_000,
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
    "input_embedding_size": 64,
    "output_embedding_size": 256,
    "pad_token_id": 0,
    "bos_token_id": 2,
    "eos_token_id": 3,
}
SIDES: Final = ("ours", "plain")


def main() -> None:
    """Run the sides in turn and print their figures and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=2, help="how often each side runs")
    parser.add_argument("--steps", type=int, default=8, help="measured steps of a side")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        print(json.dumps(measure(arguments.side, arguments.steps, arguments.threads)))
        return
    found: dict[str, list[dict[str, float]]] = {side: [] for side in SIDES}
    for _ in range(arguments.rounds):
        for side in SIDES:
            found[side].append(_in_own_process(side, arguments))
    rows = [
        [
            side,
            f"{one['seconds']:.3f}",
            f"{one['megabytes']:.0f}",
            f"{100 * one['share']:.1f} %",
            f"{one['peak'] / 1e9:.0f}",
            f"{one['loss']:.4f}",
        ]
        for side in SIDES
        for one in found[side]
    ]
    header = ["side", "s/step", "MB beyond", "of matmul peak", "peak GFLOP/s", "first loss"]
    print(tabulate(rows, header, disable_numparse=True))
    ours, plain = (_medians(found[side]) for side in SIDES)
    print(f"steps per second: {plain['seconds'] / ours['seconds']:.2f} times the plain way")
    print(f"memory: 1/{plain['megabytes'] / ours['megabytes']:.1f} of the plain way")
    print(f"share of the matmul peak: {100 * ours['share']:.1f} %")


def _in_own_process(side: str, arguments: argparse.Namespace) -> dict[str, float]:
    command = [sys.executable, __file__, "--side", side, "--steps", str(arguments.steps)]
    command += ["--threads", str(arguments.threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def _medians(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def measure(side: str, steps: int, threads: int) -> dict[str, float]:
    """Return seconds a step, megabytes beyond the weights, the share of the peak, the peak and the first loss."""
    import torch

    from xharness.encoder.arithmetic import training_flops
    from xharness.encoder.configuration import DecoupledConfig
    from xharness.inference.allocator import keep_freed_memory
    from xharness.inference.device import choose_device
    from xharness.inference.peak import matmul_peak

    torch.set_num_threads(threads)
    if side == "ours":
        keep_freed_memory()  # as the verb does
    take_step, weights = _ours() if side == "ours" else _plain()
    device = choose_device("cpu", "float32")
    matmul_peak(device)
    before = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets the peak so far
    batches = _batches(steps + 2)
    losses, seconds, peaks = [], [], [matmul_peak(device)]
    for batch in batches:
        began = time.perf_counter()
        losses.append(take_step(*batch))
        seconds.append(time.perf_counter() - began)
    peaks.append(matmul_peak(device))
    beyond = (
        _resident("VmHWM") - before - 12 * weights
    )  # gradients and two moments; weights are in "before"
    flops = training_flops(DecoupledConfig(**SHAPE), ROWS, LENGTH, ROWS * PREDICTIONS)
    step = statistics.median(seconds[2:])
    peak = max(peaks)
    return {
        "seconds": step,
        "megabytes": beyond / 1e6,
        "share": flops / step / peak,
        "peak": peak,
        "loss": losses[0],
    }


def _batches(count: int) -> list[Any]:
    import torch

    generator = torch.Generator().manual_seed(1)
    batches = []
    for _ in range(count):
        ids = torch.randint(5, SHAPE["vocab_size"], (ROWS, LENGTH), generator=generator)
        inside = [torch.randperm(LENGTH, generator=generator)[:PREDICTIONS] for _ in range(ROWS)]
        rows = torch.arange(ROWS)[:, None] * LENGTH
        positions = (torch.stack(inside).sort(1).values + rows).flatten()
        labels = ids.flatten()[positions].clone()
        ids.view(-1)[positions] = 4
        batches.append((ids, positions, labels))
    return batches


def _ours() -> tuple[Any, int]:
    import torch

    from xharness.encoder import DecoupledConfig, DecoupledForMaskedLM
    from xharness.pretraining.config import EncoderSettings, PretrainingConfig
    from xharness.pretraining.optimizer import build_optimizer

    torch.manual_seed(0)
    model = DecoupledForMaskedLM(DecoupledConfig(**SHAPE)).train()
    shape = EncoderSettings(hidden_size=256, num_hidden_layers=4, num_attention_heads=4)
    optimizer = build_optimizer(model, PretrainingConfig(name="bench", encoder=shape, steps=1))

    def take_step(ids: Any, positions: Any, labels: Any) -> float:
        optimizer.zero_grad()
        loss, _ = model.loss_at(ids, positions, labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return float(loss.detach())

    return take_step, sum(p.numel() for p in model.parameters())


def _plain() -> tuple[Any, int]:
    import torch
    from transformers import RemBertConfig, RemBertForMaskedLM

    torch.manual_seed(0)
    model = RemBertForMaskedLM(RemBertConfig(**SHAPE)).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, eps=1e-6, weight_decay=0.01)

    def take_step(ids: Any, positions: Any, labels: Any) -> float:
        everywhere = torch.full((ROWS * LENGTH,), -100)
        everywhere[positions] = labels
        loss = model(input_ids=ids, labels=everywhere.view(ROWS, LENGTH)).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return float(loss.detach())

    return take_step, sum(p.numel() for p in model.parameters())


def _resident(key: str) -> int:
    """Return a figure of this process' memory in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {key}")


if __name__ == "__main__":
    main()
