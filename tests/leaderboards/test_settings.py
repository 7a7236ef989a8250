"""Records of several protocols in one table: rows of their own, and what may differ between them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.records.examples import make_record
from xharness.errors import InputError
from xharness.leaderboards.parquet import tidy_cells
from xharness.leaderboards.rendering import markdown, terminal
from xharness.leaderboards.table import build_tables
from xharness.records.record import Record
from xharness.records.store import read_record, write_record
from xharness.runs.plan import spec_digest
from xharness.specs.registry import benchmark_of_suite, load
from xharness.specs.task import TaskSpec

XTREME = benchmark_of_suite("xtreme")


def of_protocol(name: str, value: float, english: float, **changes: object) -> Record:
    """Return a record of a shipped protocol: one value in English, another in the other languages."""
    task = load(TaskSpec, name)
    record = make_record(task.name, figures={**dict.fromkeys(task.languages, value), "en": english})
    setting = None if task.protocol.kind == "zero_shot" else task.protocol.setting
    content = {
        "spec": task.model_dump(mode="json", exclude_defaults=True),
        "spec_sha256": spec_digest(task),
        "protocol": record.protocol.model_copy(update={"setting": setting}),
        **changes,
    }
    return record.model_copy(update=content)


ZERO_SHOT = of_protocol("panx", 50.0, 80.0)
FEW_SHOT = of_protocol("panx_few_shot", 60.0, 80.0)
IN_LANGUAGE = of_protocol("panx_in_language", 85.0, 81.0)


def test_each_setting_is_a_row_with_its_own_gap() -> None:
    tables = build_tables([ZERO_SHOT, FEW_SHOT, IN_LANGUAGE], XTREME)
    rows = {row.setting: row for row in tables.by_task["panx"].rows}
    # English minus the mean of the 39 others.
    gaps = {setting: row.gap.value for setting, row in rows.items() if row.gap is not None}
    assert gaps == pytest.approx(
        {"zero-shot": 30.0, "few-shot, 100 examples": 20.0, "in-language": -4.0}
    )
    assert rows["zero-shot"].cells["de"].value == 50.0
    assert rows["in-language"].cells["de"].value == 85.0
    assert rows["in-language"].cells["en"].value == 81.0
    assert {row.setting for row in tables.tasks.rows} == rows.keys()
    assert all(len(row.records) == 1 for row in tables.tasks.rows)


def test_setting_stands_beside_the_model_and_in_every_figure() -> None:
    records = [ZERO_SHOT, FEW_SHOT]
    tables = build_tables(records, XTREME)
    for text in (terminal(tables), markdown(tables)):
        assert "m, few-shot, 100 examples" in text
    assert "### m, few-shot, 100 examples" in markdown(tables)
    assert {
        (cell.setting, cell.value) for cell in tidy_cells(records, []) if cell.language == "de"
    } == {
        ("zero-shot", 50.0),
        ("few-shot, 100 examples", 60.0),
    }


def test_notes_name_the_row_that_they_are_about() -> None:
    limited = FEW_SHOT.model_copy(
        update={"protocol": FEW_SHOT.protocol.model_copy(update={"limit": 50})}
    )
    notes = build_tables([ZERO_SHOT, limited], XTREME).tasks.notes
    assert ("NER: tested on at most 50 examples a language (m, few-shot, 100 examples)") in notes


def test_two_records_of_one_setting_are_refused() -> None:
    with pytest.raises(InputError, match="two records of m, few-shot, 100 examples on panx"):
        build_tables([FEW_SHOT, FEW_SHOT.model_copy(update={"score": 1.0})], XTREME)


def test_other_shots_under_one_name_are_refused() -> None:
    spec = dict(FEW_SHOT.spec)
    spec["protocol"] = {**spec["protocol"], "seed": 7}
    other = FEW_SHOT.model_copy(update={"spec": spec, "model": {**FEW_SHOT.model, "name": "other"}})
    with pytest.raises(InputError, match="NER: the protocol differs between m seed 1 and other"):
        build_tables([FEW_SHOT, other], XTREME)


def test_another_task_under_another_protocol_is_refused() -> None:
    """A protocol may differ between rows; labels, languages and sources may not."""
    changed = {**FEW_SHOT.spec, "labels": ["O", "B-PER"]}
    with pytest.raises(InputError, match="NER: the specification differs"):
        build_tables([ZERO_SHOT, FEW_SHOT.model_copy(update={"spec": changed})], XTREME)


def test_translations_beside_the_same_gold_are_no_other_data() -> None:
    def with_origin(record: Record, origin: dict[str, str]) -> Record:
        data = record.data.model_copy(update={"test": {"de": origin}})
        return record.model_copy(update={"data": data})

    gold = {"xnli/test-de.tsv": "a" * 64}
    plain = with_origin(of_protocol("xnli", 50.0, 80.0), gold)
    beside = {**gold, "translated xnli/de-en.tsv": "b" * 64}
    translated = of_protocol("xnli_translate_test", 70.0, 80.0)
    tables = build_tables([plain, with_origin(translated, beside)], XTREME)
    assert {row.setting for row in tables.tasks.rows} == {"zero-shot", "translate-test"}
    other_gold = {"xnli/test-de.tsv": "c" * 64, "translated xnli/de-en.tsv": "b" * 64}
    with pytest.raises(InputError, match="the data of de differs"):
        build_tables([plain, with_origin(translated, other_gold)], XTREME)


def test_setting_is_in_the_file_of_its_record_alone(tmp_path: Path) -> None:
    """Zero-shot records are written as before there were settings, so their digests hold."""
    path = write_record(ZERO_SHOT, tmp_path / "zero-shot")
    assert '"setting"' not in path.read_text(encoding="utf-8")
    assert read_record(path) == ZERO_SHOT.sealed()
    path = write_record(FEW_SHOT, tmp_path / "few-shot")
    assert read_record(path).setting == "few-shot, 100 examples"
    assert (
        FEW_SHOT.digest() != FEW_SHOT.model_copy(update={"protocol": ZERO_SHOT.protocol}).digest()
    )
