"""What a pre-training shows of its speed and progress."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable

import pytest
from rich.console import Console

from xharness.pretraining.display import Pace, PretrainingDisplay
from xharness.pretraining.training import StepReport


class Clock:
    """A clock that stands still between calls of ``advance``."""

    now = 100.0

    def advance(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    return clock


def report(step: int, loss: float = 2.5) -> StepReport:
    return StepReport(step, loss, 10.0, 1.0, 1e-3, 4)


def test_pace(clock: Clock) -> None:
    """2,000 tokens and 3e9 operations in half a second, of 24e9 a second: a quarter; 90 steps take 45 s."""
    pace = Pace(2000, 3_000_000_000, 24e9)
    assert pace.describe(100) == ""
    for _ in range(10):
        clock.advance(0.5)
        pace.tick()
    assert pace.step_seconds == 0.5
    assert pace.describe(90) == "4,000 tokens/s, 25 % of matmul peak, 0:00:45 left"


def test_pace_follows_the_last_fifty_steps(clock: Clock) -> None:
    pace = Pace(100, 1, 1.0)
    for seconds in [9.0] * 30 + [2.0] * 50:
        clock.advance(seconds)
        pace.tick()
    assert pace.step_seconds == 2.0
    assert pace.describe(86_400).endswith("2 days, 0:00:00 left")


def shown(
    terminal: bool,
    work: Callable[[PretrainingDisplay, Console], None],
    width: int = 120,
    total: int = 8,
) -> str:
    written = io.StringIO()
    console = Console(file=written, force_terminal=terminal, width=width)
    with PretrainingDisplay(console, total, Pace(10, 10, 10.0)) as display:
        work(display, console)
    return written.getvalue()


def test_lines_where_there_is_no_terminal(clock: Clock) -> None:
    """One a minute."""

    def work(display: PretrainingDisplay, console: Console) -> None:
        for step in range(1, 9):
            clock.advance(20)
            display.step(report(step, 6.0 / step))

    assert shown(False, work).splitlines() == [
        "step 3/8: loss 2.000, 0 tokens/s, 5 % of matmul peak, 0:01:40 left",
        "step 6/8: loss 1.000, 0 tokens/s, 5 % of matmul peak, 0:00:40 left",
    ]


def test_status_line_in_a_terminal(clock: Clock) -> None:
    """What is told meanwhile stands above it; in the end it is gone."""

    def work(display: PretrainingDisplay, console: Console) -> None:
        clock.advance(2)
        display.step(report(3))
        console.print("held-out loss 2.6")
        display._bar.refresh()

    written = shown(True, work)
    text = plain(written)
    assert "pre-training" in text
    assert "3/8 loss 2.500, 5 tokens/s, 50 % of matmul peak, 0:00:10 left" in text
    above, line = text.index("held-out loss 2.6"), text.rindex("pre-training")
    assert above < line
    assert written.endswith("\x1b[2K")  # the line is cleared


def test_narrow_terminal(clock: Clock) -> None:
    """The bar gives way to the figures."""

    def work(display: PretrainingDisplay, console: Console) -> None:
        clock.advance(2)
        display.step(report(299_999))
        display._bar.refresh()

    text = plain(shown(True, work, 80, 300_000))
    assert "299999/300000 loss 2.500, 5 tokens/s, 50 % of matmul peak, 0:00:02 left" in text
    assert "pre-training" not in text


def plain(written: str) -> str:
    """Return what a terminal shows, without its control sequences."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written)
