"""Names of data sets on the hub, as the task specifications and the records' origins give them."""

from __future__ import annotations

import pytest

from tests.export.exported_records import COMMIT, make_full_record
from xharness.errors import InputError
from xharness.export.datasets import DatasetPart, common_part, part_of_language, spec_of
from xharness.records.record import LanguageResult, Record


def part(record: Record, language: str) -> DatasetPart:
    return part_of_language(record, spec_of(record), language)


@pytest.mark.parametrize(
    ("task", "language", "expected"),
    [
        ("panx", "de", DatasetPart("google/xtreme", "PAN-X.de", "test")),
        ("udpos", "de", DatasetPart("google/xtreme", "udpos.German", "test")),
        ("xnli", "sw", DatasetPart("google/xtreme", "XNLI", "test", rows={"language": "sw"})),
        ("mlqa", "zh", DatasetPart("google/xtreme", "MLQA.zh.zh", "test")),
        ("xquad", "zh", DatasetPart("google/xtreme", "XQuAD.zh", "validation")),
        (
            "tydiqa",
            "fi",
            DatasetPart("google/xtreme", "tydiqa", "validation", rows={"id_prefix": "finnish-"}),
        ),
        ("bucc2018", "zh", DatasetPart(None, split="test")),
    ],
)
def test_files_carry_the_name_that_the_specification_gives(
    task: str, language: str, expected: DatasetPart
) -> None:
    assert part(make_full_record(task), language) == expected


def test_rows_from_the_hub_carry_what_was_read() -> None:
    found = part(make_full_record("panx", hub=True), "de")
    assert found == DatasetPart("google/xtreme", "c", "test", COMMIT, from_hub=True)


def test_a_local_copy_has_no_revision() -> None:
    record = make_full_record("panx", hub=True)
    origin = {**record.data.test["de"], "revision": "sha256:" + "0" * 64}
    data = record.data.model_copy(update={"test": {"de": origin}})
    assert part(record.model_copy(update={"data": data}), "de").revision is None


def test_a_stand_in_carries_its_own_split() -> None:
    record = make_full_record("panx")
    stand_in = LanguageResult(
        status="scored", figures=record.languages["en"].figures, stand_in="dev"
    )
    languages = {**record.languages, "en": stand_in}
    found = part(record.model_copy(update={"languages": languages}), "en")
    assert (found.config, found.split) == ("PAN-X.en", "validation")


def test_a_mean_carries_what_all_languages_share() -> None:
    record = make_full_record("panx")
    assert common_part([part(record, "de"), part(record, "sw")]) == DatasetPart(
        "google/xtreme", None, "test"
    )


def test_an_unreadable_specification_is_named() -> None:
    record = make_full_record().model_copy(update={"spec": {"name": "xnli"}})
    with pytest.raises(InputError, match=r"xnli seed 1 holds a specification .* title: Field"):
        spec_of(record)
