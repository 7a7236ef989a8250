"""Sentence pairs and tagged words: what comes out of odd rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.data.files import read, write
from xharness.data.examples import PairExample, TaggingExample
from xharness.errors import InputError


def test_pairs_without_quoting(tmp_path: Path) -> None:
    path = write(tmp_path / "f", '"a\tb "" c"\tneutral\nd\x1de\t"\tcontradictory\n')
    examples, counts = read("pair_tsv", path)
    assert examples == [
        PairExample("1", '"a', 'b "" c"', "neutral"),
        PairExample("2", "d\x1de", '"', "contradiction"),
    ]
    assert counts == {"label_alias_contradictory": 1}


def test_pairs_that_are_dropped_or_odd_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "f", "a\tb\t-\nNS\tb\tneutral\n \tb\tneutral \n\n\n")
    examples, counts = read("pair_tsv", path)
    assert [e.id for e in examples] == ["2", "3"]
    assert counts == {
        "rows_without_gold_label": 1,
        "placeholder_rows": 1,
        "empty_sentences": 1,
        "blank_trailing_lines": 2,
    }


def test_pairs_by_other_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "f", "label\tid\ts1\ts2\nneutral\t7\ta\tb\n")
    columns = {"premise": 2, "hypothesis": 3, "label": 0}
    examples, _ = read("pair_tsv", path, header=True, columns=columns)
    assert examples == [PairExample("1", "a", "b", "neutral")]


def test_unlabelled_pairs(tmp_path: Path) -> None:
    examples, _ = read("pair_tsv", write(tmp_path / "f", "a\tb\nc\td\n"))
    assert [e.label for e in examples] == [None, None]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tb\tneutral\na\tb\n", r"f:2: 2 cells where 3 are expected"),
        ("a\tb\tneutral\tx\n", r"f:1: 4 cells where 3 are expected"),
        ("a\tb\tneutral\n\na\tb\tneutral\n", r"f:2: 1 cells where 3 are expected"),
        ("a\tb\tneutrl\n", r"f:1: label 'neutrl' is not one of task xnli \(did you mean 'neutral'"),
        ("a\tb\t\n", r"f:1: label '' is not one of task xnli"),
    ],
)
def test_broken_pairs_are_refused_with_their_line(
    tmp_path: Path, content: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read("pair_tsv", write(tmp_path / "f", content))


def test_only_an_empty_line_ends_a_sentence(tmp_path: Path) -> None:
    path = write(tmp_path / "f", '\na\xa0b\tO\n\u3000\tB-PER\n\tI-PER\n\n\n"\tO\n')
    examples, counts = read("columns", path)
    assert examples == [
        TaggingExample("1", ("a\xa0b", "\u3000", ""), ("O", "B-PER", "I-PER")),
        TaggingExample("2", ('"',), ("O",)),
    ]
    assert counts == {"extra_blank_lines": 2, "empty_tokens": 1}


def test_untagged_words(tmp_path: Path) -> None:
    examples, _ = read("columns", write(tmp_path / "f", "a\nb\n\nc"))
    assert examples == [TaggingExample("1", ("a", "b"), None), TaggingExample("2", ("c",), None)]


def test_ranges_and_comments_of_treebanks(tmp_path: Path) -> None:
    content = "# text\tab\n1-2\tdu\t_\n1\tde\tO\n# \tO\tO\n8.1\tx\tO\n\n2\tle\tO\n"
    options: dict[str, Any] = {"token": 1, "tag": 2, "comment": "#", "skip_tokens": True}
    examples, counts = read("columns", write(tmp_path / "f", content), **options)
    assert [e.words for e in examples] == [("de",), ("le",)]
    assert counts == {"skipped_tokens": 3}


def test_columns_between_blanks(tmp_path: Path) -> None:
    examples, _ = read("columns", write(tmp_path / "f", "a  x  O\n"), tag=2, separator="space")
    assert examples == [TaggingExample("1", ("a",), ("O",))]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a\tO\nb\n", {}, r"f:2: 1 columns where 2 are expected"),
        ("a\nb\tO\n", {}, r"f:2: 2 columns where 1 are expected"),
        ("a\tB-per\n", {}, r"f:1: label 'B-per' is not one of task panx \(labels: O, B-PER"),
        (" \n", {"separator": "space", "skip_tokens": True}, r"f:1: 0 columns"),
    ],
)
def test_broken_columns_are_refused_with_their_line(
    tmp_path: Path, content: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read("columns", write(tmp_path / "f", content), **options)
