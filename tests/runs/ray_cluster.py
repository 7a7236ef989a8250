"""A Ray cluster of two machines that are process trees of this one, each with one CPU."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

STARTED_SECONDS = 120


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Machine:
    """What ``ray start`` starts, with all its processes."""

    def __init__(self, *arguments: str):
        program = "from ray.scripts.scripts import main; main()"
        line = [sys.executable, "-c", program, "start", "--block", *arguments]
        line += ["--num-cpus", "1", "--object-store-memory", "80000000", "--disable-usage-stats"]
        self.process = subprocess.Popen(
            line,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )

    def processes(self) -> list[psutil.Process]:
        try:
            root = psutil.Process(self.process.pid)
            return [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def unit_processes(self) -> list[psutil.Process]:
        found = []
        for process in self.processes():
            try:
                if "xharness.runs.unit_process" in process.cmdline():
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def pull_the_plug(self) -> None:
        for process in self.processes():
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        self.process.wait()


class TwoMachines:
    """A head and one more machine."""

    def __init__(self) -> None:
        # Sockets live in this folder, and their paths must be short.
        self.folder = tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True)
        self.address = f"127.0.0.1:{free_port()}"
        self.head = Machine(
            "--head",
            "--node-ip-address=127.0.0.1",
            f"--port={self.address.rpartition(':')[2]}",
            "--include-dashboard=false",
            f"--temp-dir={self.folder.name}",
        )
        self.other: Machine | None = None

    def add_machine(self) -> Machine:
        deadline = time.monotonic() + STARTED_SECONDS
        host, _, port = self.address.partition(":")
        while time.monotonic() < deadline:
            try:
                socket.create_connection((host, int(port)), 1).close()
                break
            except OSError:
                time.sleep(0.2)
        self.other = Machine(f"--address={self.address}", "--node-ip-address=127.0.0.1")
        return self.other

    def close(self) -> None:
        for machine in (self.other, self.head):
            if machine is not None:
                machine.pull_the_plug()
        self.folder.cleanup()


def wait_for(what: str, found: object, process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait until a function returns something true; fail with the driver's output where it ends before."""
    deadline = time.monotonic() + seconds
    assert callable(found)
    while not found():
        assert process.poll() is None, f"the driver ended before: {what}"
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.1)


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*")}
