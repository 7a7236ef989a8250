"""Model cards: against the schema, and read back by the hub's own client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import EvalResult, ModelCard
from huggingface_hub.repocard_data import model_index_to_eval_results

from tests.export.exported_records import COMMIT, check_schema, make_full_record
from xharness.export.model_index import model_card, model_card_files
from xharness.export.options import ExportOptions
from xharness.export.results import ModelResults, collect

OPTIONS = ExportOptions(source_url="https://example.org/records")


def models(name: str = "m") -> ModelResults:
    info = {"name": name, "weights_sha256": "1" * 64}
    records = [
        make_full_record(seed=1, value=80.0, model=info),
        make_full_record(seed=2, value=84.0, model=info),
        make_full_record("panx", value=61.5, holes=("th",), hub=True, model=info),
        make_full_record("xquad", value=60.0, second=70.0, model=info),
        make_full_record("bucc2018", value=90.0, model=info),
        make_full_record("panx", value=59.0, profile="strict", hub=True, model=info),
    ]
    return collect(records)[0]


def front_matter(card: str) -> Any:
    _, content, _ = card.split("---\n", 2)
    return yaml.safe_load(content)


def evaluations(tmp_path: Path) -> list[EvalResult]:
    path = tmp_path / "README.md"
    path.write_text(model_card(models(), OPTIONS), encoding="utf-8")
    results: list[EvalResult] | None = ModelCard.load(path).data.eval_results
    assert results is not None
    return results


def test_front_matter_fits_the_schema() -> None:
    check_schema("model_index", front_matter(model_card(models(), OPTIONS)))


def test_the_hubs_client_reads_every_figure(tmp_path: Path) -> None:
    found = evaluations(tmp_path)
    # Mean and 15 languages of XNLI; 39 languages of PAN-X by 3 figures, the mean being a hole; the same with 40
    # languages and a mean under the strict profile; 12 of XQuAD by 2 figures; 5 of BUCC by 3.
    assert len(found) == 16 + 39 * 3 + 41 * 3 + 12 * 2 + 5 * 3
    assert len({result.metric_name for result in found}) == len(found)
    (german,) = [r for r in found if r.metric_name == "F1, XQuAD (de)"]
    assert german.metric_value == 70.0
    assert german.task_type == "question-answering"
    assert (german.dataset_type, german.dataset_config) == ("google/xtreme", "XQuAD.de")
    assert german.source_url == "https://example.org/records"


def test_nothing_is_lost_when_the_client_writes_the_card_again(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(model_card(models(), OPTIONS), encoding="utf-8")
    again = yaml.safe_load(ModelCard.load(path).data.to_yaml())
    _, results = model_index_to_eval_results(again["model-index"])
    before = {result.metric_name: result.metric_value for result in evaluations(tmp_path)}
    assert {result.metric_name: result.metric_value for result in results} == before


def test_seeds_deviation_and_notes_are_in_the_args(tmp_path: Path) -> None:
    (mean,) = [
        r
        for r in evaluations(tmp_path)
        if r.metric_name == "Accuracy, XNLI (mean over 15 languages)"
    ]
    assert mean.metric_value == 82.0
    assert mean.metric_args is not None
    assert mean.metric_args["seeds"] == [1, 2]
    assert mean.metric_args["standard_deviation"] == pytest.approx(8**0.5)
    assert "read from files" in mean.metric_args["notes"]
    # XNLI's languages share one configuration of the hub, so the mean has it too, but no single language's rows.
    assert (mean.dataset_config, mean.dataset_args) == ("XNLI", None)


def test_the_revision_is_the_commit_that_was_read(tmp_path: Path) -> None:
    found = evaluations(tmp_path)
    assert {r.dataset_revision for r in found if "NER" in str(r.metric_name)} == {COMMIT}
    assert {r.dataset_revision for r in found if "XNLI" in str(r.metric_name)} == {None}


def test_other_profiles_show_in_the_name(tmp_path: Path) -> None:
    found = {r.metric_name: r.metric_value for r in evaluations(tmp_path)}
    assert found["F1, NER (de)"] == 61.5
    assert found["F1, NER (de), profile strict"] == 59.0


def test_holes_are_said_in_the_text() -> None:
    text = model_card(models(), OPTIONS).split("---\n", 2)[2]
    assert "- no figure: NER th (no data)" in text


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a\n---\nb: c", "- [x]: {y}", "数"])
def test_untrusted_names_stay_text(name: str, tmp_path: Path) -> None:
    ((path, text),) = model_card_files((models(name),), OPTIONS).items()
    assert len(path.parts) == 2
    card = tmp_path / "README.md"
    card.write_text(text, encoding="utf-8")
    data = ModelCard.load(card).data
    assert data.model_name == name


def test_notes_are_escaped() -> None:
    record = make_full_record()
    data = record.data.model_copy(update={"notes": ("<img src=x> *odd*",)})
    (model,) = collect([record.model_copy(update={"data": data})])
    text = model_card(model, OPTIONS).split("---\n", 2)[2]
    assert "&lt;img src=x&gt; \\*odd\\*" in text
    assert "<img" not in text


def test_a_model_of_holes_alone_has_no_card() -> None:
    record = make_full_record("bucc2018", holes=("de", "fr", "ru", "zh"))
    assert model_card_files(collect([record]), OPTIONS) == {}
