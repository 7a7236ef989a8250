"""What a run shows while it works: bars in a terminal, a line a stage in a log."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

#: Without a terminal, long stages tell how far they are this often.
LOG_SECONDS = 60.0


class RunDisplay:
    """Shows the run's stages and the work inside the current one.

    Args:
        console: Where to show it; without a terminal one line a stage is printed.
        stages: Number of stages.
    """

    def __init__(self, console: Console, stages: int):
        self._console = console
        self._stages = stages
        self._number = 0
        self._title = ""
        self._began = self._told = time.monotonic()
        self._total = self._done = 0
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._all: TaskID = self._bars.add_task("all stages", total=stages)
        self._current: TaskID | None = None

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def stage(self, title: str) -> None:
        """Begin a stage."""
        self._number += 1
        self._title = title
        self._began = time.monotonic()
        if self._current is not None:
            self._bars.remove_task(self._current)
        self._current = self._bars.add_task(title, total=None)

    def finished(self, note: str = "", *, brief: bool = False) -> None:
        """End the current stage.

        Args:
            note: What to say of it; its wall time where absent.
            brief: Whether the bars say enough, so that a terminal needs no line for it.
        """
        seconds = time.monotonic() - self._began
        self._bars.advance(self._all)
        if not (brief and self._console.is_terminal):
            self._print(note or f"{seconds:.1f} s")

    def _print(self, note: str) -> None:
        line = f"[{self._number}/{self._stages}] {self._title}: {note}"
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    # The Progress protocol of xharness.inference, for the work inside a stage.

    def start(self, total: int) -> None:
        """Begin to count towards ``total`` windows or steps."""
        self._total, self._done, self._told = total, 0, time.monotonic()
        if self._current is not None:
            self._bars.reset(self._current, total=total, description=self._title)

    def advance(self, count: int) -> None:
        """Count ``count`` more as done."""
        self._done += count
        if self._current is not None:
            self._bars.advance(self._current, count)
        if not self._console.is_terminal and time.monotonic() - self._told >= LOG_SECONDS:
            self._told = time.monotonic()
            self._print(f"{self._done} of {self._total}")
