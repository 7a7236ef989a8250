"""Commands in processes of their own, with faults put in, and what they leave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from xharness.records.store import read_records

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes:
        code: Exit code, negative for a signal.
        output: What it printed.
        events: Events on the files that were watched; 0 where it was killed.
        seconds: Wall time.
    """

    code: int
    output: str
    events: int
    seconds: float

    @property
    def error(self) -> str:
        """The one line that a user is told, without the program's name; asserts that there is no traceback."""
        assert "Traceback" not in self.output, self.output
        assert self.code == 2, self.output
        lines = [line for line in self.output.splitlines() if line.startswith("xharness: ")]
        assert len(lines) == 1, self.output
        assert self.output.rstrip("\n").endswith(lines[0]), self.output
        return lines[0].removeprefix("xharness: ")


@dataclass(frozen=True)
class Job:
    """A command and the faults that it meets.

    Attributes:
        arguments: Of the command line.
        kill_after: Seconds after which SIGKILL is sent.
        below: Folders whose files are watched.
        fault: What happens at an event: SIGKILL, SIGSTOP, or that nothing more can be written from then on.
        at: The event, from 1; where the fault is a disk's, the write.
        clock_back: Whether the time of day runs backwards.
        file_limit: Bytes that a file can have, for writers that tell Python nothing.
        environment: Variables.
        timeout: Seconds after which a test is given up.
    """

    arguments: tuple[str, ...]
    kill_after: float | None = None
    below: tuple[Path, ...] = ()
    fault: Literal["kill", "stop", "full", "read-only"] = "kill"
    at: int | None = None
    clock_back: bool = False
    file_limit: int | None = None
    environment: dict[str, str] = field(default_factory=dict)
    timeout: float = 300.0


class Commands:
    """Runs commands by way of a forking server.

    Args:
        scratch: Folder for their cache.
    """

    def __init__(self, scratch: Path):
        environment = {
            **os.environ,
            **{"XHARNESS_CACHE": str(scratch / "cache"), "OMP_NUM_THREADS": "1"},
        }
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.robustness.forking_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=environment,
            text=True,
        )

    def run(self, *jobs: Job) -> list[Ended]:
        """Run jobs one after the other; one that is stopped goes on when those after it have ended."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps([_described(job) for job in jobs]) + "\n")
        self._server.stdin.flush()
        return [Ended(**ended) for ended in json.loads(self._server.stdout.readline())]

    def one(self, arguments: tuple[str, ...], **faults: Any) -> Ended:
        """Run one command."""
        (ended,) = self.run(Job(arguments, **faults))
        return ended

    def close(self) -> None:
        """End the server."""
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait(timeout=60)


@contextmanager
def commands_in(scratch: Path) -> Iterator[Commands]:
    """Yield a server that ends with the block."""
    commands = Commands(scratch)
    try:
        yield commands
    finally:
        commands.close()


def _described(job: Job) -> dict[str, Any]:
    return {**vars(job), "below": [str(folder) for folder in job.below]}


def run_arguments(
    output: Path, *more: str, tasks: tuple[str, ...] = ("sample_nli", "sample_retrieval")
) -> tuple[str, ...]:
    """Return a run of seconds: two languages, one step of fine-tuning."""
    words = ["run", "--model", "sample", "--output", str(output), "--languages", "en,de"]
    for task in tasks:
        words += ["--task", task]
    words += [
        "--limit",
        "4",
        "--limit-train",
        "16",
        "--seeds",
        "1",
        "--set",
        "epochs=1",
        "--device",
        "cpu",
    ]
    return (*words, *more)


# -- what a run leaves ----------------------------------------------------------------------------------


def results(folder: Path) -> dict[str, bytes]:
    """Return the content of what counts, by path: predictions, gold, and records without their timings.

    The command holds the output folder and is left out of a record.
    """
    found = {
        str(path.relative_to(folder)): path.read_bytes()
        for part in ("predictions", "gold")
        for path in sorted((folder / part).rglob("*"))
        if path.is_file()
    }
    for record in read_records([folder]):
        bare = record.model_dump(mode="json", exclude={"timings", "content_sha256", "command"})
        # Of the checkout, not of the run.
        bare["environment"] = {
            name: value
            for name, value in bare["environment"].items()
            if name not in ("commit", "dirty")
        }
        found[f"records/{record.task}-seed-{record.seed}"] = json.dumps(bare).encode()
    return found


def receipts(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return each receipt's time of writing and content, by name."""
    return {
        path.name: (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted((folder / "receipts").glob("*.json"))
    }


def leftovers(folder: Path) -> list[str]:
    """Return names of files and folders that were begun and not finished."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.partial"))
