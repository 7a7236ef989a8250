"""Commands in processes of their own, and a run that nothing disturbed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.robustness.commands import Commands, Ended, commands_in, run_arguments


@dataclass(frozen=True)
class Undisturbed:
    """A finished run.

    Attributes:
        folder: Its folder.
        kills: How it ended, its events counted.
    """

    folder: Path
    ended: Ended


@pytest.fixture(scope="session")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    with commands_in(tmp_path_factory.mktemp("commands")) as started:
        yield started


@pytest.fixture(scope="session")
def undisturbed(commands: Commands, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """A run of two tasks in two languages."""
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    ended = commands.one(run_arguments(folder), below=(folder,))
    assert ended.code == 0, ended.output
    return Undisturbed(folder, ended)
