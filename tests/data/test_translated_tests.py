"""Test data in English translation, scored against the gold of the originals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.data.files import write
from xharness.data.examples import ChoiceExample, PairExample
from xharness.data.sources import FileDataSource
from xharness.data.translated_tests import has_test_set, read_test_set
from xharness.errors import InputError
from xharness.specs.protocol import ProtocolFiles, TransferProtocol
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec

GERMAN = "ein Hund\tein Tier\tentailment\nein Hund\teine Katze\tcontradiction\n"
ENGLISH = "a dog\tan animal\tentailment\na dog\ta cat\tneutral\n"


def translated(name: str, pattern: str) -> TaskSpec:
    protocol = TransferProtocol(kind="translate_test", files=ProtocolFiles(test=pattern))
    task: TaskSpec = load(TaskSpec, name).model_copy(update={"protocol": protocol})
    return task


XNLI = translated("xnli", "xnli/{language}-en.tsv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "xnli" / "test-de.tsv", GERMAN)
    write(tmp_path / "xnli" / "de-en.tsv", ENGLISH)
    write(tmp_path / "xnli" / "test-en.tsv", "an original\tof its own\tneutral\n")
    write(tmp_path / "xnli" / "test-fr.tsv", GERMAN)
    return tmp_path


def test_sentences_are_the_translation_and_labels_the_originals(folder: Path) -> None:
    split = read_test_set(XNLI, "de", FileDataSource(folder), None)
    assert split.examples == [
        PairExample("1", "a dog", "an animal", "entailment"),
        PairExample("2", "a dog", "a cat", "contradiction"),
    ]
    # The second label of the translation's own is neutral: counted, not used.
    assert split.counts == {"translated labels_that_differ": 1}
    assert set(split.origin) == {"xnli/test-de.tsv", "translated xnli/de-en.tsv"}
    zero_shot = read_test_set(XNLI.zero_shot(), "de", FileDataSource(folder), None)
    assert split.origin["xnli/test-de.tsv"] == zero_shot.origin["xnli/test-de.tsv"]
    assert split.fingerprint != zero_shot.fingerprint


def test_translation_without_labels_will_do(folder: Path) -> None:
    write(folder / "xnli" / "de-en.tsv", "a dog\tan animal\na dog\ta cat\n")
    split = read_test_set(XNLI, "de", FileDataSource(folder), 1)
    assert split.examples == [PairExample("1", "a dog", "an animal", "entailment")]
    assert not split.counts


def test_english_is_tested_as_it_is(folder: Path) -> None:
    (example,) = read_test_set(XNLI, "en", FileDataSource(folder), None).examples
    assert example == PairExample("1", "an original", "of its own", "neutral")


def test_language_without_a_translation_cannot_be_tested(folder: Path) -> None:
    source = FileDataSource(folder)
    assert has_test_set(XNLI, "de", source)
    assert has_test_set(XNLI, "en", source)
    assert not has_test_set(XNLI, "fr", source)
    assert has_test_set(XNLI.zero_shot(), "fr", source)


@pytest.mark.parametrize("limit", [None, 1])
def test_another_number_of_rows_is_an_error_with_both_counts(
    folder: Path, limit: int | None
) -> None:
    write(folder / "xnli" / "de-en.tsv", ENGLISH + "one\tmore\tneutral\n")
    with pytest.raises(
        InputError,
        match=r"xnli/de-en\.tsv: 3 examples, where the test data of de have 2 \(a translation has",
    ):
        read_test_set(XNLI, "de", FileDataSource(folder), limit)


def choice(premise: str, number: int, label: int) -> str:
    row = {"premise": premise, "choice1": "one", "choice2": "two", "question": "cause"}
    return json.dumps({**row, "label": label, "idx": number}) + "\n"


def test_choices_keep_the_label_of_the_original(tmp_path: Path) -> None:
    task = translated("xcopa", "xcopa/translated.{language}.jsonl")
    write(tmp_path / "xcopa" / "test.et.jsonl", choice("yks", 0, 0) + choice("kaks", 1, 1))
    write(tmp_path / "xcopa" / "translated.et.jsonl", choice("one", 7, 1) + choice("two", 8, 1))
    split = read_test_set(task, "et", FileDataSource(tmp_path), None)
    found = [(e.context, e.label) for e in split.examples if isinstance(e, ChoiceExample)]
    assert found == [("one", 0), ("two", 1)]
