"""How far each unit is, and the table that shows it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from rich.console import Console
from rich.live import Live
from rich.table import Table

Status = Literal["waiting", "running", "done", "failed"]

#: Rows of a table at most; what is over is counted below it.
ROWS = 40


@dataclass(frozen=True)
class Outcome:
    """How a unit's process ended.

    Attributes:
        kind: ``done``; ``refused`` for wrong use or unusable input, which another try would not mend; or ``crashed``.
        reason: What went wrong.
        log: Where the process's log is.
    """

    kind: Literal["done", "refused", "crashed"]
    reason: str = ""
    log: str = ""


@dataclass(frozen=True)
class UnitState:
    """Where a unit stands.

    Attributes:
        status: Its status.
        tries: How often it was begun.
        where: The worker or machine that runs it or ran it last.
        stages: Number of its stages.
        stages_done: Stages finished in this try.
        stage: The current stage.
        total: Windows or steps of the current stage; 0 where it does not say.
        done: How many of them are done.
        began: When this try began, in seconds since the epoch.
        ended: When it ended.
        reason: What went wrong last.
        log: Where the log of that is.
    """

    status: Status = "waiting"
    tries: int = 0
    where: str = ""
    stages: int = 0
    stages_done: int = 0
    stage: str = ""
    total: int = 0
    done: int = 0
    began: float = 0.0
    ended: float = 0.0
    reason: str = ""
    log: str = ""

    @property
    def settled(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.status in ("done", "failed")

    def begun(self, where: str, tries: int) -> UnitState:
        """Return the state at the begin of a try."""
        return replace(
            self,
            status="running",
            where=where,
            tries=tries,
            stages_done=0,
            stage="starting",
            total=0,
            done=0,
            began=time.time(),
            ended=0.0,
        )

    def after(self, event: Mapping[str, Any]) -> UnitState:
        """Return the state after an event of ``xharness.runs.unit_process``."""
        changes = {key: event[key] for key in ("stage", "total", "done") if key in event}
        finished = 1 if event.get("finished") else 0
        return replace(self, **changes, stages_done=self.stages_done + finished)

    def after_try(self, outcome: Outcome, *, again: bool) -> UnitState:
        """Return the state at the end of a try.

        Args:
            outcome: How the try ended.
            again: Whether there will be another one.
        """
        status: Status = "done" if outcome.kind == "done" else "waiting" if again else "failed"
        return replace(
            self, status=status, ended=time.time(), reason=outcome.reason, log=outcome.log
        )


class UnitsDisplay:
    """Shows all units of a run in one table, or in a log one line for each begin and end.

    Args:
        console: Where to show it.
    """

    def __init__(self, console: Console):
        self._console = console
        self._told: dict[str, tuple[Status, int]] = {}
        self._live = Live(console=console, refresh_per_second=4, transient=True)

    def __enter__(self) -> UnitsDisplay:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def show(self, states: Mapping[str, UnitState]) -> None:
        """Show the units as they stand now."""
        if self._console.is_terminal:
            self._live.update(table_of(states, self._console.height - 4))
        for name, state in states.items():
            now = (state.status, state.tries)
            before = self._told.get(name, ("waiting", 0))
            if now != before:
                self._told[name] = now
                self._tell(name, state, states)

    def _tell(self, name: str, state: UnitState, states: Mapping[str, UnitState]) -> None:
        settled = sum(other.settled for other in states.values())
        retry = f", try {state.tries} ({state.reason})" if state.tries > 1 else ""
        what = {
            "running": f"begun on {state.where}{retry}",
            "waiting": f"failed ({state.reason}), will be tried again; log: {state.log or '-'}",
            "done": f"done in {_time(state.ended - state.began)}",
            "failed": f"given up: {state.reason}; log: {state.log or '-'}",
        }[state.status]
        line = f"[{settled}/{len(states)}] {name}: {what}"
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def table_of(states: Mapping[str, UnitState], rows: int = ROWS) -> Table:
    """Return the table of all units: what runs first, then what failed, waits and is done."""
    rank = {"running": 0, "failed": 1, "waiting": 2, "done": 3}
    ordered = sorted(states.items(), key=lambda item: rank[item[1].status])
    shown = ordered[: max(1, min(rows, ROWS))]
    count = {s: sum(state.status == s for state in states.values()) for s in rank}
    table = Table(
        title=", ".join(f"{number} {status}" for status, number in count.items() if number),
        caption=f"and {len(ordered) - len(shown)} more" if len(shown) < len(ordered) else None,
        box=None,
    )
    for header in ("unit", "status", "on", "stages", "now", "", "time"):
        table.add_column(header, justify="right" if header in ("stages", "time") else "left")
    for name, state in shown:
        table.add_row(*_cells(name, state))
    return table


def _cells(name: str, state: UnitState) -> Sequence[str]:
    inside = f"{100 * state.done // state.total}%" if state.total else ""
    running = state.status == "running"
    end = time.time() if running else state.ended
    status = state.status if state.tries < 2 else f"{state.status} (try {state.tries})"
    return (
        name,
        status,
        state.where,
        f"{state.stages_done}/{state.stages}",
        state.stage if running else state.reason,
        inside if running else "",
        _time(end - state.began) if state.began else "",
    )


def _time(seconds: float) -> str:
    whole = max(0, round(seconds))
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
