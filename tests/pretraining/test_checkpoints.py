"""Checkpoints: what is read is what was written, and damage or a failed write costs no earlier one."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from xharness.errors import InputError
from xharness.files import write_json
from xharness.pretraining import checkpoints as module
from xharness.pretraining.checkpoints import Checkpoints, State, found_checkpoints

FILES = ("model.safetensors", "optimizer.safetensors", "state.json")


def state(step: int) -> State:
    generator = torch.Generator().manual_seed(step)
    return State(
        step=step,
        model={"a.weight": torch.randn(3, 4, generator=generator), "a.bias": torch.zeros(3)},
        optimizer={
            "a.weight/exp_avg": torch.randn(3, 4, generator=generator),
            "a.weight/step": torch.tensor(float(step)),
        },
        values={"micro_batch_size": 2, "seconds": step / 3},
    )


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


class Folder:
    """A folder of checkpoints and what is told of it."""

    def __init__(self, path: Path) -> None:
        self.path = path / "checkpoints"
        self.told: list[str] = []
        self.checkpoints = Checkpoints(self.path, self.told.append)

    def saved(self, *steps: int) -> Folder:
        for step in steps:
            self.checkpoints.save(state(step))
        return self

    def loaded(self) -> int | None:
        """Return the step of what is read, which must be all that was written at it."""
        found = self.checkpoints.load()
        if found is None:
            return None
        written = state(found.step)
        assert same(found.model, written.model)
        assert same(found.optimizer, written.optimizer)
        assert found.values == written.values
        return found.step

    def names(self) -> list[str]:
        return sorted(path.name for path in self.path.iterdir())


def test_none(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    assert folder.loaded() is None
    assert folder.told == []


def test_the_last_two_are_kept(tmp_path: Path) -> None:
    folder = Folder(tmp_path).saved(5, 10, 15, 20)
    assert folder.names() == ["step-00000015", "step-00000020"]
    assert folder.loaded() == 20
    assert folder.told == []


def test_a_hundred_million_steps(tmp_path: Path) -> None:
    """Names grow by a digit, and the order stays that of the steps."""
    folder = Folder(tmp_path).saved(99_999_999, 100_000_000, 100_000_001)
    assert folder.loaded() == 100_000_001
    assert [path.name for path in found_checkpoints(folder.path)] == [
        "step-100000000",
        "step-100000001",
    ]


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def flipped(path: Path) -> None:
    """Change one bit of the content, near its end."""
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [truncated, emptied, flipped, Path.unlink])
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_one_is_named_and_left_out(
    tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    folder = Folder(tmp_path).saved(5, 10)
    damage(folder.path / "step-00000010" / name)
    assert folder.loaded() == 5
    (line,) = folder.told
    assert line.startswith(f"{folder.path / 'step-00000010'} is damaged (")
    assert "\n" not in line
    # Taken again, the step replaces what is damaged.
    assert folder.saved(10).loaded() == 10
    assert folder.names() == ["step-00000005", "step-00000010"]


def test_none_is_whole(tmp_path: Path) -> None:
    folder = Folder(tmp_path).saved(5, 10)
    for path in found_checkpoints(folder.path):
        truncated(path / "optimizer.safetensors")
    assert folder.loaded() is None
    assert len(folder.told) == 3
    assert folder.told[-1] == "no checkpoint is whole; training begins anew"


@pytest.mark.parametrize("content", ["[]", "{}", '{"step": 10, "values": 3, "sha256": {}}', "null"])
def test_state_of_other_content(tmp_path: Path, content: str) -> None:
    folder = Folder(tmp_path).saved(5, 10)
    (folder.path / "step-00000010" / "state.json").write_text(content)
    assert folder.loaded() == 5


def test_what_a_kill_left_is_no_checkpoint(tmp_path: Path) -> None:
    folder = Folder(tmp_path).saved(5, 10)
    (folder.path / "step-00000010").rename(folder.path / ".step-00000010.partial")
    (folder.path / "step-old").mkdir()
    assert folder.loaded() == 5
    assert folder.saved(10).loaded() == 10
    assert folder.names() == ["step-00000005", "step-00000010", "step-old"]


def failing_at(call: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, but for one call that writes nothing more, as on a full disk."""
    calls = 0

    def wrapped(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return function(*arguments)

    return wrapped


@pytest.mark.parametrize(("name", "call"), [("save_file", 1), ("save_file", 2), ("_digest", 2)])
def test_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, call: int) -> None:
    folder = Folder(tmp_path).saved(5, 10)
    with monkeypatch.context() as patch:
        patch.setattr(module, name, failing_at(call, getattr(module, name)))
        with pytest.raises(InputError) as caught:
            folder.saved(15)
    assert str(caught.value).startswith(
        f"{folder.path / 'step-00000015'}: cannot be written: No space left on device"
    )
    assert folder.names() == ["step-00000005", "step-00000010"]
    assert folder.loaded() == 10
    assert folder.saved(15).loaded() == 15


def test_folder_that_is_a_file(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.path.write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        folder.saved(5)


def test_one_too_many_is_removed(tmp_path: Path) -> None:
    """As a kill leaves it between writing one and removing the oldest."""
    folder = Folder(tmp_path).saved(10, 15)
    older = folder.path / "step-00000005"
    older.mkdir()
    write_json(older / "state.json", {})
    folder.checkpoints.prune()
    assert folder.names() == ["step-00000010", "step-00000015"]
