"""How far predictions depend on what is in a batch."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from speed.materials import TASKS, material
from speed.measuring import Row
from speed.our_way import OurWay
from xharness.inference.batching import collate
from xharness.models.checkpoints import load_as_is, load_config, load_tokenizer
from xharness.models.kinds import HEADED_KINDS

WINDOWS = 64


def equality_rows(folder: Path, data: Path) -> list[Row]:
    """Return for each task how many decisions are the same with one and with 64 windows a batch.

    The difference is the largest of any logit at a window's own positions.
    """
    rows = []
    for name in TASKS:
        found = material(name, data, WINDOWS * (4 if name == "xquad" else 1), 4, ("en",))
        checkpoint = str(folder / name)
        decisions: list[list[Any]] = []
        for tokens in (1, WINDOWS * found.settings.max_length):
            with tempfile.TemporaryDirectory() as aside:
                way = OurWay(checkpoint, found, Path(aside), tokens=tokens)
                values: Any = way.predict(found.splits[0])
            decisions.append(list(values.values() if isinstance(values, dict) else values))
        same = sum(one == other for one, other in zip(*decisions, strict=True))
        rows.append(
            {
                "task": name,
                "decisions": len(decisions[0]),
                "same": same,
                "difference": _difference(checkpoint, found),
            }
        )
    return rows


@torch.inference_mode()
def _difference(checkpoint: str, found: Any) -> float:
    model = load_as_is(checkpoint, found.task).eval()
    tokenizer, pieces = load_tokenizer(checkpoint, load_config(checkpoint))
    encode = HEADED_KINDS[found.task.kind].encode
    encoding = encode(found.splits[0].examples, found.task, pieces, found.settings)
    pad, device = int(tokenizer.pad_token_id), torch.device("cpu")
    count = min(WINDOWS, len(encoding))
    together = _logits(model(**collate(encoding, np.arange(count), pad, device)))
    largest = 0.0
    for row in range(count):
        alone = _logits(model(**collate(encoding, np.array([row]), pad, device)))
        for one, many in zip(alone, together, strict=True):
            own = many[row] if one.ndim == 2 and one.shape[1] == many.shape[1] else None
            own = many[row][: one.shape[1]] if own is None else own
            largest = max(largest, float((one[0] - own).abs().max()))
    return largest


def _logits(output: Any) -> list[torch.Tensor]:
    if hasattr(output, "start_logits"):
        return [output.start_logits, output.end_logits]
    return [output.logits]
