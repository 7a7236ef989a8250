"""A process that has xharness and torch imported and forks a child for each command it is given.

Starting Python with torch and transformers takes seconds, and these tests kill and start again dozens of times. A child
runs ``xharness.cli.main`` as a process of its own would: with its own arguments, limits, exit code and output.
"""

from __future__ import annotations

import errno
import importlib
import itertools
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

#: What is counted of a child's work on its folder, to be killed or to fail at the n-th.
_EVENTS = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree")

#: Of these, what a full disk does not let through.
_WRITES = ("open", "os.mkdir")

#: What a system says of a disk that takes nothing more.
_FAULTS = {"full": errno.ENOSPC, "read-only": errno.EROFS}


def main() -> None:
    """Answer each list of jobs, a line of JSON, with a line of JSON.

    A job that stops itself goes on when those after it have ended.
    """
    for module in ("xharness.cli", "xharness.models.transformers", "xharness.runs.runner"):
        importlib.import_module(module)
    for line in sys.stdin:
        print(json.dumps(_work(json.loads(line))), flush=True)


def _work(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    states: list[tuple[int, int | None, int, float]] = []
    for job in jobs:
        began = time.monotonic()
        # A pipe: a file would be subject to the limits and faults that are tried. It takes 64 KiB.
        told, telling = os.pipe()
        child = os.fork()
        if not child:
            _run(job, telling)
        os.close(telling)
        if job["kill_after"] is not None:
            time.sleep(job["kill_after"])
            os.kill(child, signal.SIGKILL)
        status = _waited(child, job["timeout"])
        states.append((child, None if os.WIFSTOPPED(status) else status, told, began))
    ended = []
    for job, (child, code, told, began) in zip(jobs, states, strict=True):
        if code is None:
            os.kill(child, signal.SIGCONT)
            code = _waited(child, job["timeout"])
        with os.fdopen(told, encoding="utf-8", errors="replace") as reading:
            output, _, events = reading.read().partition("\0")
        ended.append(
            {
                "code": os.waitstatus_to_exitcode(code),
                "output": output,
                "events": int(events or 0),
                "seconds": time.monotonic() - began,
            }
        )
    return ended


def _waited(child: int, timeout: float) -> int:
    """Return the status of a child that ended or stopped."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED)
        if found:
            return status
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise TimeoutError(f"a child did not end within {timeout} s")


def _run(job: dict[str, Any], telling: int) -> None:
    """Be the child; does not return."""
    code = 99
    count: Callable[[], int] = int
    try:
        for number in (1, 2):
            os.dup2(telling, number)
        os.environ |= job["environment"]
        if job["file_limit"] is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (job["file_limit"], job["file_limit"]))
        count = _watch(job)
        if job["clock_back"]:
            _set_clock_back()
        from xharness import cli

        sys.argv = ["xharness", *job["arguments"]]
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 98
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(telling, f"\0{count()}".encode())
        os._exit(code)


def _watch(job: dict[str, Any]) -> Callable[[], int]:
    """Count events on files below the job's folders, and let the fault happen at one; return what tells the count."""
    seen = 0
    below = tuple(job["below"])
    number = _FAULTS.get(job["fault"])

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if name not in _EVENTS or not below or not str(arguments[0]).startswith(below):
            return
        reads = name == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if number is not None and (reads or name not in _WRITES):
            return
        seen += 1
        if job["at"] is None or seen < job["at"]:
            return
        if number is not None:
            raise OSError(number, os.strerror(number))
        if seen == job["at"]:
            os.kill(os.getpid(), signal.SIGSTOP if job["fault"] == "stop" else signal.SIGKILL)

    sys.addaudithook(hook)
    return lambda: seen


def _set_clock_back() -> None:
    """Let the time of day run backwards, an hour at each look."""
    hours = itertools.count(500_000, -1)
    time.time = lambda: 3600.0 * next(hours)


if __name__ == "__main__":
    main()
