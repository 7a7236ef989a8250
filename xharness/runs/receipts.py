"""Receipts: proof that a stage was finished, with what went in and what came out."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from xharness.data.lines import digest
from xharness.files import write_json

#: Holds the digest of the rest of a receipt: one that was harmed counts for nothing, and its stage runs again.
_SEAL = "sha256"


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


def receipt_name(stage: str) -> str:
    """Return the path of a stage's receipt below the run's folder."""
    return f"receipts/{stage}.json"


class ReceiptStore:
    """The receipts of a run's folder.

    Args:
        root: The run's folder.
    """

    def __init__(self, root: Path):
        self._root = root

    def outputs_of(self, paths: list[Path]) -> dict[str, str]:
        """Return the digests of written files."""
        return {str(path.relative_to(self._root)): digest(path) for path in paths}

    def read(self, stage: str, inputs: str) -> Receipt | None:
        """Return a stage's receipt if the stage was finished with these inputs; its files are not looked at."""
        receipt = self._load(stage)
        return receipt if receipt is not None and receipt.inputs == inputs else None

    def find(self, stage: str, inputs: str) -> Receipt | None:
        """Return a stage's receipt if the stage was finished with these inputs and its files are unharmed."""
        receipt = self.read(stage, inputs)
        return None if receipt is None or self._harmed(receipt) else receipt

    def missing_of(self, stage: str) -> list[str]:
        """Return which of a finished stage's files are absent or harmed; none where it is not finished."""
        receipt = self._load(stage)
        return [] if receipt is None else self._harmed(receipt)

    def write(self, stage: str, receipt: Receipt) -> None:
        """Store a receipt, aside first and then renamed. It is the last thing that a stage writes."""
        content = json.loads(json.dumps(asdict(receipt)))  # as it will be read
        write_json(self._root / receipt_name(stage), {**content, _SEAL: inputs_digest(content)})

    def _load(self, stage: str) -> Receipt | None:
        try:
            raw = json.loads((self._root / receipt_name(stage)).read_text(encoding="utf-8"))
            seal = raw.pop(_SEAL)
            return Receipt(**raw) if seal == inputs_digest(raw) else None
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None

    def _harmed(self, receipt: Receipt) -> list[str]:
        paths = {name: self._root / name for name in receipt.outputs}
        return [
            name
            for name, path in paths.items()
            if not path.is_file() or digest(path) != receipt.outputs[name]
        ]
