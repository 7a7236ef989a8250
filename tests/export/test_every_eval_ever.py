"""Every Eval Ever 0.3.0: schema, layout, identity, scale and uncertainty."""

from __future__ import annotations

import copy
import json
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

import pytest

from tests.export.exported_records import COMMIT, check_schema, make_full_record
from xharness.export.every_eval_ever import every_eval_ever_files
from xharness.export.options import ExportOptions
from xharness.export.results import collect
from xharness.records.record import Record

NOW = 1_700_000_000.0


def files(*records: Record, now: float = NOW, **options: Any) -> dict[PurePosixPath, str]:
    texts, _ = every_eval_ever_files(collect(records), ExportOptions(**options), now)
    return texts


def log(*records: Record, **options: Any) -> Any:
    (text,) = files(*records, **options).values()
    content = json.loads(text)
    check_schema("every_eval_ever", content)
    return content


def result(content: Any, identifier: str) -> Any:
    (found,) = [r for r in content["evaluation_results"] if r["evaluation_result_id"] == identifier]
    return found


def test_all_tasks_of_a_suite_are_one_file_in_the_data_stores_layout() -> None:
    ((path, text),) = files(make_full_record(), make_full_record("panx"), developer="me").items()
    assert path.parts[:4] == ("data", "xtreme", "me", "m")
    # The data store takes file names of UUID version 4 and variant 1 only.
    name = UUID(path.stem)
    assert (name.version, str(name), path.suffix) == (4, path.stem, ".json")
    content = json.loads(text)
    check_schema("every_eval_ever", content)
    # Mean and 15 languages of accuracy; mean and 40 languages of three figures.
    assert len(content["evaluation_results"]) == 16 + 41 * 3


def test_the_same_records_give_the_same_bytes() -> None:
    records = [make_full_record(seed=1), make_full_record(seed=2, value=60.0)]
    assert files(*records) == files(*reversed(records))


def test_identity_follows_the_records_and_not_the_clock() -> None:
    one, later = files(make_full_record()), files(make_full_record(), now=NOW + 60)
    assert list(one) == list(later)
    contents = [json.loads(text) for found in (one, later) for text in found.values()]
    assert contents[0]["evaluation_id"] == contents[1]["evaluation_id"]
    assert [c["retrieved_timestamp"] for c in contents] == ["1700000000", "1700000060"]
    assert list(files(make_full_record(value=51.0))) != list(one)


def test_a_date_replaces_the_clock() -> None:
    content = log(make_full_record(), date="2025-01-31T00:00:00Z")
    assert content["retrieved_timestamp"] == "1738281600"  # date -u -d 2025-01-31 +%s
    assert content["evaluation_timestamp"] == "2025-01-31T00:00:00Z"


def test_scores_are_proportions_and_the_percentage_is_kept() -> None:
    found = result(log(make_full_record(value=81.25)), "xtreme.xnli.de.accuracy")
    assert found["score_details"]["score"] == 0.8125
    assert found["score_details"]["details"]["percent"] == "81.25"
    assert found["score_details"]["details"]["count_examples"] == "200"
    assert "uncertainty" not in found["score_details"]


def test_uncertainty_is_that_of_the_seeds() -> None:
    records = [make_full_record(seed=1, value=80.0), make_full_record(seed=2, value=84.0)]
    details = result(log(*records), "xtreme.xnli.accuracy")["score_details"]
    assert details["score"] == 0.82
    uncertainty = details["uncertainty"]
    assert uncertainty["num_samples"] == 2
    assert uncertainty["standard_deviation"] == pytest.approx(0.08**0.5 / 10)  # sqrt(8) / 100
    assert uncertainty["standard_error"]["value"] == pytest.approx(0.02)  # sqrt(8) / sqrt(2) / 100
    assert "seeds" in uncertainty["standard_error"]["method"]


def test_seeds_from_runs_of_their_own_show_each_run() -> None:
    one, other = make_full_record(seed=1, command="a"), make_full_record(seed=2, command="b")
    counts = {"examples": 200, "unanswered": 3}
    german = other.languages["de"].model_copy(update={"counts": counts})
    languages = {**other.languages, "de": german}
    content = log(one, other.model_copy(update={"languages": languages}))
    found = result(content, "xtreme.xnli.de.accuracy")
    assert found["generation_config"]["generation_args"]["execution_command"] == "a && b"
    assert found["score_details"]["details"]["count_unanswered"] == "0, 3"
    assert found["score_details"]["details"]["count_examples"] == "200"


