"""A run's folder: which plan it holds, and who may work in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from xharness.errors import InputError
from xharness.files import write_json

#: How long to wait, in seconds, for a lock that others hold only while they write a small file.
BRIEF_WAIT = 60.0


class RunFolder:
    """The folder of a run and its locks, which end with the process that holds them, however it ends.

    A whole run takes the folder; shards, which may work side by side, take their own number; and whoever works
    on a unit takes that unit. On a folder that several machines share, its file system must support locks.

    Args:
        root: The folder.
    """

    def __init__(self, root: Path):
        self.root = root

    @contextmanager
    def taken(self, shard: str | None = None) -> Iterator[None]:
        """Hold the folder, or a shard's place in it.

        Raises:
            InputError: Another run holds it, or it cannot be written.
        """
        name = ".lock" if shard is None else f".lock-shard-{shard.replace('/', '-of-')}"
        who = "run" if shard is None else f"run of shard {shard}"
        with self._locked(self.root / name, 0, f"another {who} works in this folder", self.root):
            yield

    @contextmanager
    def unit_taken(self, unit: str, wait: float) -> Iterator[None]:
        """Hold a unit.

        Args:
            unit: Its name.
            wait: How long to wait for it, in seconds.

        Raises:
            InputError: Another process holds it.
        """
        path = self.root / ".locks" / f"{unit}.lock"
        with self._locked(path, wait, f"another run works on {unit} in this folder", self.root):
            yield

    @contextmanager
    def _locked(self, path: Path, wait: float, held: str, where: Path) -> Iterator[None]:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = FileLock(path)
            lock.acquire(timeout=wait)
        except Timeout as error:
            raise InputError(held, where=where, mend="wait for it or stop it") from error
        except OSError as error:
            raise InputError(
                f"cannot be written: {error.strerror}", where=where, mend="use another --output"
            ) from error
        try:
            yield
        finally:
            lock.release()

    def check_plan(self, identity: dict[str, Any]) -> None:
        """Write a plan's identity into a new folder, or compare it with the one there.

        Raises:
            InputError: The folder belongs to another plan; names the first difference.
        """
        path = self.root / "plan.json"
        lock = self.root / ".locks" / "plan.lock"
        with self._locked(lock, BRIEF_WAIT, "another run holds the plan", self.root):
            if not path.is_file():
                write_json(path, identity)
                return
            try:
                there = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise InputError(
                    f"not readable: {error}", where=path, mend="use a new folder"
                ) from error
        difference = _first_difference(there, json.loads(json.dumps(identity)))
        if difference:
            raise InputError(
                f"the folder holds another plan: {difference}",
                where=self.root,
                mend="use another --output, or delete the folder",
            )


def _first_difference(there: Any, here: Any, key: str = "") -> str | None:
    if isinstance(there, dict) and isinstance(here, dict):
        for name in dict.fromkeys((*there, *here)):
            inner = _first_difference(there.get(name), here.get(name), f"{key}.{name}".strip("."))
            if inner:
                return inner
        return None
    return None if there == here else f"{key} was {there!r}, is {here!r}"
