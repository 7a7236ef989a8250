"""Files and folders that are written aside: all of it or nothing, and nothing half done is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.records.examples import make_record
from xharness.errors import InputError
from xharness.files import folder_aside, write_json, write_text, written_aside
from xharness.records.store import write_record


def test_a_file_stays_as_it_was_where_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_text(path, "old")

    def half() -> None:
        with written_aside(path) as aside:
            aside.write_text("half", encoding="utf-8")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert path.read_text("utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_half_a_character_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"table\.md: cannot be written: U\+DCFF is half a char"):
        write_text(tmp_path / "table.md", "\udcff")
    with pytest.raises(InputError, match="half a character"):
        write_json(tmp_path / "plan.json", {"folder": "\udcff"})
    record = make_record().model_copy(update={"command": "xharness run --output \udcff"})
    with pytest.raises(InputError, match="half a character"):
        write_record(record, tmp_path / "records")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_folder_takes_its_place_when_it_is_full(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints" / "seed-1"
    with folder_aside(path) as aside:
        (aside / "old").write_text("", encoding="utf-8")
        assert not path.exists()
    with folder_aside(path) as aside:
        (aside / "new").write_text("", encoding="utf-8")
    assert [p.name for p in path.iterdir()] == ["new"]

    def half() -> None:
        with folder_aside(path) as aside:
            (aside / "half").write_text("", encoding="utf-8")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert list(path.parent.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with (
        pytest.raises(InputError, match=r"seed-1: cannot be written: Not a directory"),
        folder_aside(tmp_path / "file" / "seed-1"),
    ):
        raise AssertionError("made")


def test_an_error_inside_is_not_taken_for_the_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such task"), folder_aside(tmp_path / "folder"):
        raise InputError("no such task")
