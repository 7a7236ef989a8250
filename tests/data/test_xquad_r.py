"""XQuAD-R: which sentences of which languages answer a question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from xharness.data.examples import Bitext
from xharness.data.sources import FileDataSource
from xharness.errors import InputError
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec

CONTEXT = {"en": "It rains. It rains. Oslo is wet.", "de": "Es regnet. Oslo ist nass. Kalt."}


def document(language: str, answers: dict[str, int]) -> dict[str, Any]:
    context = CONTEXT[language]
    breaks, start = [], 0
    for sentence in context.split(". "):
        end = min(start + len(sentence) + 1, len(context))
        breaks.append([start, end])
        start = end + 1
    qas = [
        {"id": name, "question": f"{name}?", "answers": [{"text": "x", "answer_start": at}]}
        for name, at in answers.items()
    ]
    paragraph = {"context": context, "sentence_breaks": breaks, "qas": qas}
    return {"data": [{"paragraphs": [paragraph]}]}


def write(folder: Path, language: str, content: object) -> None:
    path = folder / "lareqa" / "xquad-r" / f"{language}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def test_right_sentences_are_found_in_every_language(tmp_path: Path) -> None:
    write(tmp_path, "en", document("en", {"a": 0, "b": 20}))
    write(tmp_path, "de", document("de", {"a": 3, "b": 11}))
    split = FileDataSource(tmp_path).read(load(TaskSpec, "lareqa"), "test", "en", None)
    bitext = split.examples[0]
    assert isinstance(bitext, Bitext)
    assert bitext.source.ids == ("a_en", "b_en")
    assert dict(zip(bitext.target.ids, bitext.target.texts, strict=True)) == {
        "de_1_0": "Es regnet.",
        "de_1_1": "Oslo ist nass.",
        "de_1_2": "Kalt.",
        "en_1_0": "It rains.",
        "en_1_1": "It rains.",
        "en_1_2": "Oslo is wet.",
    }
    # Equal sentences of the paragraph answer alike, as in the official script.
    assert bitext.gold == (
        ("a_en", "de_1_0"),
        ("a_en", "en_1_0"),
        ("a_en", "en_1_1"),
        ("b_en", "de_1_1"),
        ("b_en", "en_1_2"),
    )
    assert split.counts == {"candidate_languages": 2, "candidates": 6}
    assert "ar" in split.origin["note"]
    assert "de" not in split.origin["note"].split(" in ")[1].split(", their")[0].split(", ")


def test_a_question_whose_answer_is_in_no_sentence_is_counted(tmp_path: Path) -> None:
    write(tmp_path, "en", document("en", {"a": 0, "b": 9}))  # 9 is the blank between two sentences
    split = FileDataSource(tmp_path).read(load(TaskSpec, "lareqa"), "test", "en", None)
    bitext = split.examples[0]
    assert isinstance(bitext, Bitext)
    assert bitext.source.ids == ("a_en",)
    assert split.counts["questions_without_sentence"] == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [([], "not in the XQuAD-R format"), ({"data": []}, "no question"), ("x", "not in the XQuAD-R")],
)
def test_other_formats_are_refused(tmp_path: Path, content: object, message: str) -> None:
    write(tmp_path, "en", content)
    with pytest.raises(InputError, match=message):
        FileDataSource(tmp_path).read(load(TaskSpec, "lareqa"), "test", "en", None)


@pytest.mark.shared
def test_published_files(shared: Path) -> None:
    source, task = FileDataSource(shared / "data" / "extra"), load(TaskSpec, "lareqa")
    bitext = source.read(task, "test", "zh", None).examples[0]
    assert isinstance(bitext, Bitext)
    assert len(bitext.source.ids) == 1190
    assert bitext.gold is not None
    # At least one right sentence a question in each of the three languages that are there.
    assert {(q, c[:2]) for q, c in bitext.gold} == {
        (q, language) for q in bitext.source.ids for language in ("de", "en", "zh")
    }
