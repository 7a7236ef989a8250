"""The folder of a pre-training: what it was begun with, whether it is finished, and who works in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from xharness.errors import InputError
from xharness.files import unwritable, write_json
from xharness.pretraining.checkpoints import found_checkpoints
from xharness.pretraining.config import PretrainingConfig, differences
from xharness.pretraining.shards import SPLITS, Shards


@dataclass(frozen=True)
class RunFolder:
    """A pre-training's folder.

    Attributes:
        path: Where it is.
    """

    path: Path

    @property
    def checkpoints(self) -> Path:
        """The folder of checkpoints."""
        return self.path / "checkpoints"

    @property
    def metrics(self) -> Path:
        """The figures by step, JSON lines."""
        return self.path / "metrics.jsonl"

    @property
    def model(self) -> Path:
        """The finished model's folder."""
        return self.path / "model"

    @property
    def summary(self) -> Path:
        """What is said of a finished pre-training, JSON; written last."""
        return self.path / "summary.json"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder, and keep others from working in it at the same time.

        Raises:
            InputError: It cannot be written, or another process works in it.
        """
        lock = FileLock(self.path / ".lock")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=0)
        except Timeout as error:
            raise InputError(
                "another pre-training works in this folder",
                where=self.path,
                mend="wait for it, or give another --output",
            ) from error
        except OSError as error:
            raise unwritable(self.path, error) from error
        try:
            yield
        finally:
            lock.release()

    def is_finished(self) -> bool:
        """Return whether the pre-training has come to its end."""
        return self.summary.is_file() and self.model.is_dir()

    def check_config(self, config: PretrainingConfig) -> None:
        """Refuse a configuration other than the one that a checkpoint was made with.

        Where the text lies does not matter, what it holds is checked by ``keep_data``.

        Raises:
            InputError: It is another one.
        """
        if self._has_begun():
            self._compare("config.json", config.model_dump(mode="json"), "configuration", ("text",))

    def keep_config(self, config: PretrainingConfig) -> None:
        """Write the configuration."""
        write_json(self.path / "config.json", config.model_dump(mode="json"))

    def keep_data(self, shards: Shards) -> None:
        """Write which tokens are trained on, or refuse others than a checkpoint was made with.

        Raises:
            InputError: They are others, because the text or the tokenizer has changed.
        """
        now = _identity(shards)
        if self._has_begun() and (self.path / "data.json").is_file():
            self._compare("data.json", now, "text or tokenizer", ())
        write_json(self.path / "data.json", now)

    def _has_begun(self) -> bool:
        return self.is_finished() or bool(found_checkpoints(self.checkpoints))

    def _compare(self, name: str, now: Mapping[str, Any], noun: str, free: tuple[str, ...]) -> None:
        path = self.path / name
        try:
            before = dict(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise InputError(
                f"cannot be read, so that what was begun with is not known: {error}",
                where=path,
                mend="give another --output",
            ) from error
        if differing := [key for key in differences(before, now) if key not in free]:
            raise InputError(
                f"the pre-training here was begun with another {noun}: {', '.join(differing)}",
                where=self.path,
                mend=f"give the same {noun}, or another --output",
            )


def _identity(shards: Shards) -> dict[str, Any]:
    languages = {}
    for language in shards.languages:
        parts = {split: shards.part(language, split) for split in SPLITS}
        languages[language] = {
            split: [file.sha256 for file in part.files] for split, part in parts.items() if part
        }
    return {"tokenizer": shards.index.vocabulary, "tokens": languages}
