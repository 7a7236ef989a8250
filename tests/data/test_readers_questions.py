"""Questions: answers and their offsets, ids, and files that are no SQuAD JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.files import question, read, squad, write
from xharness.data.examples import Answer, QuestionExample, Split
from xharness.data.readers.squad_json import mend_offset
from xharness.errors import InputError
from xharness.scoring import score_task
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.predictions import gold_text


def questions(
    folder: Path, content: str, split: Any = "test"
) -> tuple[list[QuestionExample], dict[str, int]]:
    examples, counts = read("squad_json", write(folder / "f.json", content), split=split)
    return list(examples), dict(counts)


def test_questions_are_read_as_they_are(tmp_path: Path) -> None:
    content = squad(("Anna lives.", [question("1", [("Anna", 0), ("Anna", 0)]), question("2", [])]))
    examples, counts = questions(tmp_path, content)
    assert examples == [
        QuestionExample("1", "?", "Anna lives.", (Answer("Anna", 0), Answer("Anna", 0))),
        QuestionExample("2", "?", "Anna lives.", ()),
    ]
    assert counts == {}


@pytest.mark.parametrize(
    ("context", "text", "start", "right"),
    [
        ("Öl in Köln", "Köln", 7, Answer("Köln", 6)),  # byte offset
        ("🙂🙂 in Rome", "Rome", 12, Answer("Rome", 6)),  # byte offset, four bytes each
        (" Rome and Rome", "Rome", 0, Answer("Rome", 1)),  # a leading blank was stripped
        ("a\r\nRome", "Rome", 2, Answer("Rome", 3)),  # counted with one-character line ends
        ("Rome, Rome, Rome", "Rome", 7, Answer("Rome", 6)),  # the nearest
        ("in Rome.", " Rome ", 3, Answer("Rome", 3)),  # blanks that the context has not
        ("in Rome", "Rome", -5, Answer("Rome", 3)),
        ("in Rome", "Rome", 10**30, Answer("Rome", 3)),
    ],
)
def test_wrong_offsets_are_repaired_and_counted(
    tmp_path: Path, context: str, text: str, start: int, right: Answer
) -> None:
    examples, counts = questions(tmp_path, squad((context, [question("1", [(text, start)])])))
    assert examples[0].answers == (right,)
    assert counts == {"repaired_offsets": 1}


def test_answers_that_are_not_there_are_scored_but_not_learnt(tmp_path: Path) -> None:
    content = squad(("in Rome", [question("1", [("Oslo", 3), (" ", 2), ("Rome", 3)])]))
    examples, counts = questions(tmp_path, content)
    assert examples[0].answers == (Answer("Oslo", -1), Answer("Rome", 3))
    assert counts == {"answers_not_in_context": 1, "blank_answers": 1}
    examples, _ = questions(tmp_path, content, "train")
    assert examples[0].answers == (Answer("Rome", 3),)


def test_question_whose_only_answer_is_elsewhere_is_still_scored(tmp_path: Path) -> None:
    content = squad(
        ("in Rome", [question("1", [("Oslo", 3)]), question("2", [("Rome", 3)])]),
    )
    examples, _ = questions(tmp_path, content)
    task = load(TaskSpec, "xquad").model_copy(update={"languages": ("en",)})
    gold = gold_text(task, Split(task.name, "test", "en", examples))
    assert gold is not None
    write(tmp_path / "gold" / "xquad" / "test-en.json", "".join(gold))
    write(tmp_path / "found" / "xquad" / "test-en.json", '{"1": "Rome", "2": "Rome"}')
    scores = score_task(task, tmp_path / "found", tmp_path / "gold")
    assert scores.metrics["exact_match"] == {"en": 50.0}


def test_training_questions_without_answer_are_dropped(tmp_path: Path) -> None:
    content = squad(("in Rome", [question("1", []), question("2", [("Rome", 3)])]))
    examples, counts = questions(tmp_path, content, "train")
    assert [e.id for e in examples] == ["2"]
    assert counts == {"questions_without_answer": 1}


def test_repeated_ids_are_made_distinct_in_training_and_refused_in_test(tmp_path: Path) -> None:
    twice = [question("0", [("Rome", 3)]), question("0", [("in", 0)])]
    content = squad(("in Rome", twice))
    examples, counts = questions(tmp_path, content, "train")
    assert [e.id for e in examples] == ["0", "0#2"]
    assert counts == {"repeated_ids": 1}
    with pytest.raises(InputError, match=r"f\.json: 0: question id occurs twice"):
        questions(tmp_path, content)


def test_integer_ids_become_text(tmp_path: Path) -> None:
    content = squad(("in Rome", [{**question("", [("Rome", 3)]), "id": 7}]))
    examples, counts = questions(tmp_path, content)
    assert examples[0].id == "7"
    assert counts == {"integer_ids": 1}


def document(**qa: Any) -> str:
    return squad(("in Rome", [{**question("1", []), **qa}]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"f\.json:1: not JSON"),
        ('{\n"data": [,]}', r"f\.json:2: not JSON"),
        ("[" * 100_000, "not usable JSON"),
        ("1" * 5000, "not usable JSON"),
        ("[]", "not in the SQuAD format"),
        ('{"data": [{}]}', "not in the SQuAD format: 'paragraphs' is absent"),
        ('{"data": [{"paragraphs": [{"context": 1, "qas": []}]}]}', "not in the SQuAD format"),
        (document(id=None), "a question needs an id and a text"),
        (document(question=3), "a question needs an id and a text"),
        (document(answers=5), "question '1': answers is not a list"),
        (document(answers={"text": "Rome"}), "question '1': answers is not a list"),
        (document(answers=[7]), "question 1: an answer needs text and answer_start"),
        (document(answers=[{"text": "Rome", "answer_start": "3"}]), "of the wrong type"),
        (document(answers=[{"text": "Rome", "answer_start": True}]), "of the wrong type"),
        (document(question="\ud83d").replace("\ud83d", r"\ud83d"), r"\\ud83d is half a character"),
    ],
)
def test_other_content_is_refused_in_one_line(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        questions(tmp_path, content)
    assert "\n" not in str(caught.value)


def test_escaped_characters_above_the_basic_plane_are_whole(tmp_path: Path) -> None:
    content = json.dumps(json.loads(squad(("🙂 in Rome", [question("1", [("Rome", 5)])]))))
    assert r"\ud83d\ude42" in content
    examples, counts = questions(tmp_path, content)
    assert examples[0].context == "🙂 in Rome"
    assert counts == {}


texts = st.text(alphabet="aé🙂 \r\n", max_size=12)


@given(before=texts, answer=st.text(alphabet="aé🙂", min_size=1, max_size=4), after=texts)
def test_byte_offsets_are_always_found_again(before: str, answer: str, after: str) -> None:
    context = before + answer + after
    mended = mend_offset(context, answer, len(before.encode()))
    assert mended is not None
    assert context.startswith(mended.text, mended.start)
    assert mended == Answer(answer, len(before))


@given(context=texts, answer=texts.filter(str.strip), start=st.integers(-3, 20))
def test_a_mended_answer_is_in_its_context(context: str, answer: str, start: int) -> None:
    mended = mend_offset(context, answer, start)
    if mended is None:
        assert answer.strip() not in context
    else:
        assert context[mended.start : mended.start + len(mended.text)] == mended.text
        assert mended.text.strip() == answer.strip()
