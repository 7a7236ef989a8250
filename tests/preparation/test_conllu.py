"""The CoNLL-U reader."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.errors import InputError
from xharness.preparation.conllu import (
    MultiwordToken,
    Sentence,
    Word,
    enhanced_heads,
    read_conllu,
)

from .raw import block, row


def read(text: str) -> list[Sentence]:
    return list(read_conllu(text.split("\n"), "x.conllu"))


def test_words_ranges_and_empty_nodes_are_told_apart() -> None:
    text = block(
        "# text = Er geht zum\tHaus",
        row("1", "Er", "PRON", "2"),
        row("2", "geht", "VERB", "0", "0:root|8.1:x"),
        row("3-4", "zum"),
        row("3", "zu", "ADP", "5"),
        row("4", "dem", "DET", "5"),
        row("5", "Haus", "NOUN", "2"),
        row("5.1", "_"),
    )
    (sentence,) = read(text)
    assert sentence.line == 2
    assert [word.form for word in sentence.words] == ["Er", "geht", "zu", "dem", "Haus"]
    assert sentence.words[1] == Word("geht", "VERB", 0, "0:root|8.1:x")
    assert sentence.multiword_tokens == (MultiwordToken(3, 4, "zum"),)
    assert sentence.empty_nodes == 1


def test_last_sentence_needs_no_blank_line() -> None:
    assert [len(s.words) for s in read(f"{row('1', 'a', 'X')}\n\n{row('1', 'b', 'X')}")] == [1, 1]


def test_blocks_without_rows_give_nothing() -> None:
    assert read("# a comment alone\n\n\n\n") == []


def test_u2028_and_u001d_end_no_line() -> None:
    (sentence,) = read(block(row("1", "a\u2028b\u001dc", "X", "0")))
    assert sentence.words[0].form == "a\u2028b\u001dc"


def test_enhanced_heads_skip_empty_nodes_and_rubbish() -> None:
    assert list(enhanced_heads("4:nsubj|8.1:obj|0:root|12:conj:and|²:x|SpaceAfter=No")) == [
        4,
        0,
        12,
    ]
    assert list(enhanced_heads("_")) == []


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("1\ta\t_\tX", 1, "4 columns"),
        (block(row("1", "a", "X"), row("3", "b", "X")), 2, "word id 3 where 2 should follow"),
        (block(row("1", "a", "X"), row("1", "b", "X")), 2, "word id 1 where 2 should follow"),
        (block(row("x", "a", "X")), 1, "'x'"),
        (block(row("0", "a", "X")), 1, "'0'"),
        (block(row("9" * 5000, "a", "X")), 1, "no word"),
        (block(row("1", "a", "X", "seven")), 1, "'seven'"),
        (block("# c", row("1", "a", "X", "2")), 2, "head 2 in a sentence of 1 words"),
        (block(row("2-1", "ab"), row("1", "a", "X"), row("2", "b", "X")), 1, "backwards"),
        (block(row("1-2", "ab"), row("1", "a", "X")), 1, "range 1-2 in a sentence of 1 words"),
        (block(row("1", "a", " ")), 1, "UPOS"),
        (block("# c", row("8.1", "_")), 2, "empty nodes alone"),
        (
            block(row("1-2", "ab"), row("1", "a", "X"), row("2-2", "b"), row("2", "b", "X")),
            3,
            "overlaps",
        ),
    ],
)
def test_a_broken_row_is_named_with_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert caught.value.where == f"x.conllu:{line}"
    assert what in caught.value.what


forms = st.text(st.characters(codec="utf-8", exclude_characters="\t\n"), min_size=1)
tags = st.sampled_from(["NOUN", "VERB", "ADP", "_"])


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    size = draw(st.integers(1, 6))
    heads = st.one_of(st.none(), st.integers(0, size))
    deps = st.lists(st.integers(0, size), max_size=2).map(
        lambda found: "|".join(f"{head}:dep" for head in found) or "_"
    )
    words = tuple(Word(draw(forms), draw(tags), draw(heads), draw(deps)) for _ in range(size))
    ranges, first = [], 1
    while first <= size:
        last = draw(st.integers(first, size))
        if draw(st.booleans()):
            ranges.append(MultiwordToken(first, last, draw(forms)))
        first = last + 1
    return Sentence(0, words, tuple(ranges), draw(st.integers(0, 2)))


def as_conllu(sentence: Sentence) -> str:
    starts = {token.first: token for token in sentence.multiword_tokens}
    rows = []
    for number, word in enumerate(sentence.words, 1):
        if token := starts.get(number):
            rows.append(row(f"{token.first}-{token.last}", token.form))
        head = "_" if word.head is None else str(word.head)
        rows.append(row(str(number), word.form, word.upos, head, word.deps))
    rows += [row(f"{len(sentence.words)}.{k}", "_") for k in range(1, sentence.empty_nodes + 1)]
    return block(*rows)


@given(st.lists(sentences(), max_size=4))
def test_what_is_written_is_read_back(written: list[Sentence]) -> None:
    found = read("".join(as_conllu(sentence) for sentence in written))
    assert [(s.words, s.multiword_tokens, s.empty_nodes) for s in found] == [
        (s.words, s.multiword_tokens, s.empty_nodes) for s in written
    ]


pieces = st.sampled_from(["1", "2", "1-2", "1.1", "_", "\t", "\n", "#", "a", "0", "|", ":", " "])
near_misses = st.lists(pieces, max_size=60).map("".join)
columns = st.sampled_from(["1", "2", "3", "1-2", "2-3", "1.1", "_", "", "0", "-1", "X", "٣"])
rows_of_ten = st.lists(st.lists(columns, min_size=10, max_size=10).map("\t".join), max_size=5)


@given(st.one_of(st.text(), near_misses, rows_of_ten.map("\n".join)))
def test_any_text_is_read_or_refused_in_one_way(text: str) -> None:
    with contextlib.suppress(InputError):  # any other exception fails the test
        for sentence in read(text):
            assert sentence.words
