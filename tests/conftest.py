"""Fixtures that every test package shares."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and models beside the checkout; the test skips where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"real data are absent: {SHARED} does not exist")
    return SHARED
