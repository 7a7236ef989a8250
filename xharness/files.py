"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from xharness.errors import InputError


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file aside and rename it.

    Raises:
        InputError: The folder or file cannot be written.
    """
    aside = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside.write_text(text, encoding="utf-8", newline="\n")
        aside.replace(path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=path) from error


def write_json(path: Path, content: Any) -> None:
    """Write JSON with an indent of 2, as ``write_text`` does."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
