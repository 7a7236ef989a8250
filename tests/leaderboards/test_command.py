"""The leaderboard verb: what it writes, and that it writes nothing where something is wrong."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from tests.records.examples import make_record
from xharness.errors import InputError
from xharness.leaderboards.command import LeaderboardCommand
from xharness.leaderboards.files import FORMATS, parse_formats
from xharness.leaderboards.writing import write_all
from xharness.records.record import Record
from xharness.records.store import write_record
from xharness.specs.registry import benchmark_of_suite, load
from xharness.specs.task import TaskSpec

XTREME = benchmark_of_suite("xtreme")


def run_folder(path: Path, *records: Record) -> Path:
    for record in records:
        write_record(record, path / "records")
    return path


def command(output: Path, *records: Path, **changes: Any) -> LeaderboardCommand:
    options: dict[str, Any] = {
        "records": records,
        "suite": None,
        "published": False,
        "output": output,
        "formats": "md,csv,latex,json",
        "mixed": False,
    }
    return LeaderboardCommand(**{**options, **changes})


def rows_of(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def test_every_table_in_every_format_lies_where_it_should(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_folder(tmp_path / "run", *(make_record(t.name) for t in XTREME.tasks))
    output = tmp_path / "out"
    formats = "md,html,csv,latex,json,parquet"
    command(output, run, formats=formats).execute()
    names = ["tasks", "categories", *(task.name for task in XTREME.tasks)]
    expected = {f"xtreme/{n}.{e}" for n in names for e in ("md", "csv", "json", "tex")}
    expected |= {"index.html", "cells.parquet"}
    found = {p.relative_to(output).as_posix() for p in output.rglob("*") if p.is_file()}
    assert found == expected
    (row,) = rows_of(output / "xtreme/tasks.json")
    assert (row["model"], row["average"], row["cells"]["xnli"]) == ("m", 50.0, 50.0)
    assert "<script>" not in (output / "xtreme/tasks.md").read_text(encoding="utf-8")
    cells = pyarrow.parquet.read_table(BytesIO((output / "cells.parquet").read_bytes()))
    assert cells.num_rows == sum(
        len(t.languages) * len(t.score_figures("official")) for t in XTREME.tasks
    )
    assert capsys.readouterr().out == f"{output}: 46 files of xtreme, 9 records\n"


def test_published_rows_alone_give_every_suite_that_has_some(tmp_path: Path) -> None:
    command(tmp_path, published=True, formats="json").execute()
    assert {p.name for p in tmp_path.iterdir()} == {"xtreme", "xtreme-seven", "xtreme-r"}
    rembert = next(
        r for r in rows_of(tmp_path / "xtreme-seven/tasks.json") if r["model"] == "RemBERT"
    )
    assert rembert["average"] == pytest.approx(74.39, abs=0.005)
    assert rembert["averages"]["categories"] == pytest.approx(75.36, abs=0.005)


def test_own_records_stand_beside_published_rows(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run", *(make_record(t.name) for t in XTREME.tasks))
    command(tmp_path / "out", run, suite="xtreme-seven", published=True, formats="json").execute()
    rows = rows_of(tmp_path / "out/xtreme-seven/tasks.json")
    assert rows[0]["model"] == "FILTER"
    own = next(row for row in rows if row["model"] == "m")
    assert (own["source"], own["average"], own["ranks"]["average"]) == (None, 50.0, 7)


def test_the_records_of_a_finished_run_make_a_table(finished: Path, tmp_path: Path) -> None:
    command(tmp_path, finished, formats="all").execute()
    (row,) = rows_of(tmp_path / "sample/tasks.json")
    records = [
        json.loads(p.read_text(encoding="utf-8")) for p in (finished / "records").glob("*.json")
    ]
    scores = {record["task"]: record["score"] for record in records}
    assert row["cells"] == scores
    assert row["average"] == pytest.approx(sum(scores.values()) / len(scores))
    assert (tmp_path / "sample/heatmap-own-sample.svg").is_file()


def test_a_suite_of_ones_own_is_made_anew_from_its_records(tmp_path: Path) -> None:
    spec = load(TaskSpec, "xnli").model_dump(mode="json", exclude_defaults=True)
    record = make_record().model_copy(update={"suite": "mine", "spec": spec})
    command(tmp_path / "out", run_folder(tmp_path / "run", record), formats="json").execute()
    (row,) = rows_of(tmp_path / "out/mine/tasks.json")
    assert (row["cells"], row["average"]) == ({"xnli": 50.0}, None)


def test_records_of_other_tasks_are_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_folder(tmp_path / "run", make_record(), make_record("tatoeba"))
    command(tmp_path / "out", run, suite="xtreme-seven", formats="md").execute()
    assert "1 records of other tasks left out" in capsys.readouterr().err


def test_a_record_that_is_given_twice_is_read_once(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run", make_record())
    command(tmp_path / "out", run, tmp_path / "run", formats="json").execute()
    assert len(rows_of(tmp_path / "out/xtreme/tasks.json")) == 1


def edited(path: Path) -> None:
    raw = json.loads(path.read_text(encoding="utf-8"))
    raw["score"] = 99.0
    path.write_text(json.dumps(raw), encoding="utf-8")


def of_another_schema(path: Path) -> None:
    raw = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**raw, "schema_version": 2}), encoding="utf-8")


def disagreeing(path: Path) -> None:
    figures: dict[str, float | None] = dict.fromkeys(XTREME.task("xnli").languages, 60.0)
    record = make_record(figures=figures).sealed()
    path.with_name("again.json").write_text(record.model_dump_json(), encoding="utf-8")


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (edited, "changed by hand"),
        (of_another_schema, "schema version 2, this xharness reads 1"),
        (disagreeing, r"seed 1 that disagree: 60\.00 and 50\.00"),
    ],
)
def test_nothing_is_written_where_a_record_is_not_usable(
    tmp_path: Path, harm: Any, message: str
) -> None:
    run = run_folder(tmp_path / "run", make_record(), make_record("pawsx"))
    harm(run / "records/xnli-seed-1.json")
    with pytest.raises(InputError, match=message):
        command(tmp_path / "out", run, published=True).execute()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"formats": "md,xls"}, "--format: no format 'xls'"),
        ({"formats": " , "}, "--format: no format given"),
        ({"suite": "xtrem"}, "no suite named 'xtrem'"),
        ({"suite": "sample"}, "no result is of a task of sample"),
        ({"records": ()}, "there are no records"),
    ],
)
def test_wrong_use_is_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    run = run_folder(tmp_path / "run", make_record())
    with pytest.raises(InputError, match=message):
        command(tmp_path / "out", run, **changes).execute()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("suite", ["../../outside", "/tmp/x", "a/b", "", "A", "."])
def test_a_suite_name_in_a_record_never_leads_out_of_the_folder(tmp_path: Path, suite: str) -> None:
    record = make_record().model_copy(update={"suite": suite})
    with pytest.raises(InputError, match="is no name of a suite"):
        command(tmp_path / "out", run_folder(tmp_path / "run", record)).execute()


def test_a_failing_write_leaves_what_was_there(tmp_path: Path) -> None:
    write_all(tmp_path, {"a.md": b"old", "b.md": b"old"})
    (tmp_path / "c").write_text("in the way", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        write_all(tmp_path, {"a.md": b"new", "b.md": b"new", "c/d.md": b"new"})
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {
        "a.md": b"old",
        "b.md": b"old",
        "c": b"in the way",
    }


def test_all_stands_for_every_format() -> None:
    assert parse_formats("all") == FORMATS
    assert parse_formats("md, csv,md") == ("md", "csv")
