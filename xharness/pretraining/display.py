"""What a pre-training shows while it works: a status line in a terminal, a line now and then in a log."""

from __future__ import annotations

import time
from collections import deque
from datetime import timedelta
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from xharness.pretraining.training import StepReport

#: Without a terminal it tells how far it is this often.
LOG_SECONDS = 60.0

#: Steps over which speed is averaged.
_WINDOW = 50

#: Columns of a terminal from which there is room for a bar beside the figures.
_WIDE = 116


class Pace:
    """Speed over the last steps.

    Args:
        tokens: Tokens in a step.
        flops: Arithmetic that a step needs.
        peak: What the machine's matrix products reach, floating-point operations a second.
    """

    def __init__(self, tokens: int, flops: int, peak: float) -> None:
        self._tokens, self._flops, self._peak = tokens, flops, peak
        self._times: deque[float] = deque([time.monotonic()], maxlen=_WINDOW + 1)

    def tick(self) -> None:
        """Count a step."""
        self._times.append(time.monotonic())

    @property
    def step_seconds(self) -> float:
        """Seconds a step."""
        steps = len(self._times) - 1
        return (self._times[-1] - self._times[0]) / steps if steps else 0.0

    def describe(self, steps_left: int) -> str:
        """Return tokens a second, the share of the peak, and the time left."""
        seconds = self.step_seconds
        if not seconds:
            return ""
        left = timedelta(seconds=round(steps_left * seconds))
        share = 100 * self._flops / seconds / self._peak
        return f"{self._tokens / seconds:,.0f} tokens/s, {share:.0f} % of matmul peak, {left} left"


class PretrainingDisplay:
    """Shows how far a pre-training is.

    Args:
        console: Where.
        total: Steps in all.
        pace: Knows the speed.
    """

    def __init__(self, console: Console, total: int, pace: Pace) -> None:
        self._console, self._total, self._pace = console, total, pace
        self._told = time.monotonic()
        bar = (TextColumn("pre-training"), BarColumn(bar_width=24))
        self._bar = Progress(
            *(bar if console.width >= _WIDE else ()),
            MofNCompleteColumn(),
            TextColumn("{task.fields[status]}"),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._task = self._bar.add_task("steps", total=total, status="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def step(self, report: StepReport) -> None:
        """Show a step."""
        self._pace.tick()
        status = f"loss {report.loss:.3f}, {self._pace.describe(self._total - report.step)}"
        self._bar.update(self._task, completed=report.step, status=status)
        if not self._console.is_terminal and time.monotonic() - self._told >= LOG_SECONDS:
            self._told = time.monotonic()
            line = f"step {report.step}/{self._total}: {status}"
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)
