"""Fixtures that every test package shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The first example pays for what is loaded once, and other work on the machine for nothing that a test is about.
settings.register_profile("xharness", deadline=None)
settings.load_profile("xharness")

# No test may reach out; set before any library of the hub is imported.
os.environ["HF_HUB_OFFLINE"] = "1"

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and models beside the checkout; the test skips where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"real data are absent: {SHARED} does not exist")
    return SHARED


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep encodings of tests out of the user's cache."""
    os.environ["XHARNESS_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished small run."""
    from tests.small_run import command

    output = tmp_path_factory.mktemp("run") / "sample"
    command(output).execute()
    return output
