"""An answer is cut from the context, character by character; it is never put together from pieces."""

from __future__ import annotations

import pytest

from tests.pitfalls.questions import ask, gold_answers
from tests.pitfalls.tiny_tokenizers import FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("context", "answer"),
    [
        ("他在1999年去世", "1999年"),
        ("他在1999年去世", "他在1999年去世"),
        ("Dr. J. O'Neil-Smith  left", "O'Neil-Smith  left"),
        ("in 1,000.5 km", "1,000.5 km"),
        ("ÀÉÎ und Öl", "ÀÉÎ und"),
        ("a\tb\nc d", "b\nc"),
    ],
)
def test_the_answer_is_the_very_text(family: str, context: str, answer: str) -> None:
    assert gold_answers([ask("1", context, answer)], FAMILIES[family]()) == {"1": answer}
