"""A process that has the pre-trainer imported and forks a child for each command it is given.

Starting Python with torch and transformers takes seconds, and these tests kill and start again dozens of times. A child
runs ``xharness.cli.main`` as a fresh process would: it has arguments, environment, exit code and standard error of
its own.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

#: Operations on files that Python tells of before it does them; the path comes first.
_OPERATIONS = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree")


def main() -> None:
    """Answer each job, a line of JSON, with a line of JSON."""
    for name in ("xharness.cli", "xharness.pretraining.command", "matplotlib.backends.backend_svg"):
        importlib.import_module(name)
    from xharness.inference import peak

    peak.WIDTH = 64  # measuring takes longer than the training
    for line in sys.stdin:
        print(json.dumps(_work(json.loads(line))), flush=True)


def _work(job: dict[str, Any]) -> list[dict[str, Any]]:
    port = _free_port()
    began = time.monotonic()
    children = []
    for rank in range(job["processes"]):
        child = os.fork()
        if not child:
            _run(job, rank, port)
        children.append(child)
    if job["kill_after"] is not None:
        time.sleep(job["kill_after"])
        for child in children:
            os.kill(child, signal.SIGKILL)
    if job["signal_after_lines"] is not None:
        rank, number, name, lines = job["signal_after_lines"]
        _wait_for_lines(Path(job["folder"]) / name, lines, job["timeout"])
        os.kill(children[rank], number)
    ended = []
    for rank, child in enumerate(children):
        code = os.waitstatus_to_exitcode(_waited(child, began + job["timeout"]))
        written = Path(job["scratch"], f"written-{rank}")
        ended.append(
            {
                "code": code,
                "stderr": Path(job["scratch"], f"stderr-{rank}").read_text("utf-8"),
                "seconds": time.monotonic() - began,
                "written": written.read_text("utf-8").splitlines() if written.exists() else [],
            }
        )
    return ended


def _wait_for_lines(path: Path, lines: int, timeout: float) -> None:
    end = time.monotonic() + timeout
    while not path.exists() or path.read_bytes().count(b"\n") < lines:
        if time.monotonic() > end:
            raise TimeoutError(f"{path} has not got {lines} lines within {timeout} s")
        time.sleep(0.002)


def _waited(child: int, end: float) -> int:
    while time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise TimeoutError("a child has not ended")


def _run(job: dict[str, Any], rank: int, port: int) -> None:
    """Be the child; does not return."""
    code = 99
    try:
        log = os.open(Path(job["scratch"], f"stderr-{rank}"), os.O_WRONLY | os.O_CREAT)
        for number in (1, 2):
            os.dup2(log, number)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(job["folder"])
        if job["processes"] > 1:
            os.environ |= {
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": str(job["processes"]),
                "LOCAL_WORLD_SIZE": str(job["processes"]),
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port),
            }
        if job["file_limit"] is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (job["file_limit"],) * 2)
        written: list[str] = []
        faults = [fault for fault in job["faults"] if fault["rank"] == rank]
        sys.addaudithook(_watch(faults, written))
        from xharness import cli

        sys.argv = ["xharness", *job["arguments"]]
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 98
        Path(job["scratch"], f"written-{rank}").write_text("\n".join(written), "utf-8")
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _watch(faults: list[dict[str, Any]], written: list[str]) -> Any:
    """Return a hook that lists operations that write, and makes some fail or kills this process before them."""
    seen = [0] * len(faults)

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        if name not in _OPERATIONS:
            return
        path = str(arguments[0])
        if name != "open" or arguments[2] & (os.O_WRONLY | os.O_RDWR):
            written.append(path)
        for number, fault in enumerate(faults):
            if fault["path"] not in path or fault["operation"] not in ("", name):
                continue
            seen[number] += 1
            if seen[number] == fault["at"]:
                if fault["error"] is None:
                    os.kill(os.getpid(), signal.SIGKILL)
                raise OSError(fault["error"], os.strerror(fault["error"]), path)

    return hook


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


if __name__ == "__main__":
    main()
