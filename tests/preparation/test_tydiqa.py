"""TyDiQA-GoldP: split by language, ids whole, offsets right."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.errors import InputError
from xharness.preparation import prepare
from xharness.preparation.answers import repair_answer

from .raw import read, tar_bytes, write

TRAIN = "tydiqa-goldp-v1.1-train.json"


def article(identifier: str, context: str = "one two", text: str = "two", start: int = 4) -> Any:
    question = {
        "id": identifier,
        "question": "?",
        "answers": [{"text": text, "answer_start": start}],
    }
    return {"title": "T", "paragraphs": [{"context": context, "qas": [question]}]}


def squad(*articles: Any) -> str:
    return json.dumps({"version": "TyDiQA-GoldP-1.1", "data": articles})


def test_training_questions_are_split_and_keep_their_ids(tmp_path: Path) -> None:
    mixed = article("english--9041-0")
    mixed["paragraphs"][0]["qas"] += article("swahili-7-0")["paragraphs"][0]["qas"]
    write(tmp_path / "raw" / TRAIN, squad(mixed, article("english-5-0"), article("finnish-5-0")))
    report = prepare("tydiqa", tmp_path / "raw", tmp_path / "out")
    folder = tmp_path / "out/tydiqa/tydiqa-goldp-v1.1-train"
    files = {file.path.relative_to(folder).as_posix(): file.examples for file in report.files}
    assert files == {
        "tydiqa.goldp.en.train.json": 2,
        "tydiqa.goldp.fi.train.json": 1,
        "tydiqa.goldp.sw.train.json": 1,
    }
    english = json.loads(read(folder / "tydiqa.goldp.en.train.json"))
    assert english["version"] == "TyDiQA-GoldP-1.1"
    assert english["data"] == [article("english--9041-0"), article("english-5-0")]
    assert report.counts == {}
    assert report.missing == ("tydiqa-goldp-v1.1-dev",)


PARTS = {
    "tydiqa-goldp-dev-english.json": squad(article("english-1-0")),
    "tydiqa-goldp-dev-bengali.json": squad(article("bengali-1-0", "ঢাকা", "ঢাকা", 0)),
}


@pytest.mark.parametrize("layout", ["one file", "folder", "archive"])
def test_dev_is_taken_from_any_layout(tmp_path: Path, layout: str) -> None:
    raw = tmp_path / "raw"
    if layout == "one file":
        data = [document for part in PARTS.values() for document in json.loads(part)["data"]]
        write(raw / "tydiqa-goldp-v1.1-dev.json", squad(*data))
    elif layout == "folder":
        for name, text in PARTS.items():
            write(raw / "tydiqa-goldp-v1.1-dev" / name, text)
    else:
        raw.mkdir()
        members = {f"tydiqa-goldp-v1.1-dev/{name}": text.encode() for name, text in PARTS.items()}
        (raw / "tydiqa-goldp-v1.1-dev.tgz").write_bytes(tar_bytes({**members}))
    report = prepare("tydiqa", raw, tmp_path / "out")
    folder = tmp_path / "out/tydiqa/tydiqa-goldp-v1.1-dev"
    assert [file.path for file in report.files] == [
        folder / "tydiqa.goldp.bn.dev.json",
        folder / "tydiqa.goldp.en.dev.json",
    ]
    assert json.loads(read(folder / "tydiqa.goldp.bn.dev.json"))["data"] == [
        article("bengali-1-0", "ঢাকা", "ঢাকা", 0)
    ]
    assert report.missing == ("tydiqa-goldp-v1.1-train",)


def test_one_source_of_dev_is_taken_and_the_other_named(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    write(raw / "tydiqa-goldp-v1.1-dev.json", squad(article("english-1-0")))
    write(raw / "tydiqa-goldp-dev-english.json", PARTS["tydiqa-goldp-dev-english.json"])
    report = prepare("tydiqa", raw, tmp_path / "out")
    assert report.examples == 1
    assert len(report.ignored) == 1
    assert "tydiqa-goldp-dev-english.json" in report.ignored[0]


def test_repeated_ids_and_missing_answers_are_counted(tmp_path: Path) -> None:
    silent = article("english-2-0")
    silent["paragraphs"][0]["qas"][0]["answers"] = []
    again = article("english-1-0")
    write(tmp_path / "raw" / TRAIN, squad(again, again, silent))
    report = prepare("tydiqa", tmp_path / "raw", tmp_path / "out")
    assert report.examples == 3
    assert report.counts == {"questions_without_answer": 1, "repeated_ids": 1}


@pytest.mark.parametrize(
    ("context", "text", "start", "right", "repair"),
    [
        ("one two", "two", 4, ("two", 4), None),
        ("two two", "two", 0, ("two", 0), None),  # right, and not searched for
        ("ab  cd", "cd", 2, ("cd", 4), "offsets_before_blanks"),
        ("a\r\nb", "b", 1, ("b", 3), "offsets_before_blanks"),
        ("é two two", "two", 3, ("two", 2), "byte_offsets"),  # é has two bytes
        ("é two two", "two", 7, ("two", 6), "byte_offsets"),
        ("ঢাকা x x", "x", 13, ("x", 5), "byte_offsets"),
        ("\U0001f600 x x", "x", 5, ("x", 2), "byte_offsets"),
        ("\U0001f600 xy xy", "xy", 3, ("xy", 2), "utf16_offsets"),
        ("one two", "two", 0, ("two", 4), "offsets_searched"),
        ("one two", "two", -1, ("two", 4), "offsets_searched"),
        ("one two", "two", 10**9, ("two", 4), "offsets_searched"),
        ("one two ", " two ", 3, ("two", 4), "edge_blanks"),
        ("one two", "", 0, ("", 0), "blank_answers"),
    ],
)
def test_offsets_are_repaired_and_counted(
    context: str, text: str, start: int, right: tuple[str, int], repair: str | None
) -> None:
    counts: Counter[str] = Counter()
    assert repair_answer(context, text, start, "x", counts) == right
    assert counts == ({repair: 1} if repair else {})


@pytest.mark.parametrize(("context", "text"), [("one", "two"), ("two two", "two")])
def test_an_answer_that_cannot_be_placed_is_an_error(context: str, text: str) -> None:
    with pytest.raises(InputError, match="is not at offset 1"):
        repair_answer(context, text, 1, "file id english-1-0", Counter())


@given(st.text(min_size=1), st.data())
def test_byte_offsets_lead_to_the_same_span(context: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(context) - 1))
    text = context[start : data.draw(st.integers(start + 1, len(context)))]
    offset = len(context[:start].encode("utf-8"))
    counts: Counter[str] = Counter()
    found, place = repair_answer(context, text, offset, "x", counts)
    if text.strip():
        assert context.startswith(found, place)
        assert found == text.strip()
        if not context.startswith(text, offset) and "byte_offsets" in counts:
            assert place == start + len(text) - len(text.lstrip())


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"data": [\n,]}', "not JSON"),
        ("[]", "not a JSON object"),
        ('{"version": "1"}', "no list 'data'"),
        ('{"data": [3]}', "no list 'paragraphs'"),
        ('{"data": [{"paragraphs": [{"qas": []}]}]}', "no text 'context'"),
        ("[" * 100_000, "nested too deep"),
        (squad(article("klingon-1-0")), "tells no language"),
        (squad(article("english")), "tells no language"),
        (squad(article("english-1-0", text="four")), "id english-1-0: answer 'four'"),
        (squad(article("english-1-0", start="4")), "is no integer"),  # type: ignore[arg-type]
        (squad(article("english-1-0", context="two \ud800", start=0)), "surrogate"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(tmp_path: Path, text: str, what: str) -> None:
    write(tmp_path / "raw" / TRAIN, text)
    with pytest.raises(InputError) as caught:
        prepare("tydiqa", tmp_path / "raw", tmp_path / "out")
    assert what in str(caught.value)
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


@pytest.mark.shared
def test_the_published_dev_files_come_back_unchanged(tmp_path: Path, shared: Path) -> None:
    names = {"bn": "bengali", "ko": "korean", "ru": "russian"}
    source = shared / "data/xtreme_mini/tydiqa/tydiqa-goldp-v1.1-dev"
    for code, name in names.items():
        text = read(source / f"tydiqa.goldp.{code}.dev.json")
        write(tmp_path / f"raw/tydiqa-goldp-dev-{name}.json", text)
    report = prepare("tydiqa", tmp_path / "raw", tmp_path / "out")
    assert [file.examples for file in report.files] == [113, 276, 812]
    assert report.counts == {"edge_blanks": 2}  # both Russian; the other two files are as they were
    for file in report.files[:2]:
        assert json.loads(read(file.path)) == json.loads(read(source / file.path.name))