def test_holes_are_no_results() -> None:
    content = log(make_full_record("panx", holes=("th",)))
    names = {r["evaluation_name"] for r in content["evaluation_results"]}
    assert len(names) == 39
    assert not names & {"xtreme.panx", "xtreme.panx.th"}


def test_the_data_set_is_the_hubs_only_where_its_rows_were_read() -> None:
    hub = result(log(make_full_record("panx", hub=True)), "xtreme.panx.de.f1")["source_data"]
    assert (hub["source_type"], hub["hf_repo"], hub["hf_split"]) == (
        "hf_dataset",
        "google/xtreme",
        "test",
    )
    assert (hub["samples_number"], hub["additional_details"]["revision"]) == (200, COMMIT)
    read = result(log(make_full_record("panx")), "xtreme.panx.de.f1")["source_data"]
    assert read["source_type"] == "other"
    assert read["additional_details"]["same_data_on_the_hub"] == "google/xtreme"
    assert read["additional_details"]["sha256:panx/test-de.tsv"] == "f" * 64


def test_pos_f1_is_no_global_metric() -> None:
    content = log(make_full_record("udpos"), make_full_record("panx"))
    assert result(content, "xtreme.udpos.de.f1")["metric_config"]["metric_id"] == "xtreme.pos_f1"
    accuracy = result(content, "xtreme.udpos.de.accuracy")["metric_config"]["metric_id"]
    assert accuracy == "accuracy"
    assert result(content, "xtreme.panx.de.f1")["metric_config"]["metric_id"] == "f1"


@pytest.mark.parametrize(
    ("model", "options", "expected", "availability"),
    [
        (
            {"reference": "FacebookAI/xlm-roberta-base", "revision": COMMIT},
            {},
            "FacebookAI/xlm-roberta-base",
            "open_weights",
        ),
        ({"reference": "/home/me/ckpt", "revision": None}, {}, "unspecified/m", "unknown"),
        ({"reference": "runs/ckpt", "revision": None}, {"developer": "me"}, "me/m", "unknown"),
    ],
)
def test_model_identity(
    model: dict[str, Any], options: dict[str, Any], expected: str, availability: str
) -> None:
    info = {"name": "m", "weights_sha256": "1" * 64, "adapter": "transformers", **model}
    content = log(make_full_record(model=info), **options)
    assert content["model_info"]["id"] == expected
    assert content["model_info"]["additional_details"]["model_availability"] == availability
    assert content["model_info"]["inference_engine"] == {
        "name": "transformers",
        "version": "5.0.0",
    }
    assert "/home/me" not in json.dumps(content)


def test_unknown_developer_is_said() -> None:
    _, remarks = every_eval_ever_files(collect([make_full_record()]), ExportOptions(), NOW)
    assert remarks == ["m: developer not known, give --developer"]


def test_profiles_and_suites_are_files_of_their_own() -> None:
    paths = files(
        make_full_record(),
        make_full_record(profile="strict"),
        make_full_record(suite="xtreme-r"),
    )
    assert sorted(path.parts[1] for path in paths) == ["xtreme", "xtreme", "xtreme-r"]


def test_a_name_cannot_leave_its_folder() -> None:
    info = {"name": "../../<script>", "weights_sha256": "1" * 64}
    ((path, text),) = files(make_full_record(model=info), developer="..").items()
    assert path.parts[:4] == ("data", "xtreme", "_", "_..__script_")
    assert json.loads(text)["model_info"]["name"] == "../../<script>"


@pytest.mark.parametrize(
    ("where", "key", "value"),
    [
        ((), "schema_version", "0.2.2"),
        (("model_info", "additional_details"), "deployment_type", "local"),
        (("evaluation_results", 0, "score_details"), "score", 73.4),
        (("evaluation_results", 0, "score_details", "details"), "count", 3),
        (("evaluation_results", 0, "source_data"), "source_type", "hf_dataset"),
    ],
)
def test_the_schema_refuses_what_the_data_store_refuses(
    where: tuple[str | int, ...], key: str, value: object
) -> None:
    content = copy.deepcopy(log(make_full_record()))
    place = content
    for step in where:
        place = place[step]
    place[key] = value
    with pytest.raises(AssertionError):
        check_schema("every_eval_ever", content)
