"""What is written is what scoring reads, for every kind; a model that predicts the gold gets 100."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from xharness.data.examples import (
    Answer,
    Bitext,
    PairExample,
    QuestionExample,
    Sentences,
    Split,
    TaggingExample,
)
from xharness.files import write_text
from xharness.scoring.answers import read_answers, read_questions
from xharness.scoring.labels import score_pairs
from xharness.scoring.lines import read_lines
from xharness.scoring.scores import score_task
from xharness.scoring.tag_lines import TagFile, new_vocabulary
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.predictions import Predictions, gold_text, prediction_text
from xharness.tasks.retrieval import nearest_neighbours

PATHS_MAY_BE_REUSED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def split_of(task: str, language: str, *examples: Any) -> Split:
    return Split(task, "test", language, list(examples))


def figures(
    task: TaskSpec, language: str, split: Split, values: Any, folder: Path
) -> dict[str, float]:
    """Write predictions and gold, and return the language's figures."""
    name = f"{task.name}/{task.file_name(language)}"
    gold = gold_text(task, split)
    assert gold is not None
    write_text(folder / "gold" / name, gold)
    write_text(folder / "predictions" / name, prediction_text(task, [Predictions(values)]))
    score = score_task(task, folder / "predictions", folder / "gold").languages[language]
    assert score.status == "scored", score.reason
    return score.figures


@PATHS_MAY_BE_REUSED
@given(answers=st.dictionaries(TEXT, TEXT, max_size=5))
def test_answers_of_any_text_come_back(tmp_path: Path, answers: dict[str, str]) -> None:
    path = tmp_path / "test-en.json"
    write_text(path, prediction_text(load(TaskSpec, "xquad"), [Predictions(answers)]))
    found, counts = read_answers(path)
    assert found == answers or list(answers) == ["data"]
    assert not +counts


@PATHS_MAY_BE_REUSED
@given(st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=5))
def test_gold_answers_of_any_text_come_back(
    tmp_path: Path, parts: list[tuple[str, str, str]]
) -> None:
    questions = [
        QuestionExample(f"id-{i}", "?", before + text + after, (Answer(text, len(before)),))
        for i, (before, text, after) in enumerate(parts)
    ]
    path = tmp_path / "test-en.json"
    gold = gold_text(load(TaskSpec, "xquad"), split_of("xquad", "en", *questions))
    assert gold is not None
    write_text(path, gold)
    found, _ = read_questions(path)
    assert sorted(found) == [(q.id, [q.answers[0].text]) for q in questions]


@PATHS_MAY_BE_REUSED
@given(
    st.lists(
        st.lists(st.sampled_from(load(TaskSpec, "udpos").labels), min_size=1, max_size=4),
        min_size=1,
        max_size=5,
    )
)
def test_tags_come_back_by_sentence(tmp_path: Path, sentences: list[list[str]]) -> None:
    path = tmp_path / "test-en.tsv"
    write_text(path, prediction_text(load(TaskSpec, "udpos"), [Predictions(sentences)]))
    vocabulary = new_vocabulary()
    file = TagFile(path, vocabulary)
    ids = [int(number) for block in file for number in block]
    names = {number: tag for tag, number in vocabulary.items()}
    text = "\n".join(names[number] for number in ids)
    assert [sentence.split("\n") for sentence in text.split("\n\n")] == sentences
    assert not +file.counts


@pytest.mark.parametrize("values", [["neutral", "entailment"], ["0", "17"]])
def test_labels_come_back_in_order(tmp_path: Path, values: list[str]) -> None:
    path = tmp_path / "test-en.tsv"
    write_text(path, prediction_text(load(TaskSpec, "xnli"), [Predictions(values)]))
    lines = read_lines(path)
    assert lines.values == values
    assert not +lines.counts


def test_pairs_come_back(tmp_path: Path) -> None:
    pairs = [("zh-1", "en-2"), ("zh-3", "en-1")]
    path = tmp_path / "test-zh.tsv"
    write_text(path, prediction_text(load(TaskSpec, "bucc2018"), [Predictions(pairs)]))
    assert path.read_bytes() == b"zh-1\ten-2\nzh-3\ten-1\n"
    assert score_pairs(path, path).figures == {"f1": 100.0, "precision": 100.0, "recall": 100.0}


