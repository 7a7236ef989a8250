"""A run on the sample that takes seconds."""

from __future__ import annotations

from pathlib import Path

from xharness.runs.command import RunCommand


def command(output: Path, **changes: object) -> RunCommand:
    """Return a small run's options, some of them changed."""
    options: dict[str, object] = {
        "model": "sample",
        "output": output,
        "suite": "sample",
        "tasks": (),
        "languages": None,
        "data": None,
        "recipe": None,
        "seeds": "1",
        "limit": 5,
        "limit_train": 24,
        "overrides": ("epochs=1",),
        "profile": "official",
        "finetune": True,
        "device": "cpu",
        "dtype": "float32",
        "tokens": None,
    }
    return RunCommand(**{**options, **changes})  # type: ignore[arg-type]
