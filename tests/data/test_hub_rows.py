"""The rules for rows of a table, without the hub."""

from __future__ import annotations

import json
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.data.examples import QuestionExample
from xharness.data.hub.repository import LoadedTable
from xharness.data.hub.rows import (
    Rows,
    read_pair_rows,
    read_parallel_rows,
    read_squad_rows,
    read_tag_rows,
    select_rows,
)
from xharness.data.readers import READERS
from xharness.errors import InputError
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec


def rows_of(columns: dict[str, Any], **features: Any) -> Rows:
    table = pa.table(columns)
    return Rows(table, features, {}, range(1, table.num_rows + 1), "owner/name/config/test")


cells = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), max_size=8)


@given(
    st.lists(
        st.tuples(
            cells,
            st.sampled_from(["NS", " ", "Ein Satz.", "“q"]),
            st.sampled_from(["neutral", "entailment ", "contradictory", "-"]),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_pair_rows_read_as_the_file_does(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[str, str, str]]
) -> None:
    task = load(TaskSpec, "xnli")
    path = tmp_path_factory.getbasetemp() / "pairs.tsv"
    # A first cell is never a byte order mark in this comparison: only a file can begin with one.
    table = [(f"p{premise}", hypothesis, label) for premise, hypothesis, label in table]
    path.write_bytes("".join("\t".join(row) + "\n" for row in table).encode())
    of_file: Counter[str] = Counter()
    expected = READERS["pair_tsv"]({"file": path}, task, "test", {}, of_file)
    premises, hypotheses, labels = (list(column) for column in zip(*table, strict=True))
    counts: Counter[str] = Counter()
    rows = rows_of({"premise": premises, "hypothesis": hypotheses, "label": labels})
    assert read_pair_rows(rows, task, "test", counts) == expected
    assert counts == of_file


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["q1", "q2"]),
            st.lists(
                st.tuples(st.sampled_from(["é", "bé ", "zz", " "]), st.integers(-1, 9)), max_size=2
            ),
        ),
        max_size=4,
    )
)
def test_question_rows_read_as_the_file_does(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[str, list[tuple[str, int]]]]
) -> None:
    task = load(TaskSpec, "xquad")
    context = "abé bé 水"
    path = tmp_path_factory.getbasetemp() / "questions.json"
    qas = [
        {
            "id": name,
            "question": "?",
            "answers": [{"text": text, "answer_start": start} for text, start in given_answers],
        }
        for name, given_answers in table
    ]
    document = {"data": [{"paragraphs": [{"context": context, "qas": qas}]}]}
    path.write_text(json.dumps(document), encoding="utf-8")
    of_file: Counter[str] = Counter()
    expected = READERS["squad_json"]({"file": path}, task, "train", {}, of_file)
    counts: Counter[str] = Counter()
    stored = [
        {"text": [t for t, _ in pair], "answer_start": [s for _, s in pair]} for _, pair in table
    ]
    rows = rows_of(
        {
            "id": pa.array([name for name, _ in table], pa.string()),
            "question": pa.array(["?"] * len(table), pa.string()),
            "context": pa.array([context] * len(table), pa.string()),
            "answers": pa.array(
                stored,
                pa.struct(
                    [("text", pa.list_(pa.string())), ("answer_start", pa.list_(pa.int32()))]
                ),
            ),
        }
    )
    assert read_squad_rows(rows, task, "train", counts) == expected
    assert counts == of_file


def test_answers_may_be_a_list_of_answers() -> None:
    rows = rows_of(
        {
            "id": ["q"],
            "question": ["?"],
            "context": ["Oslo"],
            "answers": [[{"text": "Oslo", "answer_start": 0}]],
        }
    )
    (question,) = read_squad_rows(rows, load(TaskSpec, "xquad"), "test", Counter())
    assert isinstance(question, QuestionExample)
    assert [(a.text, a.start) for a in question.answers] == [("Oslo", 0)]


def test_texts_and_starts_of_different_number_are_refused() -> None:
    rows = rows_of(
        {
            "id": ["q"],
            "question": ["?"],
            "context": ["Oslo"],
            "answers": [{"text": ["Oslo", "Os"], "answer_start": [0]}],
        }
    )
    with pytest.raises(InputError, match=r"test:1: answers need as many texts as starts"):
        read_squad_rows(rows, load(TaskSpec, "xquad"), "test", Counter())


@pytest.mark.parametrize("number", [None, -1])
def test_table_without_any_label_is_unlabelled(number: int | None) -> None:
    label = SimpleNamespace(names=["entailment", "neutral", "contradiction"])
    rows = rows_of(
        {
            "premise": ["a", "b"],
            "hypothesis": ["c", "d"],
            "label": pa.array([number] * 2, pa.int64()),
        },
        label=label,
    )
    counts: Counter[str] = Counter()
    examples = read_pair_rows(rows, load(TaskSpec, "xnli"), "test", counts)
    assert [(e.id, e.label) for e in examples] == [("1", None), ("2", None)]
    assert counts == Counter()


def test_class_number_out_of_range_is_an_unknown_label() -> None:
    rows = rows_of(
        {"premise": ["a"], "hypothesis": ["b"], "label": [3]},
        label=SimpleNamespace(names=["entailment", "neutral", "contradiction"]),
    )
    with pytest.raises(InputError, match=r"test:1: label '3' is not one of task xnli"):
        read_pair_rows(rows, load(TaskSpec, "xnli"), "test", Counter())


def test_tokens_and_tags_of_different_number_are_refused() -> None:
    rows = rows_of({"tokens": [["a"], ["b", "c"]], "tags": [["NOUN"], ["X"]]})
    with pytest.raises(InputError, match=r"test:2: 2 tokens but 1 tags"):
        read_tag_rows(rows, load(TaskSpec, "udpos"), "test", Counter())


def test_tables_without_tags_are_unlabelled() -> None:
    tags = pa.array([None, None], pa.list_(pa.string()))
    rows = rows_of({"tokens": [["a"], ["b", ""]], "tags": tags})
    counts: Counter[str] = Counter()
    examples = read_tag_rows(rows, load(TaskSpec, "udpos"), "test", counts)
    assert [(e.words, e.tags) for e in examples] == [(("a",), None), (("b", ""), None)]
    assert +counts == Counter(empty_tokens=1)


def test_message_names_the_row_of_the_whole_table() -> None:
    table = pa.table(
        {
            "language": ["de", "sw", "de"],
            "premise": ["a", "b", "c"],
            "hypothesis": ["a", "b", "c"],
            "label": ["neutral", "neutral", "maybe"],
        }
    )
    rows = select_rows(LoadedTable(table, {}, "0"), {}, {"language": "de"}, None, "o/n/c/test")
    assert list(rows.numbers) == [1, 3]
    with pytest.raises(InputError, match=r"o/n/c/test:3: label 'maybe'"):
        read_pair_rows(rows, load(TaskSpec, "xnli"), "test", Counter())


def test_null_text_is_refused() -> None:
    rows = rows_of({"source": ["a", None], "target": ["b", "c"]})
    with pytest.raises(InputError, match=r"test:2: column 'source' holds None"):
        read_parallel_rows(rows, load(TaskSpec, "tatoeba"), "test", Counter())
