"""Memory that runs out: smaller micro-batches, the same steps and gradients, and a note in the record."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from accelerate import Accelerator

from tests.models.tiny_checkpoints import make_checkpoint
from tests.models.tiny_tasks import HEADED, PAIRS, TRAIN, WIDE, pairs, settings
from tests.small_run import command
from xharness.errors import InputError
from xharness.finetuning import training
from xharness.finetuning.group import Group
from xharness.inference import prediction
from xharness.inference.memory import with_less_memory
from xharness.inference.progress import Silent
from xharness.models.checkpoints import load_with_head
from xharness.models.transformers import TransformersAdapter
from xharness.records.store import read_record
from xharness.tasks.encoding import Encoding


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT without dropout, whose masks would depend on how a step is split."""
    return make_checkpoint("bert", tmp_path_factory.mktemp("without-dropout") / "bert")


def scarce(monkeypatch: pytest.MonkeyPatch, module: Any, tokens: int) -> list[int]:
    """Let a device have memory for no more than so many padded pieces; return the sizes that it was given."""
    collate, sizes = module.collate, []

    def checked(*arguments: Any) -> dict[str, torch.Tensor]:
        inputs: dict[str, torch.Tensor] = collate(*arguments)
        sizes.append(inputs["input_ids"].numel())
        if sizes[-1] > tokens:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return inputs

    monkeypatch.setattr(module, "collate", checked)
    return sizes


def gradient(model: Any, encoding: Encoding, tokens: int) -> tuple[dict[str, Any], float, int]:
    """Return the gradient of one step over a whole encoding, its loss, and how often the budget was halved."""
    alone = Group(1, 0, torch.device("cpu"))
    accelerator = Accelerator(cpu=True)
    step = partial(training._step, model, encoding, np.arange(len(encoding)), alone, accelerator)
    loss, halvings = with_less_memory(replace(WIDE, tokens=tokens), step)
    found = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    return found, loss, halvings


@pytest.mark.parametrize("kind", HEADED)
def test_the_gradient_of_a_step_is_the_same(
    kind: str, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = HEADED[kind]
    encoding = TransformersAdapter(str(checkpoint), WIDE)._encode(task, TRAIN[kind](), settings())
    torch.manual_seed(0)
    model = load_with_head(str(checkpoint), task)
    whole, whole_loss, none = gradient(model, encoding, 100_000)
    longest = int(encoding.lengths.max())
    limit = max(48, longest)
    assert len(encoding) * longest > limit
    sizes = scarce(monkeypatch, training, limit)
    parts, parts_loss, halvings = gradient(model, encoding, 100_000)
    assert none == 0
    assert halvings > 8  # nothing changes before the budget is below what the step holds
    assert len([size for size in sizes if size <= limit]) > 1
    assert parts_loss == pytest.approx(whole_loss, rel=1e-6)
    assert parts.keys() == whole.keys()
    assert max(float(g.abs().max()) for g in whole.values()) > 1e-2
    for name, value in whole.items():
        torch.testing.assert_close(parts[name], value, rtol=1e-4, atol=1e-6)


def test_memory_that_runs_out_in_the_backward_pass_counts_no_gradient_twice(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoding = TransformersAdapter(str(checkpoint), WIDE)._encode(PAIRS, pairs(), settings())
    torch.manual_seed(0)
    model = load_with_head(str(checkpoint), PAIRS)
    whole, _, _ = gradient(model, encoding, 128)
    backward, calls = Accelerator.backward, []

    def fails_once(self: Accelerator, loss: torch.Tensor, **kwargs: Any) -> None:
        backward(self, loss, **kwargs)
        calls.append(loss)
        if len(calls) == 2:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried 1 GB")

    monkeypatch.setattr(Accelerator, "backward", fails_once)
    parts, _, halvings = gradient(model, encoding, 128)
    assert halvings == 1
    for name, value in whole.items():
        torch.testing.assert_close(parts[name], value, rtol=1e-4, atol=1e-6)


def test_a_run_notes_it_and_keeps_steps_and_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = scarce(monkeypatch, training, 140)
    predicted = scarce(monkeypatch, prediction, 60)
    command(tmp_path, suite=None, tasks=("sample_nli",), languages="en,de").execute()
    record = read_record(tmp_path / "records/sample_nli-seed-1.json")
    found = record.protocol.training
    assert found is not None
    # Of 1,024 pieces on a CPU no micro-batch takes more than 300; halved three times they are 128.
    assert max(sizes) > 140
    assert found["memory_halvings"] == 3
    assert max(sizes[-2:]) <= 140
    assert (found["effective_batch"], found["steps"]) == (32, 1)
    assert max(predicted) > 60
    assert record.languages["de"].counts["memory_halvings"] >= 1


def test_no_memory_for_a_single_window_is_told(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scarce(monkeypatch, training, 0)
    with pytest.raises(InputError, match="out of memory with the smallest micro-batch"):
        TransformersAdapter(str(checkpoint), WIDE).finetune(
            PAIRS, pairs(), None, settings(epochs=1), 1, tmp_path, Silent()
        )


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory"), MemoryError()])
def test_no_memory_for_the_optimizer_is_told(
    error: Exception, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Any, closure: Any = None) -> None:
        raise error

    monkeypatch.setattr(torch.optim.AdamW, "step", full)
    with pytest.raises(InputError, match="cpu: out of memory for the model itself"):
        TransformersAdapter(str(checkpoint), WIDE).finetune(
            PAIRS, pairs(), None, settings(epochs=1), 1, tmp_path, Silent()
        )


def test_another_error_is_not_taken_for_memory(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any) -> None:
        raise RuntimeError("index out of range in self")

    monkeypatch.setattr(training, "collate", broken)
    with pytest.raises(RuntimeError, match="index out of range"):
        TransformersAdapter(str(checkpoint), WIDE).finetune(
            PAIRS, pairs(), None, settings(epochs=1), 1, tmp_path, Silent()
        )
