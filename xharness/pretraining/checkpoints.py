"""Checkpoints of a running pre-training: written aside, checked when read, the last two kept."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from xharness.files import folder_aside, write_json

#: Checkpoints that are kept: the last, and one to fall back to.
KEPT = 2

_NAME = re.compile(r"step-(\d+)")
_TENSORS = ("model", "optimizer")


@dataclass(frozen=True)
class State:
    """Everything that a step depends on, besides the configuration, the text and the step's number.

    Attributes:
        step: Steps taken.
        model: Weights.
        optimizer: Moments and counts, named after the weights.
        values: What else there is, as JSON.
    """

    step: int
    model: dict[str, torch.Tensor]
    optimizer: dict[str, torch.Tensor]
    values: dict[str, Any]


class Checkpoints:
    """The checkpoints in one folder.

    Args:
        folder: Where they lie.
        report: Told in a line of a damaged checkpoint.
    """

    def __init__(self, folder: Path, report: Callable[[str], None]) -> None:
        self._folder = folder
        self._report = report

    def save(self, state: State) -> None:
        """Write a checkpoint, then remove all but the last two.

        Raises:
            InputError: It cannot be written; those before it are whole.
        """
        target = self._folder / f"step-{state.step:08d}"
        with folder_aside(target) as aside:
            digests = {}
            for name in _TENSORS:
                path = aside / f"{name}.safetensors"
                try:
                    save_file(getattr(state, name), path)
                except SafetensorError as error:  # what it makes of a full disk
                    raise OSError(str(error)) from error
                digests[name] = _digest(path)
            write_json(
                aside / "state.json",
                {"step": state.step, "values": state.values, "sha256": digests},
            )
        self.prune()

    def prune(self) -> None:
        """Remove all but the last two; one more is there where a kill came between writing and removing."""
        for old in found_checkpoints(self._folder)[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)

    def load(self) -> State | None:
        """Return the last checkpoint that is whole; each that is not is named."""
        paths = found_checkpoints(self._folder)
        for path in reversed(paths):
            try:
                return _read(path)
            except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
                self._report(f"{path} is damaged ({error}); it is left out")
        if paths:
            self._report("no checkpoint is whole; training begins anew")
        return None


def found_checkpoints(folder: Path) -> list[Path]:
    """Return the checkpoints in a folder, whole or damaged, by step."""
    paths = folder.glob("step-*") if folder.is_dir() else ()
    by_step = {int(match[1]): path for path in paths if (match := _NAME.fullmatch(path.name))}
    return [by_step[step] for step in sorted(by_step)]


def _read(path: Path) -> State:
    described = json.loads((path / "state.json").read_text(encoding="utf-8"))
    tensors = {}
    for name in _TENSORS:
        file = path / f"{name}.safetensors"
        if _digest(file) != described["sha256"][name]:
            raise ValueError(f"{file.name} does not fit its digest")
        tensors[name] = load_file(file)
    return State(step=int(described["step"]), values=dict(described["values"]), **tensors)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
