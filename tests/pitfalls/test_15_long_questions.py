"""Questions as long as the window: they are cut, the stride fits what is left, and nothing of the context is lost."""

from __future__ import annotations

import pytest

from tests.pitfalls.questions import encoded, gold_answers
from tests.pitfalls.tiny_tokenizers import FAMILIES
from xharness.data.examples import Answer, QuestionExample
from xharness.specs.recipe import Settings

CONTEXT = " ".join(f"w{i}" for i in range(120))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("stride", [1, 128, 10**6])
@pytest.mark.parametrize("query", [8, 64])
def test_a_question_of_seventy_words(family: str, stride: int, query: int) -> None:
    settings = Settings(max_length=64, doc_stride=stride, max_query_length=query)
    question = " ".join(["wort"] * 70)
    at = CONTEXT.index("w97")
    example = QuestionExample("1", question, CONTEXT, (Answer("w97", at),))
    pieces = FAMILIES[family]()
    encoding = encoded([example], pieces, settings)
    assert int(encoding.lengths.max()) <= 64
    assert encoding.counts["questions_cut"] == 1
    assert int(encoding.context_lengths.min()) > 0
    # Every piece of the context is in some window, and one of them sees it best.
    total = len(encoding.characters)
    assert int(encoding.is_max_context.sum()) == total
    assert gold_answers([example], pieces, settings) == {"1": "w97"}
