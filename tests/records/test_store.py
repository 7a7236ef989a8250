"""Records: sealed, read back the same, refused when changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.records.examples import make_record
from xharness.errors import InputError
from xharness.records.store import read_record, read_records, write_record


def test_record_reads_back_equal(tmp_path: Path) -> None:
    record = make_record()
    path = write_record(record, tmp_path / "records")
    assert path.name == "xnli-seed-1.json"
    assert read_record(path) == record.sealed()


def test_timings_are_not_part_of_the_digest() -> None:
    record = make_record()
    assert (
        record.digest() == record.model_copy(update={"timings": {"predict_seconds": 3.0}}).digest()
    )
    assert record.digest() != record.model_copy(update={"seed": 2}).digest()


def test_figure_changed_by_hand_is_found(tmp_path: Path) -> None:
    path = write_record(make_record(), tmp_path)
    raw = json.loads(path.read_text(encoding="utf-8"))
    raw["score"] = 99.0
    path.write_text(json.dumps(raw), encoding="utf-8")
    with pytest.raises(InputError, match="changed by hand"):
        read_record(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no readable record"),
        ("[]", "schema version None"),
        ('{"schema_version": 9}', "schema version 9, this xharness reads 1"),
        ('{"schema_version": 1}', "suite: Field required"),
    ],
)
def test_unusable_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_record(path)


def test_records_come_from_run_folders_and_files(tmp_path: Path) -> None:
    write_record(make_record(), tmp_path / "run" / "records")
    file = write_record(make_record(seed=2), tmp_path / "other")
    assert [record.seed for record in read_records([tmp_path / "run", file])] == [1, 2]
    with pytest.raises(InputError, match="no record here"):
        read_records([tmp_path])
