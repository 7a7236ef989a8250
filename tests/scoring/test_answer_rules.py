"""The fast normalisations give the tokens of the plain ones that the benchmark compares with."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.scoring.answer_rules import mlqa_tokenizer, squad_tokens

PLAIN = Path(__file__).resolve().parents[2] / "scripts" / "bench_scoring.py"


def load_plain() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_scoring", PLAIN)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


plain = load_plain()
PIECES = [
    *[
        "the",
        "a",
        "an",
        "una",
        "der",
        "einem",
        "là",
        "những",
        "ال",
        "İ",
        "Σ",
        "ß",
        "天",
        "龥",
        "龦",
        "ァ",
    ],
    *[
        " ",
        "\t",
        "\u00a0",
        "\u3000",
        "\x1c",
        "\u200c",
        ".",
        "'",
        "“",
        "。",
        "·",
        "–",
        "_",
        "$",
        "\u0301",
    ],
]
answers = st.lists(
    st.sampled_from(PIECES) | st.characters(exclude_categories=["Cs"]), max_size=10
).map("".join)


@given(answers)
def test_squad(text: str) -> None:
    assert squad_tokens(text) == plain.squad_normaliser()(text).split()


@pytest.mark.parametrize("language", ["en", "es", "vi", "de", "ar", "hi", "zh"])
def test_mlqa(language: str) -> None:
    normalise, tokenize = plain.mlqa_normaliser(language), mlqa_tokenizer(language)

    @given(answers)
    def same(text: str) -> None:
        assert tokenize(text) == normalise(text).split()

    same()
