"""Normalisation of the strict profile, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.scoring.answers import token_f1
from xharness.scoring.language_rules import ARTICLES, fold, language_tokenizer
from xharness.specs.languages import language_table


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("zh", "天气很好，2008年。", ["天", "气", "很", "好", "2008", "年"]),
        ("zh", "iPhone手机", ["iphone", "手", "机"]),
        ("zh", "\U00020000\U00020001々", ["\U00020000", "\U00020001", "々"]),
        ("ja", "東京タワー（３３３ｍ）", ["東", "京", "タ", "ワ", "ー", "333m"]),
        ("ja", "ﾀﾜｰ", ["タ", "ワ", "ー"]),  # half width
        ("th", "ครับ ๒๕๔๐", ["ค", "รั", "บ", "2540"]),
        ("ko", "서울시에서", ["서", "울", "시", "에", "서"]),
        ("my", "မာ", ["မာ"]),
        ("km", "ជា", ["ជា"]),
        ("lo", "ລາວ", ["ລ", "າ", "ວ"]),
        ("fr", "L’eau d'Évian", ["eau", "d", "évian"]),
        ("it", "un'amica", ["amica"]),
        ("ca", "l'aigua", ["aigua"]),
        ("pt", "Os Lusíadas", ["lusíadas"]),
        ("nl", "Het huis", ["huis"]),
        ("hu", "az alma", ["alma"]),
        ("de", "an einem Tag", ["an", "tag"]),
        ("de", "Straße", ["strasse"]),
        ("el", "Ο Σωκράτης", [fold("Σωκράτης", "el")]),
        ("es", "una casa", ["casa"]),
        ("vi", "cái nhà", ["cái", "nhà"]),  # a classifier is no article
        ("ar", "الكتاب", ["كتاب"]),
        ("ar", "مجال", ["مجال"]),
        ("ar", "الى", ["الى"]),  # too short to have a prefix
        ("ar", "كتـــاب", ["كتاب"]),  # tatweel
        ("fa", "می\u200cخواهم", ["میخواهم"]),
        ("he", "צה״ל", ["צהל"]),
        ("hi", "भारत का।", ["भारत", "का"]),
        ("hi", "२०१५", ["2015"]),
        ("tr", "IŞIK İstanbul", ["ışık", "istanbul"]),
        ("az", "I\u0307", ["i"]),
        ("ru", "«Война и мир»", ["война", "и", "мир"]),
        ("en", "New-York", ["new", "york"]),
        ("en", "don't", ["dont"]),
        ("en", "3.5 or 1,000.", ["3.5", "or", "1,000"]),
        ("en", "e\u0301", ["é"]),
        ("en", "5 €", ["5"]),
        ("en", "The The", ["the", "the"]),  # nothing but articles
        ("en", " + ", ["+"]),
        ("en", " ", []),
        ("fi", "the talo", ["the", "talo"]),
        ("xx", "the", ["the"]),
    ],
)
def test_tokens(language: str, text: str, tokens: list[str]) -> None:
    assert language_tokenizer(language)(text) == tokens


@pytest.mark.parametrize(
    ("language", "gold", "predicted", "f1"),
    [
        ("zh", "天气很好", "天气好", 6 / 7),  # pitfall 10
        ("th", "กขค", "กข", 4 / 5),
        ("ko", "서울시", "서울", 4 / 5),
        ("ar", "مجال", "مج", 0),  # pitfall 13
        ("en", "3.5", "35", 0),
    ],
)
def test_f1(language: str, gold: str, predicted: str, f1: float) -> None:
    tokenize = language_tokenizer(language)
    assert token_f1(tokenize(predicted), tokenize(gold)) == pytest.approx(f1)


@given(st.text(max_size=30), st.sampled_from(sorted(language_table())))
def test_any_text_keeps_something_and_is_stable_under_blanks(text: str, language: str) -> None:
    tokenize = language_tokenizer(language)
    tokens = tokenize(text)
    assert all(tokens)
    assert tokenize(f"  {text}\n") == tokens
    # Only texts of white space and invisible characters have no token.
    assert bool(tokens) == bool(fold(text, language).strip())


def test_articles_are_of_known_languages() -> None:
    assert set(ARTICLES) <= set(language_table())
