"""How long work tells of itself."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told of work by whoever does it; shown by whoever asked for it."""

    def start(self, total: int) -> None:
        """Begin to count towards ``total`` windows or steps."""
        ...

    def advance(self, count: int) -> None:
        """Count ``count`` more as done."""
        ...


class Silent:
    """Shows nothing."""

    def start(self, total: int) -> None:
        """Begin."""

    def advance(self, count: int) -> None:
        """Count."""
