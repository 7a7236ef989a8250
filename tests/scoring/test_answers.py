"""Answers: exact match and F1, and the files that hold them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scoring.submission import squad, write
from xharness.errors import InputError
from xharness.scoring.answer_rules import mlqa_tokenizer, squad_tokens
from xharness.scoring.answers import read_answers, score_answers, token_f1
from xharness.scoring.language_score import LanguageScore


def answers_score(
    folder: Path, gold: str | bytes, predicted: str | bytes, language: str | None = None
) -> LanguageScore:
    tokenize = squad_tokens if language is None else mlqa_tokenizer(language)
    return score_answers(
        write(folder / "answers.json", predicted), write(folder / "gold.json", gold), tokenize
    )


def one(
    folder: Path, gold: str, predicted: str, language: str | None = None
) -> tuple[float, float]:
    """Exact match and F1 of one answer."""
    answer = json.dumps({"q": predicted})
    figures = answers_score(folder, squad({"q": [gold]}), answer, language).figures
    return figures["exact_match"], figures["f1"]


@pytest.mark.parametrize(
    ("gold", "predicted", "exact", "f1"),
    [
        ("The U.S. Army", "us army", 100, 100),
        ("blue house", "house", 0, 200 / 3),
        ("house house", "house", 0, 200 / 3),
        ("天气很好", "天气好", 0, 0),  # pitfall 10
        ("北京", "北京。", 0, 0),
        ("สวัสดีครับ", "สวัสดี", 0, 0),
        (
            "«the»",
            "« »",
            100,
            100,
        ),  # an article becomes a blank; other than ASCII punctuation stays
        ("", "", 100, 0),  # both without tokens
        ("The", "an", 100, 0),
        ("", "x", 0, 0),
    ],
)
def test_squad_rules(tmp_path: Path, gold: str, predicted: str, exact: float, f1: float) -> None:
    assert one(tmp_path, gold, predicted) == pytest.approx((exact, f1))


@pytest.mark.parametrize(
    ("language", "gold", "predicted", "exact", "f1"),
    [
        ("zh", "天气很好", "天气好", 0, 600 / 7),  # pitfall 10: P 1, R 3/4
        ("zh", "北京", "北京。", 100, 100),
        ("zh", "2008年8月", "2008 年 8 月", 100, 100),
        ("zh", "ラーメン", "ラー", 0, 0),  # kana are one token
        ("zh", "\U00020000\U00020001", "\U00020000", 0, 0),  # so is Ext-B
        ("ar", "مجال", "مج", 100, 100),  # pitfall 13: ال goes anywhere
        ("ar", "الكتاب", "كتاب", 100, 100),
        ("de", "an einem Tag", "an Tag", 100, 100),
        ("es", "una casa", "casa", 100, 100),
        ("vi", "cái nhà", "nhà", 100, 100),
        ("vi", "là", "của", 100, 0),
        ("en", "L'eau", "Leau", 100, 100),
        ("en", "«the» cat", "cat", 100, 100),  # Unicode punctuation goes
        ("hi", "भारत।", "भारत", 100, 100),
        ("hi", "the house", "house", 0, 200 / 3),
    ],
)
def test_mlqa_rules(
    tmp_path: Path, language: str, gold: str, predicted: str, exact: float, f1: float
) -> None:
    assert one(tmp_path, gold, predicted, language) == pytest.approx((exact, f1))


def test_mlqa_does_not_know_thai() -> None:
    """Pitfall 13."""
    with pytest.raises(InputError, match=r"does not know the language 'th'.*--profile strict"):
        mlqa_tokenizer("th")


tokens = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=6)


@given(tokens, tokens)
def test_token_f1_is_the_overlap_of_bags(predicted: list[str], gold: list[str]) -> None:
    same = (Counter(predicted) & Counter(gold)).total()
    expected = 2 * same / (len(predicted) + len(gold)) if same else 0.0
    assert token_f1(predicted, gold) == pytest.approx(expected)


def test_best_gold_answer_counts_and_unanswered_scores_zero(tmp_path: Path) -> None:
    gold = squad({"1": ["red house", "blue house"], "2": ["x"], "3": ["y z"], "4": ["v"]})
    score = answers_score(tmp_path, gold, '{"1": "blue house", "2": "", "3": "z", "5": "?"}')
    assert score.figures == {"exact_match": 25.0, "f1": pytest.approx(100 * (1 + 2 / 3) / 4)}
    assert score.counts == {
        "examples": 4,
        "unanswered": 1,
        "empty_answers": 1,
        "extra_ids": 1,
    }


def test_questions_with_one_id_share_its_answer(tmp_path: Path) -> None:
    paragraph = json.loads(squad({"q": ["x"]}))["data"][0]["paragraphs"][0]
    other = json.loads(squad({"q": ["y"]}))["data"][0]["paragraphs"][0]
    gold = json.dumps({"data": [{"paragraphs": [paragraph, other]}]})
    score = answers_score(tmp_path, gold, '{"q": "x"}')
    assert score.figures == {"exact_match": 50.0, "f1": 50.0}
    assert score.counts["gold_duplicate_ids"] == 1


def test_integer_ids_in_gold_are_their_digits(tmp_path: Path) -> None:
    gold = squad({"17": ["x"]}).replace('"id": "17"', '"id": 17')
    score = answers_score(tmp_path, gold, '{"17": "x"}')
    assert score.figures["exact_match"] == 100.0
    assert score.counts["gold_integer_ids"] == 1


def test_byte_order_mark_and_bare_list_of_articles(tmp_path: Path) -> None:
    gold = json.dumps(json.loads(squad({"q": ["x"]}))["data"])
    score = answers_score(tmp_path, gold, b'\xef\xbb\xbf{"data": {"q": "x"}}')
    assert score.figures["exact_match"] == 100.0
    assert score.counts["byte_order_marks"] == 1


def test_gold_without_any_answer_is_a_placeholder(tmp_path: Path) -> None:
    score = answers_score(tmp_path, squad({"1": [], "2": []}), '{"1": "x"}')
    assert score.status == "unscored"
    assert score.reason == f"no gold answers in {tmp_path / 'gold.json'}"
    assert score.counts == {"examples": 2, "unanswered": 1, "gold_empty_answers": 2}


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        ('{"q": "x",\n "r": 3}', r"answers.json:2: the answer of 'r' is not a string but 3"),
        ('{"q": "x",\n "r": NaN}', r"answers.json:2: the answer of 'r' is not a string but NaN"),
        ('{"q":\n ["x", "y"]}', r'answers.json:1: the answer of \'q\' is not a string but \["x"'),
        ('{"q": null}', "is not a string but null"),
        ('{"q": "x",\n"q": "y"}', "answers.json:1: two different values for the key 'q'"),
        ('["x"]', "answers.json:1: not a JSON object"),
        ('{"q": "x",\n', "answers.json:2: not JSON"),
        ("", "answers.json:1: not JSON"),
        ("[" * 100_000, "answers.json: not usable JSON"),
    ],
)
def test_unusable_predictions(tmp_path: Path, predicted: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        answers_score(tmp_path, squad({"q": ["x"]}), predicted)


def test_not_utf_8(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"answers.json:2: not UTF-8 \(byte 0xe9\)"):
        answers_score(tmp_path, squad({"q": ["x"]}), b'{"q":\n"caf\xe9"}')


def test_repeated_key_with_one_value_is_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "answers.json", '{"q": "x", "q": "x"}')
    answers, counts = read_answers(path)
    assert answers == {"q": "x"}
    assert +counts == {"duplicate_keys": 1}


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        (squad({"1": ["x"], "2": []}), "question '2' has no gold answer"),
        ('{"data": [{"paragraphs": [{}]}]}', "not SQuAD JSON"),
        ('{"q": "x"}', "not SQuAD JSON"),
        ('{"data": []}', "no question in the file"),
        (squad({"1": ["x"]}).replace('"text": "x"', '"text": 5'), "question '1' has an id or"),
        (squad({"1": ["x"]}).replace('"text"', '"txt"'), "question '1' lacks its id or the text"),
        (squad({"1": ["x"]}).replace('"id"', '"id": "2", "id"'), "two different values"),
        ('{"data": [\n{"paragraphs": [{"context": "\n", ]}', "gold.json:2: not JSON"),
    ],
)
def test_unusable_gold(tmp_path: Path, gold: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        answers_score(tmp_path, gold, "{}")
