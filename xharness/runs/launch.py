"""Starting a unit's process and following it to its end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xharness.runs.jobs import UnitJob
from xharness.runs.store import Store
from xharness.runs.unit_process import REFUSED
from xharness.runs.unit_states import Outcome


def log_name(unit: str) -> str:
    """Return the path of a unit's log below the run's folder."""
    return f"logs/{unit}.txt"


class UnitProcess:
    """A unit in a process of its own.

    Args:
        job: The unit's job.
        environment: Variables laid over this process's own.
    """

    def __init__(self, job: UnitJob, environment: Mapping[str, str]):
        self._job = job
        self._environment = {**os.environ, **environment}
        self._process: subprocess.Popen[str] | None = None
        self._stopped = False

    def run(self, attempt: int, on_event: Callable[[dict[str, Any]], None]) -> Outcome:
        """Start the process and return when it has ended.

        Args:
            attempt: Which try it is, for the log.
            on_event: Called with each event of ``xharness.runs.unit_process``.
        """
        name = log_name(self._job.name)
        with _folder_of(self._job) as folder:
            log = folder / name
            where = str(log)
            try:
                log.parent.mkdir(parents=True, exist_ok=True)
                with log.open("a", encoding="utf-8") as file:
                    print(f"-- try {attempt} on {socket.gethostname()}", file=file, flush=True)
                    code, refusal = self._follow(folder, file.fileno(), on_event)
            except OSError as error:
                return Outcome("refused", f"{where}: cannot be written: {error.strerror}", where)
            if self._job.place.store is not None:
                store = Store(self._job.place.store)
                store.send(folder, [name])
                where = f"{store.url.rstrip('/')}/{name}"
        if code == 0:
            return Outcome("done")
        if code == REFUSED and refusal:
            return Outcome("refused", refusal, where)
        reason = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return Outcome("crashed", reason, where)

    def _follow(
        self, folder: Path, log: int, on_event: Callable[[dict[str, Any]], None]
    ) -> tuple[int, str]:
        refusal = ""
        line = [sys.executable, "-m", "xharness.runs.unit_process", str(folder)]
        with subprocess.Popen(  # noqa: S603  (no shell; this interpreter and a module of our own)
            line,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            encoding="utf-8",
            env=self._environment,
            # A Ctrl-C in the terminal is for whoever started this, who then stops it.
            start_new_session=True,
        ) as process:
            self._process = process
            assert process.stdin is not None
            assert process.stdout is not None
            if self._stopped:
                process.kill()
            # One that dies at once does not read its job; its exit code says so.
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(self._job.to_json() + "\n")
                process.stdin.flush()
            for text in process.stdout:
                event = json.loads(text)
                refusal = event.get("error", refusal)
                on_event(event)
            # Its stdin stays open to its very end, for it takes the end of stdin for ours.
            code = process.wait()
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            return code, refusal

    def stop(self) -> None:
        """End the process now; what its finished stages left is kept."""
        self._stopped = True
        if self._process is not None:
            self._process.kill()


@contextmanager
def _folder_of(job: UnitJob) -> Iterator[Path]:
    """Return the run's folder, or a passing one where results go through a store."""
    if job.place.store is None:
        yield Path(job.place.output)
        return
    with tempfile.TemporaryDirectory(prefix="xharness-") as folder:
        yield Path(folder)
