"""Tokenizers without a fast form: they work for every kind but question answering, which says what it lacks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoModel, AutoTokenizer, RobertaConfig

from xharness.data.examples import Bitext, TaggingExample
from xharness.errors import InputError
from xharness.inference.progress import Silent
from xharness.models.adapter import open_model

from .tiny_checkpoints import POSITIONS, WIDTH, make_checkpoint, xlm_bpe, xlm_merges
from .tiny_tasks import (
    NEIGHBOURS,
    PAIRS,
    QUESTIONS,
    TAGS,
    WIDE,
    bitext,
    gold,
    pairs,
    questions,
    settings,
    split_of,
    tags,
)


@pytest.fixture(scope="module")
def phobert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """RoBERTa with PhoBERT's tokenizer, which is written in Python and needs no further package."""
    folder = tmp_path_factory.mktemp("slow") / "phobert"
    folder.mkdir()
    pieces, merges = xlm_merges()
    # A piece inside a word ends in @@ there.
    words = [p[: -len("</w>")] if p.endswith("</w>") else f"{p}@@" for p in pieces[6:]]
    vocabulary = dict.fromkeys(words)
    (folder / "vocab.txt").write_text("".join(f"{w} 1\n" for w in vocabulary), encoding="utf-8")
    codes = "".join(f"{first} {second} 1\n" for first, second in merges)
    (folder / "bpe.codes").write_text(codes, encoding="utf-8")
    tokenizer = {"tokenizer_class": "PhobertTokenizer", "model_max_length": 256}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    config = RobertaConfig(
        vocab_size=len(vocabulary) + 5,
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=2 * WIDTH,
        max_position_embeddings=POSITIONS + 2,
        type_vocab_size=1,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.1,
        tokenizer_class="PhobertTokenizer",
    )
    AutoModel.from_config(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize(("task", "make"), [(PAIRS, pairs), (TAGS, tags)])
def test_learns_with_a_slow_tokenizer(task: Any, make: Any, phobert: Path, tmp_path: Path) -> None:
    into = tmp_path / "tuned"
    into.mkdir()
    adapter = open_model(str(phobert), WIDE)
    assert "slow tokenizer" in adapter.describe().notes
    adapter.finetune(task, make(), None, settings(), 1, into, Silent())
    tuned = adapter.finetuned(task, into)
    assert tuned.predict(task, make(), settings(), Silent()).values == gold(make())


def test_every_word_gets_a_tag_from_a_slow_tokenizer(phobert: Path, tmp_path: Path) -> None:
    into = tmp_path / "tuned"
    into.mkdir()
    adapter = open_model(str(phobert), WIDE)
    adapter.finetune(TAGS, tags(), None, settings(epochs=1), 1, into, Silent())
    sentences = [("boat", "", " ", "\u3000", "the"), tuple(["boat"] * 200)]
    examples = [TaggingExample(f"t{i}", words, None) for i, words in enumerate(sentences)]
    tuned = adapter.finetuned(TAGS, into)
    found = tuned.predict(TAGS, split_of(TAGS, examples, "test"), settings(), Silent())
    predicted: Any = found.values
    assert [len(tags) for tags in predicted] == [5, 200]
    assert found.counts["words_without_pieces"] == 3
    assert found.counts["sentences_cut"] >= 2


def test_retrieves_with_a_slow_tokenizer(phobert: Path) -> None:
    split = bitext()
    text = split.examples[0]
    assert isinstance(text, Bitext)
    assert text.gold is not None
    found = open_model(str(phobert), WIDE).predict(NEIGHBOURS, split, settings(), Silent())
    assert found.values == [target for _, target in text.gold]


def test_question_answering_says_what_it_lacks(phobert: Path, tmp_path: Path) -> None:
    adapter = open_model(str(phobert), WIDE)
    with pytest.raises(InputError, match="PhobertTokenizer gives no character offsets") as error:
        adapter.finetune(QUESTIONS, questions(), None, settings(), 1, tmp_path, Silent())
    assert "tokenizer.json" in str(error.value.mend)


@pytest.fixture
def slow_xlm(tmp_path: Path) -> Path:
    """XLM with the files of its own tokenizer, which needs sacremoses."""
    folder = make_checkpoint("xlm", tmp_path / "xlm")
    (folder / "tokenizer.json").unlink()
    pieces, merges = xlm_merges()
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    lines = "".join(f"{first} {second} 1\n" for first, second in merges)
    (folder / "merges.txt").write_text(lines, encoding="utf-8")
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    settings |= {"tokenizer_class": "XLMTokenizer", "do_lowercase_and_remove_accent": False}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


def test_a_package_that_a_tokenizer_needs_is_named(
    slow_xlm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(InputError, match="sacremoses") as error:
        open_model(str(slow_xlm), WIDE)
    assert error.value.where == str(slow_xlm)
    assert "install that package" in str(error.value.mend)
    assert "tokenizer.json" in str(error.value.mend)


def test_xlms_own_tokenizer_where_its_package_is_there(slow_xlm: Path, tmp_path: Path) -> None:
    pytest.importorskip("sacremoses", reason="XLM's own tokenizer needs sacremoses")
    into = tmp_path / "tuned"
    into.mkdir()
    adapter = open_model(str(slow_xlm), WIDE)
    text = "the old boat waits"
    expected = xlm_bpe().encode(text, add_special_tokens=False).tokens
    assert AutoTokenizer.from_pretrained(slow_xlm).tokenize(text) == expected
    adapter.finetune(TAGS, tags(), None, settings(), 1, into, Silent())
    found = adapter.finetuned(TAGS, into).predict(TAGS, tags(), settings(), Silent())
    assert found.values == gold(tags())
