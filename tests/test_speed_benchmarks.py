"""scripts/speed: what is counted as needed, what grows, and that the three ways come to the same decisions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.fixture(autouse=True)
def _scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "speed"]:
        del sys.modules[name]


def test_arithmetic_that_encoding_needs() -> None:
    from speed.measuring import encoder_flops

    config = BertConfig(hidden_size=2, intermediate_size=3, num_hidden_layers=2)
    # A window of 5 positions, its head looking at one. A product of (m, k) and (k, n) takes 2 m k n operations.
    maps = 2 * 5 * 2 * 2  # one map of width 2
    attention = 2 * (2 * 5 * 2 * 5)  # scores and weighted sum
    feed_forward = 2 * (2 * 5 * 2 * 3)
    first = 4 * maps + attention + feed_forward
    last = 2 * maps + (2 * maps + attention + feed_forward) // 5
    assert encoder_flops(config, np.array([5]), np.array([1])) == first + last
    assert encoder_flops(config, np.array([5, 5]), np.array([5, 5])) == 2 * 2 * first


def test_synthetic_sentences_have_every_word(tmp_path: Path) -> None:
    from speed.growth import WORDS, write_sentences

    path = tmp_path / "test-en.tsv"
    write_sentences(path, 30_000, ("A", "B", "C"))
    sentences = path.read_text(encoding="utf-8").split("\n\n")
    assert sentences.pop() == ""
    assert len(sentences) == 30_000
    assert {len(sentence.split("\n")) for sentence in sentences} == set(range(4, 13))
    words = {line.split("\t")[0] for sentence in sentences for line in sentence.split("\n")}
    assert len(words) == WORDS


@pytest.mark.shared
@pytest.mark.parametrize("name", ["udpos", "xnli", "xquad"])
def test_the_three_ways_decide_the_same(name: str, shared: Path, tmp_path: Path) -> None:
    """A random model's decisions, of questions those in one window."""
    from speed.materials import material, save_with_heads
    from speed.opening import open_way

    from xharness.models.checkpoints import load_config, load_tokenizer, save_checkpoint
    from xharness.tasks import question_answering

    data = shared / "data" / "xtreme_mini"
    reference = str(shared / "models" / "multilingual-e5-small-trimmed")
    tokenizer, pieces = load_tokenizer(reference, load_config(reference))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=48,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.3,
    )
    save_checkpoint(BertModel(config), tokenizer, tmp_path / "plain")
    save_with_heads(str(tmp_path / "plain"), data, tmp_path)
    found = material(name, data, 16, 4, ("en", "zh"))
    decisions: dict[str, list[Any]] = {}
    for way in ("ours", "common-8", "official"):
        (tmp_path / way).mkdir()
        opened = open_way(way, str(tmp_path / name), found, tmp_path / way)
        decisions[way] = [opened.predict(split) for split in found.splits]
    if name != "xquad":
        assert decisions["ours"] == decisions["common-8"] == decisions["official"]
        return
    # Of a question's windows the Trainer's way takes any, and the official way's answers are whole words.
    compared = 0
    for split, ours, common in zip(
        found.splits, decisions["ours"], decisions["common-8"], strict=True
    ):
        examples: Any = split.examples
        encoding = question_answering.encode(examples, found.task, pieces, found.settings)
        windows = np.bincount(encoding.questions)
        for example, count in zip(examples, windows, strict=True):
            if count == 1:
                assert ours[example.id] == common[example.id]
                compared += 1
    assert compared >= 4
