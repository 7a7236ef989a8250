"""Where the specification files lie: beside the package in a checkout, inside it when installed."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]

SPECS: Path = next(
    folder
    for folder in (_PACKAGE / "task_specs", _PACKAGE.parent / "task_specs", _PACKAGE)
    if folder.is_dir()
)
