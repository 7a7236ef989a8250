"""The process that carries out one unit: ``python -m xharness.runs.unit_process FOLDER < job``.

The job is the first line on stdin; events go to stdout, one JSON object a line; stderr is the unit's log. stdin stays
open as long as whoever started the process lives: at its end the process ends too, so that no unit is left
working for nobody.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import TextIO

from xharness.errors import InputError
from xharness.inference.device import choose_device
from xharness.models.adapter import open_model
from xharness.runs.jobs import UnitJob
from xharness.runs.receipts import Receipt
from xharness.runs.runner import Runner
from xharness.runs.store import Store

#: Exit codes, as of the command line.
REFUSED = 2

#: The process was left alone.
ORPHANED = 3

#: How long to wait, in seconds, for another process on the same unit: one whose starter died ends within this time,
#: and a dead machine's locks on a network file system are given up.
UNIT_WAIT = 120.0

#: Seconds between two events about the work inside a stage.
TELL_EVERY = 0.5


class EventDisplay:
    """Tells of stages and the work inside them as events.

    Args:
        to: Where the events are written.
    """

    def __init__(self, to: TextIO):
        self._to = to
        self._total = self._done = 0
        self._told = 0.0

    def tell(self, **event: object) -> None:
        """Write an event."""
        self._to.write(json.dumps(event) + "\n")
        self._to.flush()

    def stage(self, title: str) -> None:
        """Begin a stage."""
        self._began = time.monotonic()
        self._title = title
        self.tell(stage=title, total=0, done=0)

    def finished(self, note: str = "", *, brief: bool = False) -> None:
        """End the current stage; the log gets a line."""
        seconds = time.monotonic() - self._began
        print(f"{self._title}: {note or f'{seconds:.1f} s'}", file=sys.stderr, flush=True)
        self.tell(finished=True)

    def start(self, total: int) -> None:
        """Begin to count towards ``total`` windows or steps."""
        self._total, self._done = total, 0

    def advance(self, count: int) -> None:
        """Count ``count`` more as done."""
        self._done += count
        now = time.monotonic()
        if now - self._told >= TELL_EVERY:
            self._told = now
            self.tell(total=self._total, done=self._done)


def carry_out(job: UnitJob, folder: Path, display: EventDisplay) -> None:
    """Carry out a unit.

    Args:
        job: The unit's job.
        folder: The run's folder, or one of this machine's own where results go through a store.
        display: Told of the stages.

    Raises:
        InputError: Something it needs is absent here or differs from the plan's, or a stage fails.
    """
    place = job.place
    source = place.open_source()
    device = choose_device(place.device, place.dtype, place.tokens, place.processes)
    model = open_model(place.reference, device)
    if model.describe().weights_sha256 != job.plan.model.weights_sha256:
        raise InputError(
            "the weights are not those that the plan was made with",
            where=place.reference,
            mend="give every machine the same checkpoint",
        )
    if place.store is None:
        runner = Runner(job.plan, model, source, device, folder)
        runner.run_unit(job.unit, display, UNIT_WAIT)
        return
    store = Store(place.store)
    store.fetch_unit(folder, job.unit, checkpoints=True)

    def keep(stage: str, receipt: Receipt) -> None:
        store.keep(folder, stage, receipt)

    records = Runner(job.plan, model, source, device, folder, keep).run_unit(job.unit, display)
    store.send(folder, [str(path.relative_to(folder)) for path in records])


def _end_with_starter() -> None:
    """End this process at once when the other end of stdin is closed."""
    # Read below Python's buffer, whose lock the interpreter wants at its own end.
    while os.read(0, 1024):
        pass
    os._exit(ORPHANED)


def main() -> None:
    """Carry out the job on stdin."""
    # Libraries print; what they print belongs in the log, not among the events.
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    display = EventDisplay(events)
    line = sys.stdin.readline()
    threading.Thread(target=_end_with_starter, daemon=True).start()
    try:
        carry_out(UnitJob.from_json(line), Path(sys.argv[1]), display)
    except InputError as error:
        print(f"xharness: {error}", file=sys.stderr, flush=True)
        display.tell(error=str(error))
        sys.exit(REFUSED)


if __name__ == "__main__":
    main()
