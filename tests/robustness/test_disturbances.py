"""Two processes in one folder, a clock set back, and damage to what a run has written."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from tests.robustness.commands import Commands, Job, receipts, results, run_arguments
from tests.robustness.conftest import Undisturbed


@pytest.fixture
def copy(undisturbed: Undisturbed, tmp_path: Path) -> Path:
    """A finished run that a test may harm, its times kept."""
    return Path(shutil.copytree(undisturbed.folder, tmp_path / "copy"))


def test_of_two_processes_in_one_folder_one_is_refused(
    commands: Commands, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """The first is stopped in the middle of its fine-tuning while the second tries."""
    output = tmp_path / "run"
    middle = undisturbed.ended.events // 3
    first, second = commands.run(
        Job(run_arguments(output), below=(output,), fault="stop", at=middle),
        Job(run_arguments(output)),
    )
    assert str(output) in second.error
    assert "another run" in second.error
    assert first.code == 0, first.output
    assert results(output) == results(undisturbed.folder)


def test_a_clock_set_back_makes_nothing_run_again(
    commands: Commands, undisturbed: Undisturbed, copy: Path
) -> None:
    later = time.time() + 400 * 86_400
    for path in copy.rglob("*"):
        os.utime(path, (later, later))
    (copy / "predictions/seed-1/sample_nli/test-de.tsv").unlink()
    before = receipts(copy)
    ended = commands.one(run_arguments(copy), clock_back=True)
    assert ended.code == 0, ended.output
    after = receipts(copy)
    repeated = {name for name in after if after[name] != before[name]}
    assert repeated == {name for name in before if "sample_nli" in name and "_de" in name}
    assert results(copy) == results(undisturbed.folder)
    for path in (copy / "receipts").glob("*.json"):
        assert '"seconds": -' not in path.read_text("utf-8")


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def truncate(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def checkpoint_files(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / "checkpoints").rglob("*") if path.is_file())


def test_a_damaged_checkpoint_is_made_again_and_its_predictions_stand(
    commands: Commands, undisturbed: Undisturbed, copy: Path
) -> None:
    weights = next(path for path in checkpoint_files(copy) if path.suffix == ".safetensors")
    right = weights.read_bytes()
    flip(weights)
    before = receipts(copy)
    ended = commands.one(run_arguments(copy))
    assert ended.code == 0, ended.output
    assert weights.read_bytes() == right
    after = receipts(copy)
    assert all(after[name] == before[name] for name in after if name.startswith("predict"))
    assert results(copy) == results(undisturbed.folder)


@pytest.mark.slow
@pytest.mark.parametrize("harm", [flip, truncate])
def test_any_damaged_file_of_a_run_is_made_again(
    harm: object, commands: Commands, undisturbed: Undisturbed, copy: Path
) -> None:
    assert callable(harm)
    whole = {
        path: path.read_bytes()
        for part in ("checkpoints", "predictions", "gold", "receipts")
        for path in sorted((copy / part).rglob("*"))
        if path.is_file()
    }
    assert len(whole) > 12
    for path, content in whole.items():
        harm(path)
        ended = commands.one(run_arguments(copy))
        assert ended.code == 0, ended.output
        if path.parent.name != "receipts":
            assert path.read_bytes() == content, path
        assert results(copy) == results(undisturbed.folder)


def test_all_small_files_of_a_run_damaged_at_once(
    commands: Commands, undisturbed: Undisturbed, copy: Path
) -> None:
    for part in ("predictions", "gold", "receipts", "records"):
        for number, path in enumerate(sorted((copy / part).rglob("*.*"))):
            (flip if number % 2 else truncate)(path)
    ended = commands.one(run_arguments(copy))
    assert ended.code == 0, ended.output
    assert results(copy) == results(undisturbed.folder)


def test_a_damaged_plan_is_refused_and_nothing_is_touched(commands: Commands, copy: Path) -> None:
    truncate(copy / "plan.json")
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    ended = commands.one(run_arguments(copy))
    assert "plan.json" in ended.error
    after = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    assert after == before
