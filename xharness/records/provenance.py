"""What a record says of the software and the machine."""

from __future__ import annotations

import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import xharness

_PACKAGES = (
    "torch",
    "transformers",
    "tokenizers",
    "accelerate",
    "datasets",
    "numpy",
    "safetensors",
)


@cache
def software() -> dict[str, str]:
    """Return versions of the harness, of Python and of the libraries that decide a score."""
    versions = {"xharness": xharness.__version__, "python": platform.python_version()}
    versions.update(_checkout())
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "absent"
    return versions


def _checkout() -> dict[str, str]:
    """Return commit and dirty flag where the package runs from a git checkout of its own."""
    root = Path(xharness.__file__).resolve().parents[1]
    if not (root / ".git").exists():
        return {}
    answers = []
    for arguments in (["rev-parse", "HEAD"], ["status", "--porcelain", "--untracked-files=no"]):
        try:
            done = subprocess.run(  # noqa: S603  (fixed arguments)
                ["git", "-C", str(root), *arguments],  # noqa: S607
                capture_output=True,
                text=True,
                timeout=10,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return {}
        answers.append(done.stdout.strip())
    return {"commit": answers[0], "dirty": "yes" if answers[1] else "no"}
