"""Files of ``.eval_results``: against the schema, and read back by the hub's own client."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from huggingface_hub import EvalResultEntry, parse_eval_result_entries

from tests.export.exported_records import COMMIT, check_schema, make_full_record
from xharness.export.eval_results import eval_results_files
from xharness.export.options import ExportOptions
from xharness.export.results import collect
from xharness.records.record import Record


def exported(*records: Record, **options: Any) -> dict[str, list[EvalResultEntry]]:
    """Return the entries by file, each file checked."""
    texts, _ = eval_results_files(collect(records), ExportOptions(**options))
    found = {}
    for path, text in texts.items():
        content = yaml.safe_load(text)
        check_schema("eval_results", content)
        found[str(path)] = parse_eval_result_entries(content)
    return found


def test_a_task_is_a_file_with_the_mean_and_each_language() -> None:
    files = exported(make_full_record("panx", value=61.5), make_full_record("xnli", value=70.0))
    assert list(files) == [
        "m/.eval_results/xtreme_panx.yaml",
        "m/.eval_results/xtreme_xnli.yaml",
    ]
    mean, *languages = files["m/.eval_results/xtreme_xnli.yaml"]
    assert (mean.dataset_id, mean.task_id, mean.value) == ("google/xtreme", "xnli", 70.0)
    assert len(languages) == 15
    assert {"xnli_de", "xnli_sw"} < {entry.task_id for entry in languages}


def test_the_value_is_the_figure_that_enters_averages() -> None:
    ((mean, *_),) = exported(make_full_record("mlqa", value=60.0, second=70.0)).values()
    assert mean.value == 65.0
    assert mean.notes is not None
    assert mean.notes.startswith("mean of f1 and exact_match in percent; mean over 7 languages;")


def test_seeds_are_a_mean_with_their_deviation_in_the_notes() -> None:
    ((mean, *_),) = exported(
        make_full_record(seed=1, value=80.0), make_full_record(seed=2, value=84.0)
    ).values()
    assert mean.value == 82.0
    assert mean.notes is not None
    assert "standard deviation over seeds 2.83" in mean.notes  # sqrt(8)
    assert "mean of 2 seeds: 1, 2" in mean.notes


def test_holes_are_no_entries() -> None:
    ((first, *rest),) = exported(make_full_record("panx", holes=("th",))).values()
    names = {entry.task_id for entry in (first, *rest)}
    assert "panx" not in names
    assert "panx_th" not in names
    assert len(names) == 39


def test_date_source_and_revision() -> None:
    ((mean, *_),) = exported(
        make_full_record("panx", hub=True),
        date="2025-01-31",
        source_url="https://example.org/records",
    ).values()
    assert (mean.date, mean.dataset_revision) == ("2025-01-31", COMMIT)
    assert (mean.source_url, mean.source_name) == ("https://example.org/records", "xharness")
    assert mean.verify_token is None


def test_other_profiles_have_a_file_and_a_note_of_their_own() -> None:
    files = exported(make_full_record("panx", profile="strict"))
    ((path, (mean, *_)),) = files.items()
    assert path == "m/.eval_results/xtreme_panx_strict.yaml"
    assert "scoring profile strict: not comparable with official figures" in str(mean.notes)


def test_a_task_without_a_data_set_on_the_hub_is_left_out_by_name() -> None:
    models = collect([make_full_record("bucc2018"), make_full_record("xnli")])
    texts, left_out = eval_results_files(models, ExportOptions())
    assert [path.name for path in texts] == ["xtreme_xnli.yaml"]
    assert left_out == ["m BUCC 2018 (no data set on the hub)"]


def test_a_data_set_can_be_given_for_those() -> None:
    models = collect([make_full_record("bucc2018"), make_full_record("xnli")], "me/bucc")
    texts, left_out = eval_results_files(models, ExportOptions())
    ids = {
        path.name: {entry["dataset"]["id"] for entry in yaml.safe_load(text)}
        for path, text in texts.items()
    }
    assert ids == {"xtreme_bucc2018.yaml": {"me/bucc"}, "xtreme_xnli.yaml": {"google/xtreme"}}
    assert left_out == []


@pytest.mark.parametrize("missing", ["id", "task_id"])
def test_the_schema_refuses_what_the_hub_refuses(missing: str) -> None:
    entry: dict[str, Any] = {"dataset": {"id": "a/b", "task_id": "t"}, "value": 1.0}
    check_schema("eval_results", [entry])
    del entry["dataset"][missing]
    with pytest.raises(AssertionError, match="is a required property"):
        check_schema("eval_results", [entry])
