"""The verb, from the files of a real run to the files of each format."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.export.exported_records import check_schema, make_full_record
from xharness.errors import InputError
from xharness.export.command import FORMATS, export_records
from xharness.export.options import ExportOptions
from xharness.records.store import read_records, write_record

OPTIONS = ExportOptions(date="2025-01-31", developer="me", dataset="me/sample")


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_run_in_every_format(finished: Path, tmp_path: Path) -> None:
    records = {record.task: record for record in read_records([finished])}
    german = records["sample_nli"].languages["de"].figures["accuracy"]
    for to in FORMATS:
        report = export_records([finished], to, tmp_path / to, OPTIONS)
        assert sorted(report.files) == sorted(p for p in (tmp_path / to).rglob("*") if p.is_file())
        assert report.warnings() == []
    front = (tmp_path / "model-index/sample/README.md").read_text(encoding="utf-8")
    card = yaml.safe_load(front.split("---\n", 2)[1])
    check_schema("model_index", card)
    values = {
        metric["name"]: metric["value"]
        for result in card["model-index"][0]["results"]
        for metric in result["metrics"]
    }
    assert values["Accuracy, Inference (de)"] == german
    entries = yaml.safe_load(
        (tmp_path / "eval-results/sample/.eval_results/sample_sample_nli.yaml").read_text("utf-8")
    )
    check_schema("eval_results", entries)
    assert {e["dataset"]["task_id"]: e["value"] for e in entries}["sample_nli_de"] == german
    assert "tested on at most 5 examples a language" in entries[0]["notes"]
    (path,) = (tmp_path / "every-eval-ever/data/sample/me/sample").glob("*.json")
    log = json.loads(path.read_text("utf-8"))
    check_schema("every_eval_ever", log)
    scores = {
        result["evaluation_result_id"]: float(result["score_details"]["details"]["percent"])
        for result in log["evaluation_results"]
    }
    assert scores["sample.sample_nli.de.accuracy"] == german


@pytest.mark.parametrize("to", FORMATS)
def test_the_same_records_give_the_same_files(finished: Path, tmp_path: Path, to: str) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    export_records([finished], to, first, OPTIONS)
    export_records(sorted((finished / "records").glob("*.json")), to, second, OPTIONS)
    assert contents(first) == contents(second) != {}


@pytest.mark.parametrize("to", FORMATS)
def test_holes_are_counted_and_named(tmp_path: Path, to: str) -> None:
    write_record(make_full_record("panx", holes=("th",)), tmp_path / "records")
    report = export_records([tmp_path], to, tmp_path / "out", OPTIONS)
    assert report.warnings() == [
        "hole, not exported: m NER th (no data)",
        "hole, not exported: m NER mean over languages (a language is missing)",
        "2 holes not exported",
    ]


def test_what_a_format_cannot_hold_is_named(tmp_path: Path) -> None:
    for task in ("bucc2018", "xnli"):
        write_record(make_full_record(task), tmp_path)
    report = export_records([tmp_path], "eval-results", tmp_path / "out", ExportOptions())
    assert report.warnings() == ["not exported: m BUCC 2018 (no data set on the hub)"]


@pytest.mark.parametrize("to", FORMATS)
def test_holes_alone_are_an_error(tmp_path: Path, to: str) -> None:
    languages = ("de", "fr", "ru", "zh")
    write_record(make_full_record("bucc2018", holes=languages), tmp_path)
    with pytest.raises(InputError, match=r"no figure .*: hole: m BUCC 2018 de \(no data\)"):
        export_records([tmp_path], to, tmp_path / "out", OPTIONS)
    assert not (tmp_path / "out").exists()


def test_a_data_set_is_asked_for_where_the_format_needs_one(tmp_path: Path) -> None:
    write_record(make_full_record("bucc2018"), tmp_path)
    with pytest.raises(InputError, match="--dataset OWNER/NAME"):
        export_records([tmp_path], "eval-results", tmp_path / "out", ExportOptions())


def test_nothing_is_written_from_a_record_that_was_changed(tmp_path: Path) -> None:
    write_record(make_full_record(), tmp_path)
    path = write_record(make_full_record("panx"), tmp_path)
    path.write_text(path.read_text("utf-8").replace("50.0", "99.0"), "utf-8")
    with pytest.raises(InputError, match="changed by hand"):
        export_records([tmp_path], "model-index", tmp_path / "out", OPTIONS)
    assert not (tmp_path / "out").exists()


def test_models_that_would_share_a_folder_are_refused(tmp_path: Path) -> None:
    for number, name in enumerate(("a/b", "A_b"), start=1):
        info = {"name": name, "weights_sha256": str(number) * 64}
        write_record(make_full_record(seed=number, model=info), tmp_path)
    with pytest.raises(InputError, match="would be another model's too"):
        export_records([tmp_path], "model-index", tmp_path / "out", OPTIONS)


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'model-index'"):
        export_records([tmp_path], "model_index", tmp_path / "out", OPTIONS)


def test_no_torch_and_no_network_library_is_loaded() -> None:
    program = (
        "import sys\n"
        "import xharness.export.command\n"
        "heavy = {'torch', 'transformers', 'datasets', 'huggingface_hub', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
