"""A disk that is full or cannot be written: told in one line, nothing finished is lost, and the rerun goes on."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from tests.robustness.commands import ROOT, Commands, leftovers, receipts, results, run_arguments
from tests.robustness.conftest import Undisturbed


@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.slow)])
def test_a_disk_that_fills_up_at_any_file(
    step: int, commands: Commands, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """From the n-th file on nothing can be created below the output, temporary files included."""
    output, scratch = tmp_path / "run", tmp_path / "scratch"
    scratch.mkdir()
    environment = {"TMPDIR": str(scratch)}
    finished: dict[str, tuple[int, bytes]] = {}
    faults = 0
    while True:
        at = 1 + faults * step
        ended = commands.one(
            run_arguments(output),
            below=(output, scratch),
            fault="full",
            at=at,
            environment=environment,
        )
        now = receipts(output)
        assert {name: now[name] for name in finished} == finished
        if ended.code == 0:
            break
        assert "No space left on device" in ended.error
        assert str(output) in ended.error or str(scratch) in ended.error
        finished = now
        faults += 1
    assert faults > 2
    assert results(output) == results(undisturbed.folder)
    assert leftovers(output) == []


@pytest.mark.parametrize(
    "limit", [200_000, *(pytest.param(n, marks=pytest.mark.slow) for n in (0, 100, 2_000, 40_000))]
)
def test_files_that_cannot_grow(
    limit: int, commands: Commands, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """The system refuses bytes beyond a limit, whatever library writes them: weights, encodings, tables."""
    output = tmp_path / "run"
    environment = {"XHARNESS_CACHE": str(tmp_path / "cache")}
    ended = commands.one(run_arguments(output), file_limit=limit, environment=environment)
    assert str(output) in ended.error
    again = commands.one(run_arguments(output), environment=environment)
    assert again.code == 0, again.output
    assert results(output) == results(undisturbed.folder)
    assert leftovers(output) == leftovers(tmp_path / "cache") == []


def test_a_full_cache_is_done_without(
    commands: Commands, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    ended = commands.one(
        run_arguments(tmp_path / "run"),
        below=(cache,),
        fault="full",
        at=1,
        environment={"XHARNESS_CACHE": str(cache)},
    )
    assert ended.code == 0, ended.output
    assert results(tmp_path / "run") == results(undisturbed.folder)


def test_a_finished_run_on_a_disk_that_became_read_only(
    commands: Commands, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    output = Path(shutil.copytree(undisturbed.folder, tmp_path / "run"))
    before = {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}
    faults: dict[str, Literal["read-only"]] = {"fault": "read-only"}
    ended = commands.one(run_arguments(output), below=(output,), at=1, **faults)
    assert "Read-only file system" in ended.error
    assert str(output) in ended.error
    assert {path: path.read_bytes() for path in output.rglob("*") if path.is_file()} == before


@pytest.mark.slow
@pytest.mark.parametrize("kib", [16, 256, 2_000])
def test_a_real_file_system_without_room(kib: int, tmp_path: Path) -> None:
    """A file system in memory, in a name space of its own: too small for anything, records or checkpoint."""
    mounted = tmp_path / "small"
    mounted.mkdir()
    apart = ["unshare", "--map-root-user", "--mount", "sh", "-ec"]
    mount = f"mount -t tmpfs -o size={kib}k tmpfs {mounted}"
    if shutil.which("unshare") is None or subprocess.run([*apart, mount], check=False).returncode:
        pytest.skip("no file system can be mounted in a name space of its own here")
    run = " ".join([sys.executable, "-m", "xharness", *run_arguments(mounted / "run")])
    script = (
        f"{mount}\n{run} 2>{tmp_path}/first && exit 7\n"
        f"mount -o remount,size=200m {mounted}\n{run} 2>{tmp_path}/second\n"
        f"ls {mounted}/run/records >{tmp_path}/records"
    )
    done = subprocess.run([*apart, script], check=False, capture_output=True, cwd=ROOT)
    told = (tmp_path / "first").read_text("utf-8")
    assert done.returncode == 0, told + (tmp_path / "second").read_text("utf-8")
    assert "Traceback" not in told
    assert told.splitlines()[-1].startswith(f"xharness: {mounted}/run")
    assert "No space left on device" in told.splitlines()[-1]
    assert len((tmp_path / "records").read_text("utf-8").split()) == 2