def test_gold_pairs_score_100(tmp_path: Path) -> None:
    task = load(TaskSpec, "xnli")
    examples = [PairExample(str(i), "p", "h", task.labels[i % 3]) for i in range(6)]
    values = [e.label for e in examples]
    found = figures(task, "de", split_of("xnli", "de", *examples), values, tmp_path)
    assert found == {"accuracy": 100.0}
    values[0] = "neutral"
    found = figures(task, "de", split_of("xnli", "de", *examples), values, tmp_path)
    assert found["accuracy"] == pytest.approx(
        100 * 5 / 6 if examples[0].label != "neutral" else 100
    )


def test_gold_tags_score_100(tmp_path: Path) -> None:
    task = load(TaskSpec, "panx")
    examples = [
        TaggingExample("0", ("a", "b"), ("B-PER", "I-PER")),
        TaggingExample("1", ("c",), ("O",)),
    ]
    found = figures(
        task, "sw", split_of("panx", "sw", *examples), [e.tags for e in examples], tmp_path
    )
    assert found["f1"] == 100.0


def test_gold_answers_score_100_and_one_more_blank_is_no_error(tmp_path: Path) -> None:
    task = load(TaskSpec, "mlqa")
    examples = [
        QuestionExample("1", "?", "北京 2008年", (Answer("2008年", 3), Answer("北京", 0))),
        QuestionExample("2", "?", "\r\n \u2028x", (Answer("x", 4),)),
    ]
    split = split_of("mlqa", "zh", *examples)
    assert figures(task, "zh", split, {"1": "北京 ", "2": "x"}, tmp_path) == {
        "exact_match": 100.0,
        "f1": 100.0,
    }
    assert figures(task, "zh", split, {"1": "2008", "2": ""}, tmp_path)["exact_match"] == 0.0


def test_gold_mined_pairs_score_100(tmp_path: Path) -> None:
    task = load(TaskSpec, "bucc2018")
    sides = (Sentences(("zh-2", "zh-1"), ("b", "a")), Sentences(("en-1",), ("A",)))
    split = split_of("bucc2018", "zh", Bitext(*sides, (("zh-1", "en-1"),)))
    assert figures(task, "zh", split, [("zh-1", "en-1")], tmp_path)["f1"] == 100.0


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]])
def test_neighbours_of_equal_targets_score_100_in_any_order(
    tmp_path: Path, order: list[int]
) -> None:
    task = load(TaskSpec, "tatoeba")
    texts = ["same", "other", "same", "third"]
    vectors = np.eye(3, dtype=np.float32)[[0, 1, 0, 2]]
    # Line ``i`` of the source translates text ``i``; the targets stand in another order.
    lines = {target: str(place) for place, target in enumerate(order)}
    bitext = Bitext(
        Sentences(("0", "1", "2", "3"), ("a", "b", "c", "d")),
        Sentences(("0", "1", "2", "3"), tuple(texts[i] for i in order)),
        tuple((str(i), lines[i]) for i in range(4)),
    )
    chosen = nearest_neighbours(vectors, vectors[order], bitext.target.texts)
    values = [bitext.target.ids[line] for line in chosen]
    assert figures(task, "de", split_of("tatoeba", "de", bitext), values, tmp_path) == {
        "accuracy": 100.0
    }


@pytest.mark.parametrize(
    ("task", "example"),
    [
        ("xnli", PairExample("0", "p", "h", None)),
        ("panx", TaggingExample("0", ("a",), None)),
        ("xquad", QuestionExample("0", "?", "c", ())),
        ("tatoeba", Bitext(Sentences(("0",), ("a",)), Sentences(("0",), ("b",)), None)),
        ("bucc2018", Bitext(Sentences(("0",), ("a",)), Sentences(("0",), ("b",)), None)),
    ],
)
def test_data_without_gold_make_no_gold_file(task: str, example: Any) -> None:
    assert gold_text(load(TaskSpec, task), split_of(task, "de", example)) is None
