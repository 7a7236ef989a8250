"""Tiny checkpoints, made once, and an encoding cache of each test's own."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import pytest

from .tiny_checkpoints import make_checkpoint


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the function that gives a family's tiny encoder; not to be changed by a test."""
    root = tmp_path_factory.mktemp("tiny-checkpoints")

    def of(name: str) -> Path:
        folder = root / name
        return folder if folder.is_dir() else make_checkpoint(name, folder)

    return of


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep encodings in the test's own folder."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("XHARNESS_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session", autouse=True)
def _frozen_heap() -> None:
    """Leave what is imported by now out of collections: each training ends with one, a large part of a tiny one."""
    gc.collect()
    gc.freeze()
