"""MLQA's clean-up has faults of its own. The official profile keeps them to the letter, the strict one has none."""

from __future__ import annotations

import pytest

from xharness.errors import InputError
from xharness.scoring.answer_rules import mlqa_tokenizer
from xharness.scoring.language_rules import language_tokenizer


@pytest.mark.parametrize(
    ("language", "text", "official", "strict"),
    [
        ("ar", "مجال", ["مج"], ["مجال"]),  # the article is taken out anywhere, not in front alone
        ("ar", "الكتاب", ["كتاب"], ["كتاب"]),
        ("es", "una casa", ["casa"], ["casa"]),
        ("es", "lo bueno", ["lo", "bueno"], ["bueno"]),  # lo is not in its list
        ("de", "an einem Tag", ["an", "tag"], ["an", "tag"]),
        ("vi", "cái bàn", ["bàn"], ["cái", "bàn"]),  # a classifier counts as an article
        ("en", "L'eau", ["leau"], ["leau"]),
        ("zh", "カナ漢", ["カナ", "漢"], ["カ", "ナ", "漢"]),  # kana stay together
        ("zh", "𠀀𠀁", ["𠀀𠀁"], ["𠀀", "𠀁"]),  # so do ideographs of extension B
        ("zh", "\u9fa6\u9fa5", ["\u9fa6", "\u9fa5"], ["\u9fa6", "\u9fa5"]),
        ("hi", "एक घर।", ["एक", "घर"], ["एक", "घर"]),
    ],
)
def test_each_profile_has_its_own_tokens(
    language: str, text: str, official: list[str], strict: list[str]
) -> None:
    assert mlqa_tokenizer(language)(text) == official
    assert language_tokenizer(language)(text) == strict


def test_french_is_unknown_to_the_official_script_only() -> None:
    for language in ("fr", "th"):
        with pytest.raises(InputError, match=f"does not know the language '{language}'"):
            mlqa_tokenizer(language)
    assert language_tokenizer("fr")("L'eau") == ["eau"]
    assert language_tokenizer("th")("กา") == ["ก", "า"]
