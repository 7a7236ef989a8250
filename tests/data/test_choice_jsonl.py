"""Multiple choice as JSON lines: XCOPA's and Social IQa's fields, XCOPA's wrong questions, what is refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from xharness.data.examples import ChoiceExample
from xharness.data.readers.choice_jsonl import read_choice_jsonl
from xharness.data.sources import FileDataSource
from xharness.errors import InputError
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec

ROW: dict[str, Any] = {
    "premise": "The lamp went out.",
    "choice1": "The oil was used up.",
    "choice2": "The room was painted.",
    "question": "cause",
    "label": 0,
    "idx": 7,
    "changed": False,
}
SOCIAL: dict[str, Any] = {
    "context": "Ada lent Ben her ladder.",
    "question": "How would you describe Ada?",
    "answerA": "tired",
    "answerB": "helpful",
    "answerC": "tall",
    "correct": "B",
}


def read(
    folder: Path,
    content: str,
    task: str = "xcopa",
    english: str | None = None,
    split: str = "test",
) -> tuple[list[ChoiceExample], Counter[str]]:
    spec = load(TaskSpec, task)
    assert spec.sources.files is not None
    paths = {"file": folder / "rows.jsonl"}
    paths["file"].write_bytes(content.encode())
    if english is not None:
        paths["english"] = folder / "english.jsonl"
        paths["english"].write_bytes(english.encode())
    counts: Counter[str] = Counter()
    options = spec.sources.files.options
    return read_choice_jsonl(paths, spec, split, options, counts), +counts  # type: ignore[arg-type]


def rows(*changes: dict[str, Any], base: dict[str, Any] = ROW) -> str:
    return "".join(json.dumps({**base, **change}) + "\r\n" for change in changes)


def test_copa_fields_and_carriage_returns(tmp_path: Path) -> None:
    examples, counts = read(tmp_path, rows({}, {"idx": 8, "question": "effect", "label": 1}))
    assert examples[0] == ChoiceExample(
        "7",
        "The lamp went out.",
        "What was the cause?",
        ("The oil was used up.", "The room was painted."),
        0,
    )
    assert (examples[1].id, examples[1].question, examples[1].label) == (
        "8",
        "What was the effect?",
        1,
    )
    assert counts == {"carriage_returns": 2}


def test_social_iqa_has_three_choices_and_letters(tmp_path: Path) -> None:
    examples, _ = read(tmp_path, rows({}, {"correct": "C"}, base=SOCIAL), "siqa")
    assert examples[0] == ChoiceExample(
        "1",
        "Ada lent Ben her ladder.",
        "How would you describe Ada?",
        ("tired", "helpful", "tall"),
        1,
    )
    assert (examples[1].id, examples[1].label) == ("2", 2)


def test_a_file_without_the_field_is_unlabelled(tmp_path: Path) -> None:
    row = {key: value for key, value in ROW.items() if key != "label"}
    examples, _ = read(tmp_path, json.dumps(row) + "\n")
    assert examples[0].label is None


def test_line_separators_inside_a_text_do_not_end_a_line(tmp_path: Path) -> None:
    row = json.dumps({**ROW, "premise": "a\u2028b\u0085c"}, ensure_ascii=False)
    examples, _ = read(tmp_path, row + "\n\n")
    assert [e.context for e in examples] == ["a\u2028b\u0085c"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}\n", r"rows.jsonl:1: field 'idx' is absent"),
        (rows({}) + "{\n", r"rows.jsonl:2: not JSON"),
        (rows({}) + "[1]\n", r"rows.jsonl:2: not a JSON object"),
        (rows({}) + "\n" + rows({"idx": 8}), r"rows.jsonl:2: not JSON"),
        (rows({"premise": None}), r"rows.jsonl:1: field 'premise' is absent or no text"),
        (rows({"label": 2}), r"rows.jsonl:1: label 2 is none of the 2 choices"),
        (rows({"label": True}), r"rows.jsonl:1: label True is none"),
        (rows({"label": "0"}), r"rows.jsonl:1: label '0' is none"),
        (rows({}, {"premise": "Again."}), r"rows.jsonl:2: id '7' occurs twice"),
    ],
)
def test_faults_are_refused_with_their_line(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, content)


def test_wrong_questions_are_kept_and_counted_by_default(tmp_path: Path) -> None:
    english = rows({"premise": "x"}, {"idx": 8, "question": "effect"})
    content = rows({"question": "effect"}, {"idx": 8, "question": "effect"})
    examples, counts = read(tmp_path, content, "xcopa", english)
    assert [e.question for e in examples] == ["What was the effect?"] * 2
    assert counts["questions_unlike_english"] == 1
    assert "corrected_questions" not in counts


def test_wrong_questions_are_corrected_where_asked(tmp_path: Path) -> None:
    english = rows({"idx": 8, "question": "effect"}, {})  # found by id, not by line
    content = rows({"question": "effect"}, {"idx": 8, "question": "effect"})
    examples, counts = read(tmp_path, content, "xcopa_corrected", english)
    assert [e.question for e in examples] == ["What was the cause?", "What was the effect?"]
    assert counts["corrected_questions"] == 1
    assert examples[0].context == "The lamp went out."


def test_correcting_needs_the_english_file_and_every_id(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"English file .* is absent"):
        read(tmp_path, rows({}), "xcopa_corrected")
    with pytest.raises(InputError, match="id '7' is not in the English file"):
        read(tmp_path, rows({}), "xcopa_corrected", rows({"idx": 1}))


#: Rows whose question differs from English COPA, as counted in the published files.
UNLIKE_ENGLISH = {"th": 250, "tr": 51, "sw": 37, "id": 4, "it": 4}


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "count"),
    [("xcopa", "questions_unlike_english"), ("xcopa_corrected", "corrected_questions")],
)
def test_published_files(shared: Path, name: str, count: str) -> None:
    source, task = FileDataSource(shared / "data" / "extra"), load(TaskSpec, name)
    found = {}
    for language in task.languages:
        split = source.read(task, "test", language, None)
        assert len(split) == 500
        assert split.counts["carriage_returns"] in (499, 500)
        assert len({e.id for e in split.examples if isinstance(e, ChoiceExample)}) == 500
        if split.counts[count]:
            found[language] = split.counts[count]
    assert found == UNLIKE_ENGLISH


@pytest.mark.shared
def test_published_training_files(shared: Path) -> None:
    source = FileDataSource(shared / "data" / "extra")
    copa = source.read(load(TaskSpec, "xcopa"), "train", "en", None)
    assert len(copa) == 400
    assert len(source.read(load(TaskSpec, "xcopa"), "dev", "en", None)) == 100
    social = source.read(load(TaskSpec, "siqa"), "train", "en", 10)
    assert (len(social), social.available, social.stand_in) == (10, 1954, "dev")
    # The stand-in reaches the record as a note on the data.
    assert social.origin["note"] == "siqa trained on dev, the train files are absent"
