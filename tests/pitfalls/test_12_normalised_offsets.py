"""Normalisers that make several characters of one, or none: every gold answer still comes out exactly."""

from __future__ import annotations

import pytest

from tests.pitfalls.questions import ask, gold_answers
from tests.pitfalls.tiny_tokenizers import FAMILIES

#: Characters that NFKC expands, that decompose, that vanish, or that take several bytes or code units.
ODD = [
    *("½", "㎞", "ﬃ", "ﷺ", "…", "Å", "ﾊﾞ", "㍿", "²", "①", "ǆ"),
    *("e\u0301", "a\u200bb", "x\u00adx", "\u200e", "\ufeff", "n\u0303\u0323", "ก็", "👩‍👩‍👧", "𝔘", "\u3000"),
]  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("odd", ODD, ids=ascii)
def test_answers_after_and_around_an_odd_character(family: str, odd: str) -> None:
    context = f"on {odd} Anna met {odd}{odd} Bob ,{odd}, then Cy"
    questions = [
        ask("after", context, "Anna"),
        ask("later", context, "Bob"),
        ask("last", context, "Cy"),
        ask("across", context, f"Anna met {odd}{odd} Bob"),
    ]
    answers = gold_answers(questions, FAMILIES[family]())
    assert answers == {question.id: question.answers[0].text for question in questions}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_combining_mark_at_the_end_of_an_answer_belongs_to_it(family: str) -> None:
    context = "the cafe\u0301 near here"
    assert gold_answers([ask("1", context, "cafe\u0301")], FAMILIES[family]()) == {
        "1": "cafe\u0301"
    }
