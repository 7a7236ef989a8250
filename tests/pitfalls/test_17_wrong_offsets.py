"""Gold offsets that are wrong at the source: checked against the text, repaired where that is certain, counted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.pitfalls.submission import write
from xharness.data.examples import QuestionExample
from xharness.data.readers import READERS
from xharness.preparation.answers import repair_answer
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec


def read(folder: Path, context: str, text: str, start: int) -> tuple[QuestionExample, Counter[str]]:
    answers = [{"text": text, "answer_start": start}]
    paragraph = {"context": context, "qas": [{"id": "1", "question": "?", "answers": answers}]}
    path = write(folder / "f.json", json.dumps({"data": [{"paragraphs": [paragraph]}]}))
    counts: Counter[str] = Counter()
    examples = READERS["squad_json"]({"file": path}, load(TaskSpec, "tydiqa"), "test", {}, counts)
    (example,) = examples
    assert isinstance(example, QuestionExample)
    return example, +counts


#: Context, answer, offset as delivered, right offset.
WRONG = {
    "bytes after an emoji": ("🎈 flew to Riga today", "Riga", 13, 10),
    "bytes after Telugu": ("ఇది Riga", "Riga", 10, 4),
    "leading blank stripped": ("  Riga is old", "Riga", 0, 2),
    "carriage returns not counted": ("a\r\nb\r\nRiga", "Riga", 4, 6),
}


@pytest.mark.parametrize("name", WRONG)
def test_reader_and_preparation_repair_alike(tmp_path: Path, name: str) -> None:
    context, text, start, right = WRONG[name]
    example, counts = read(tmp_path, context, text, start)
    (answer,) = example.answers
    assert (answer.text, answer.start) == (text, right)
    assert context.startswith(text, answer.start)
    assert counts == {"repaired_offsets": 1}
    repaired: Counter[str] = Counter()
    assert repair_answer(context, text, start, "here", repaired) == (text, right)
    assert sum(repaired.values()) == 1


def test_code_points_are_right_and_left_alone(tmp_path: Path) -> None:
    example, counts = read(tmp_path, "🎈🎈 \r\nRiga", "Riga", 5)
    assert example.answers[0].start == 5
    assert counts == {}


def test_an_answer_that_is_nowhere_is_counted(tmp_path: Path) -> None:
    example, counts = read(tmp_path, "Riga", "Tartu", 0)
    assert [(answer.text, answer.start) for answer in example.answers] == [("Tartu", -1)]
    assert counts == {"answers_not_in_context": 1}
