"""``metrics.jsonl``: one line a logged step, cut back to the checkpoint when a run is resumed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from xharness.errors import InputError
from xharness.files import unwritable, write_text


class MetricsLog:
    """Appends figures to a file, and to tensorboard where asked; a context manager.

    Args:
        path: The file, in a folder that is there.
        step: The last step that counts; later lines, of a run that was killed, are dropped.
        tensorboard: Folder for tensorboard's files, if wanted.

    Raises:
        InputError: The file cannot be read or written, or a line of it is damaged.
    """

    def __init__(self, path: Path, step: int, tensorboard: Path | None = None) -> None:
        self._path = path
        self._file: TextIO | None = None
        before = read_metrics(path) if step and path.exists() else []
        kept = [line for line in before if line["step"] <= step]
        write_text(path, "".join(json.dumps(line) + "\n" for line in kept))
        self._board = _board(tensorboard, step) if tensorboard else None

    def __enter__(self) -> Self:
        try:
            self._file = self._path.open("a", encoding="utf-8")
        except OSError as error:
            raise unwritable(self._path, error) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._board is not None:
            self._board.close()
        if self._file is not None:
            try:
                self._file.close()
            except OSError as failure:  # the buffer of a write that failed is tried once more
                if error is None:
                    raise unwritable(self._path, failure) from failure

    def write(self, kind: str, step: int, figures: Mapping[str, Any]) -> None:
        """Append one line: its kind (``train`` or ``dev``), the step and the figures."""
        assert self._file is not None
        try:
            self._file.write(json.dumps({"kind": kind, "step": step, **figures}) + "\n")
            self._file.flush()
        except OSError as error:
            raise unwritable(self._path, error) from error
        if self._board is not None:
            for name, value in figures.items():
                if isinstance(value, Mapping):
                    for inner, number in value.items():
                        self._board.add_scalar(f"{kind}/{name}/{inner}", number, step)
                else:
                    self._board.add_scalar(f"{kind}/{name}", value, step)


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Read all whole lines; a last one that was cut off by a kill is left out.

    Raises:
        InputError: The file cannot be read, or another line is none that ``MetricsLog`` writes.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", where=path) from error
    found = []
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            content = json.loads(line)
            if not (content["kind"] in ("train", "dev") and isinstance(content["step"], int)):
                raise ValueError(line)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            if number == len(lines):
                break
            raise InputError(
                "no line of a pre-training's figures",
                where=f"{path}:{number}",
                mend="remove the line",
            ) from error
        found.append(content)
    return found


def require_tensorboard() -> None:
    """Raise an ``InputError`` where tensorboard is not installed."""
    if find_spec("tensorboard") is None:
        raise InputError(
            "tensorboard is not installed",
            where="--tensorboard",
            mend="pip install 'xharness[tensorboard]'",
        )


def _board(folder: Path, step: int) -> Any:
    require_tensorboard()
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(folder), purge_step=step + 1)
