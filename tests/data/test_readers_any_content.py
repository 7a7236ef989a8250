"""Whatever a file holds, a reader gives examples or one InputError, and the checks agree with it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.data.files import TASK_OF_FORMAT, read
from xharness.data.checks.checking import CHECKS
from xharness.data.checks.findings import FileReport
from xharness.data.examples import (
    Bitext,
    ChoiceExample,
    PairExample,
    QuestionExample,
    SplitName,
    TaggingExample,
)
from xharness.data.readers import READERS
from xharness.errors import InputError
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec

_EXAMPLES = (Bitext, ChoiceExample, PairExample, QuestionExample, TaggingExample)

#: Pieces of lines that formats give a meaning to, and characters that other readers trip over.
PIECES = [
    *("\t", "\n", "\r\n", "\n\n", " ", '"', "a", "b", "-", "NS", "\ufeff", "\u2028", "\x1c", "\xa0"),
    *("entailment", "neutral", "contradictory", "O", "B-PER", "I-PER", "I-LOC", "1", "1-2", "8.1", "#"),
    *("id-1", "id-2", "id-1\tid-2\n", "a\tb\tneutral\n", "x\tO\n", "\u0301", "\u3000", "_"),
]  # fmt: skip

text_files = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
any_bytes = st.one_of(st.binary(max_size=60), text_files.map(str.encode))

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.just(10**400), st.floats(), st.text(max_size=4),
    st.sampled_from(["", "ab", "é", "\ud800", "b"]),
)  # fmt: skip


def objects(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects of the format with any field absent or of any type."""
    loose = {key: st.one_of(value, value, scalars) for key, value in fields.items()}
    return st.one_of(st.fixed_dictionaries({}, optional=loose), st.fixed_dictionaries(loose))


def lists(items: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(items, max_size=3)


answers = objects(text=st.sampled_from(["ab", "b", " b ", ""]), answer_start=st.integers(-2, 4))
questions = objects(id=st.sampled_from(["1", "2"]), question=st.just("?"), answers=lists(answers))
paragraphs = objects(context=st.sampled_from(["ab", "éab b ", ""]), qas=lists(questions))
documents = objects(data=lists(objects(paragraphs=lists(paragraphs), title=st.just("t"))))

squad_files = st.one_of(
    documents.map(json.dumps),
    st.recursive(scalars, lambda inner: st.lists(inner, max_size=2)).map(json.dumps),
    st.just("[" * 100_000),
    st.just("1" * 5000),
).map(str.encode)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        yield Path(name)


def agree(
    folder: Path, format_: str, contents: dict[str, bytes], split: SplitName, **options: Any
) -> None:
    """Read files and check them; a file without an error is one that reads, and the other way about."""
    paths = {part: folder / part for part in contents}
    for part, content in contents.items():
        paths[part].write_bytes(content)
    examples: Sequence[Any] = []
    refused = ""
    try:
        examples, counts = read(format_, paths, split=split, **options)
        assert all(count > 0 for count in counts.values())
    except InputError as error:
        refused = str(error)
    assert "\n" not in refused
    assert not refused or any(str(path) in refused for path in paths.values())
    for found in examples:
        assert isinstance(found, _EXAMPLES)
    task = load(TaskSpec, TASK_OF_FORMAT[format_])
    reports = {part: FileReport(task.name, split, "en", path) for part, path in paths.items()}
    CHECKS[format_](reports, task, split, options)
    findings = [finding for report in reports.values() for finding in report.findings()]
    errors = {finding.code for finding in findings if finding.severity == "error"}
    readable = {
        *("constant_gold", "unanswered_questions", "answers_not_in_context", "sorted_target"),
        "no_training_labels",
    }
    assert bool(examples) or errors, "the reader has nothing, the checks no fault"
    assert not examples or errors <= readable, (
        "the checks have a fault that the reader does not mind"
    )


@pytest.mark.parametrize("split", ["train", "test"])
@given(content=any_bytes)
@example(b"a\tb\tneutral\n" * 6)
@example(b"a\tb\t-\n")
@example(b"a\tb\n")
def test_pair_tables(folder: Path, split: SplitName, content: bytes) -> None:
    agree(folder, "pair_tsv", {"file": content}, split)
    agree(folder, "pair_tsv", {"file": content}, split, header=True, extra_columns=True)


@pytest.mark.parametrize("split", ["train", "test"])
@given(content=any_bytes)
@example(b" \n")
@example(b"\n\nx\tO\n\n\n")
def test_columns(folder: Path, split: SplitName, content: bytes) -> None:
    agree(folder, "columns", {"file": content}, split)
    agree(folder, "columns", {"file": content}, split, separator="space")
    agree(
        folder, "columns", {"file": content}, split, token=1, tag=2, comment="#", skip_tokens=True
    )
    agree(
        folder,
        "columns",
        {"file": content},
        split,
        separator="space",
        comment="#",
        skip_tokens=True,
    )


@pytest.mark.parametrize("split", ["train", "test"])
@settings(max_examples=300)
@given(content=st.one_of(any_bytes, squad_files))
@example(
    b'{"data": [{"paragraphs": [{"context": "ab", "qas": [{"id": "1", "question": "?", "answers": 5}]}]}]}'
)
@example(
    b'{"data": [{"paragraphs": [{"context": "\\ud83d", "qas": [{"id": "1", "question": "?"}]}]}]}'
)
def test_questions(folder: Path, split: SplitName, content: bytes) -> None:
    agree(folder, "squad_json", {"file": content}, split)


@given(source=any_bytes, target=any_bytes)
def test_parallel_lines(folder: Path, source: bytes, target: bytes) -> None:
    contents = {"source": source, "target": target}
    agree(folder, "parallel_lines", contents, "test")
    agree(folder, "parallel_lines", contents, "test", aligned=False)


@given(source=any_bytes, target=any_bytes, gold=any_bytes)
@example(b"id-1\ta\n", b"id-2\tb\n", b"id-1\tid-2 \n")
@example(b"id-1\ta\n", b"id-2\tb\n", b"\n")
def test_identified_lines(folder: Path, source: bytes, target: bytes, gold: bytes) -> None:
    agree(folder, "identified_lines", {"source": source, "target": target}, "dev")
    agree(folder, "identified_lines", {"source": source, "target": target, "gold": gold}, "test")


choice_rows = objects(
    idx=st.integers(0, 2), premise=st.just("p"), choice1=st.sampled_from(["a", ""]),
    choice2=st.just("b"), question=st.sampled_from(["cause", "effect"]), label=st.integers(0, 2),
)  # fmt: skip
choice_files = st.one_of(
    st.lists(choice_rows.map(json.dumps), max_size=4).map("\n".join).map(str.encode),
    any_bytes,
    st.just(b"[" * 100_000),
)


@given(content=choice_files, english=choice_files)
@example(
    b'{"idx": 1, "premise": "\\ud83d", "choice1": "a", "choice2": "b", "question": "cause"}', b""
)
def test_choices(folder: Path, content: bytes, english: bytes) -> None:
    files = load(TaskSpec, "xcopa").sources.files
    assert files is not None
    agree(folder, "choice_jsonl", {"file": content}, "train", **files.options)
    both = {"file": content, "english": english}
    agree(folder, "choice_jsonl", both, "test", **{**files.options, "questions": "english"})


def test_every_format_with_a_check_is_tried() -> None:
    assert set(TASK_OF_FORMAT) == set(CHECKS) <= set(READERS)
