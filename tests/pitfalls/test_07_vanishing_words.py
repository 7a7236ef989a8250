"""Words of which a tokenizer leaves nothing keep their place and get a decision, which is counted."""

from __future__ import annotations

import pytest

from tests.pitfalls.tiny_tokenizers import FAMILIES, bert_pieces
from xharness.data.examples import TaggingExample
from xharness.specs.recipe import Settings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.tagging import TaggingEncoding, encode, tags_of

ODD = ["\u00ad", "\u200b", "\u200e", "\u0000", "\ufffd", "\u3000", "\ufeff", "\ufe0f", "\u0301", ""]
VANISHING = ["\u00ad", "\u200b", "\u200e", "\u0000", "\ufffd", "\u3000", "\ufeff", ""]

PANX = load(TaskSpec, "panx")


def encoded(family: str, word: str) -> tuple[TaggingEncoding, TaggingExample]:
    example = TaggingExample("1", ("a", word, "b"), ("B-PER", "O", "B-LOC"))
    return encode([example], PANX, FAMILIES[family](), Settings()), example


@pytest.mark.parametrize("word", ODD, ids=ascii)
@pytest.mark.parametrize("family", FAMILIES)
def test_three_words_get_three_tags(family: str, word: str) -> None:
    encoding, example = encoded(family, word)
    assert encoding.labels.tolist() == [PANX.labels.index(tag) for tag in ("B-PER", "O", "B-LOC")]
    assert list(tags_of(encoding.labels, [example], PANX)) == [["B-PER", "O", "B-LOC"]]
    # Three different pieces decide, in order.
    assert sorted(set(encoding.word_positions.tolist())) == encoding.word_positions.tolist()
    # The words around are read as ever.
    pieces = bert_pieces() if family.startswith("bert") else FAMILIES[family]()
    first, last = encoding.ids[encoding.word_positions[[0, 2]]].tolist()
    assert [first] == pieces.words(["a"])[0].tolist()[:1]
    assert [last] == pieces.words(["b"])[0].tolist()[:1]


@pytest.mark.parametrize("word", VANISHING, ids=ascii)
def test_the_fallback_is_the_unknown_token_and_is_counted(word: str) -> None:
    encoding, _ = encoded("bert", word)
    assert encoding.counts == {"words_without_pieces": 1}
    assert encoding.ids[encoding.word_positions[1]] == bert_pieces().unknown_id


@pytest.mark.parametrize("word", ["\ufe0f", "\u0301"], ids=ascii)
def test_a_mark_alone_is_a_piece_for_bert(word: str) -> None:
    assert encoded("bert", word)[0].counts == {}
