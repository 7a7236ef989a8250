"""Words and their numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.language_modelling.config import TextSettings
from xharness.language_modelling.words import END, UNKNOWN, build_vocabulary, split_line


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("The cat's well-known.", ["the", "cat's", "well-known", "."]),
        ("«Don’t!» 3.5", ["«", "don’t", "!", "»", "3", ".", "5"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("a -b- c", ["a", "-", "b", "-", "c"]),
        (" \t ", []),
    ],
)
def test_split(line: str, words: list[str]) -> None:
    """Marks stand alone; apostrophes and hyphens inside a word, and vowel signs, belong to it."""
    assert split_line(line, TextSettings()) == words


def test_prepared_text_is_left_as_it_is() -> None:
    settings = TextSettings(words="whitespace", lowercase=False)
    assert split_line("The <unk> 's N.", settings) == ["The", "<unk>", "'s", "N."]


@given(st.text())
def test_splitting_loses_nothing_but_white_space(line: str) -> None:
    settings = TextSettings(lowercase=False)
    assert "".join(split_line(line, settings)) == "".join(line.split())


def test_vocabulary_by_frequency() -> None:
    """b three times, c and a twice in the order of their first places, d once."""
    lines = [["b", "c", "a", "b"], ["c", "a", "b", "d"]]
    assert build_vocabulary(lines, 5).words == (UNKNOWN, END, "b", "c", "a")
    assert build_vocabulary(lines, 99).words == (UNKNOWN, END, "b", "c", "a", "d")


def test_unknown_words_are_counted() -> None:
    vocabulary = build_vocabulary([["a", "a", "b"]], 3)
    encoded = vocabulary.encode([["a", "b", "a"], ["<unk>"], []])
    assert encoded.ids.tolist() == [2, 0, 2, 1, 0, 1, 1]
    assert (encoded.lines, encoded.unknown) == (3, 2)
    assert encoded.unknown_percent == pytest.approx(200 / 7)


def test_special_words_of_a_prepared_text_are_no_further_entries() -> None:
    """``<unk>`` is the most frequent word of the Penn Treebank's usual form."""
    vocabulary = build_vocabulary([["<unk>", "<unk>", "<eos>", "a", "b"]], 3)
    assert vocabulary.words == (UNKNOWN, END, "a")
