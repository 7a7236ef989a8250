"""Preparation: the official XTREME files, labels kept, made from raw sources."""

from __future__ import annotations

from xharness.preparation.outputs import PreparationReport, PreparedFile
from xharness.preparation.registry import TASKS, prepare

__all__ = ["TASKS", "PreparationReport", "PreparedFile", "prepare"]
