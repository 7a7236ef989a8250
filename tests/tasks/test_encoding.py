"""Encodings as files: what was written comes back, and a damaged file is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.tasks.counted_pieces import SINGLE, CharacterPieces, CountedPieces
from xharness.data.examples import Answer, PairExample, QuestionExample, TaggingExample
from xharness.errors import InputError
from xharness.specs.recipe import Settings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks import pair_classification, question_answering, retrieval, tagging
from xharness.tasks.encoding import Encoding

SHORT = Settings(max_length=16, doc_stride=4, max_query_length=4)


def an_encoding(kind: str) -> Encoding:
    words = CountedPieces({"a": 1, "bb": 2, "long": 99, "": 0}, SINGLE)
    if kind == "tagging":
        example = TaggingExample("0", ("a", "long", "bb"), ("O", "O", "B-PER"))
        return tagging.encode([example], load(TaskSpec, "panx"), words, SHORT)
    if kind == "pair_classification":
        pairs = [PairExample("0", "a bb", "bb", "neutral")]
        return pair_classification.encode(pairs, load(TaskSpec, "xnli"), words, SHORT)
    if kind == "question_answering":
        question = QuestionExample("0", "what", "abcdefghijklmnop", (Answer("d", 3),))
        return question_answering.encode(
            [question], load(TaskSpec, "xquad"), CharacterPieces(SINGLE), SHORT
        )
    return retrieval.encode_sentences(["a bb", ""], words, SHORT)


KINDS = ["tagging", "pair_classification", "question_answering", "sentences"]


@pytest.mark.parametrize("kind", KINDS)
def test_file_gives_back_every_array_and_count(tmp_path: Path, kind: str) -> None:
    encoding = an_encoding(kind)
    path = tmp_path / "encoding.safetensors"
    encoding.save(path)
    again = type(encoding).load(path)
    assert again.counts == encoding.counts
    for name, value in vars(encoding).items():
        if isinstance(value, np.ndarray):
            read = getattr(again, name)
            assert read.dtype == value.dtype
            assert np.array_equal(read, value)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("kind", KINDS)
def test_file_cut_short_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "encoding.safetensors"
    encoding = an_encoding(kind)
    encoding.save(path)
    whole = path.read_bytes()
    for size in (0, 7, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match="damaged cache file"):
            type(encoding).load(path)


def test_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "encoding.safetensors"
    an_encoding("tagging").save(path)
    with pytest.raises(InputError, match="damaged cache file"):
        pair_classification.PairEncoding.load(path)
