"""What two runs of one plan must have in common."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from xharness.records.store import read_records

#: The checkout's state, which may change between two runs of a test.
CHECKOUT = {"commit", "dirty"}


def record_texts(folder: Path) -> dict[tuple[str, int], str]:
    """Return each record's text but for timings, the digest that covers it all, and the checkout's state."""
    found = {}
    for record in read_records([folder]):
        content = record.model_dump(mode="json", exclude={"timings", "content_sha256"})
        content["environment"] = {
            key: value for key, value in content["environment"].items() if key not in CHECKOUT
        }
        found[record.task, record.seed] = json.dumps(content, indent=2)
    return found


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread, as a worker with one CPU does: the number is in the record."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
