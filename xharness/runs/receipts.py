"""Receipts: proof that a stage was finished, with what went in and what came out."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from xharness.data.lines import digest
from xharness.files import write_json


@dataclass(frozen=True)
class Receipt:
    """What a finished stage leaves.

    Attributes:
        inputs: Digest of everything that decides the stage's output.
        outputs: SHA-256 of each file it wrote, by path below the run's folder.
        seconds: Wall time.
        peak_mib: Highest memory of the process up to its end.
        result: What later stages need of it.
    """

    inputs: str
    outputs: dict[str, str]
    seconds: float
    peak_mib: float
    result: dict[str, Any] = field(default_factory=dict)


def inputs_digest(parts: dict[str, Any]) -> str:
    """Return a digest of a stage's inputs."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class ReceiptStore:
    """The receipts of a run's folder.

    Args:
        root: The run's folder.
    """

    def __init__(self, root: Path):
        self._root = root
        self._folder = root / "receipts"

    def outputs_of(self, paths: list[Path]) -> dict[str, str]:
        """Return the digests of written files."""
        return {str(path.relative_to(self._root)): digest(path) for path in paths}

    def find(self, stage: str, inputs: str) -> Receipt | None:
        """Return a stage's receipt if the stage was finished with these inputs and its files are unharmed."""
        try:
            raw = json.loads((self._folder / f"{stage}.json").read_text(encoding="utf-8"))
            receipt = Receipt(**raw)
        except (OSError, ValueError, TypeError):
            return None
        if receipt.inputs != inputs:
            return None
        for name, expected in receipt.outputs.items():
            path = self._root / name
            if not path.is_file() or digest(path) != expected:
                return None
        return receipt

    def write(self, stage: str, receipt: Receipt) -> None:
        """Store a receipt, aside first and then renamed. It is the last thing that a stage writes."""
        write_json(self._folder / f"{stage}.json", asdict(receipt))
