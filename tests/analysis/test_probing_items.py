"""Spans and labels that are probed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.preparation.raw import block
from xharness.analysis.probing_items import (
    arc_items,
    entity_items,
    read_arcs,
    split_in_five,
    treebank_files,
    word_items,
)
from xharness.data.examples import TaggingExample
from xharness.errors import InputError


def tagged(tags: str, name: str = "1") -> TaggingExample:
    words = tuple(f"w{i}" for i in range(len(tags.split())))
    return TaggingExample(name, words, tuple(tags.split()))


def row(number: str, form: str, head: str = "_", relation: str = "_") -> str:
    return "\t".join([number, form, "_", "X", "_", "_", head, relation, "_", "_"])


def test_every_word_is_an_item_counted_through_all_sentences() -> None:
    items = word_items([tagged("DET NOUN"), tagged("VERB")])
    assert items.spans.tolist() == [[[0, 1]], [[1, 2]], [[2, 3]]]
    assert items.labels == ("DET", "NOUN", "VERB")
    assert items.sentences == (("w0", "w1"), ("w0",))


def test_entities_by_hand() -> None:
    """An entity goes on over I- tags of its type; B-, another type, O and the sentence's end end it."""
    items = entity_items([tagged("B-PER I-PER O B-LOC B-LOC I-ORG"), tagged("I-ORG I-ORG")])
    assert [tuple(span[0]) for span in items.spans.tolist()] == [
        (0, 2),
        (3, 4),
        (4, 5),
        (5, 6),
        (6, 8),
    ]
    assert items.labels == ("PER", "LOC", "LOC", "ORG", "ORG")
    assert items.counts == {"entities_without_beginning": 2}


@given(
    st.lists(st.lists(st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B"]), min_size=1), min_size=1)
)
def test_entities_cover_exactly_the_words_that_are_tagged(sentences: list[list[str]]) -> None:
    items = entity_items([tagged(" ".join(tags)) for tags in sentences])
    flat = [tag for tags in sentences for tag in tags]
    covered = [i for ((start, end),) in items.spans.tolist() for i in range(start, end)]
    assert covered == [i for i, tag in enumerate(flat) if tag != "O"]
    for ((start, end),), label in zip(items.spans.tolist(), items.labels, strict=True):
        assert {tag[2:] for tag in flat[start:end]} == {label}


def test_sentences_without_tags_are_refused() -> None:
    with pytest.raises(InputError, match="some sentences have no tags"):
        word_items([TaggingExample("1", ("a",), None)])


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "de_pud-ud-test.conllu"
    text = block(
        "# sent_id = 1",
        row("1", "Sie", "2", "nsubj:pass"),
        row("2", "geht", "0", "root"),
        row("3-4", "zum"),
        row("3", "zu", "5", "case"),
        row("4", "dem", "5", "det"),
        row("5", "Markt", "2", "obl"),
        row("5.1", "leer"),
    )
    text += block(row("1", "Ja", "0", "root"), row("2", "!", "1", "punct"))
    path.write_text(text, encoding="utf-8")
    return path


def test_arcs_by_hand(treebank: Path) -> None:
    """Head first, then the dependent; roots are no arcs; subtypes, ranges and empty nodes are left out."""
    arcs = read_arcs(treebank)
    assert arcs.sentences == (("Sie", "geht", "zu", "dem", "Markt"), ("Ja", "!"))
    assert arcs.heads == ((2, 0, 5, 5, 2), (0, 1))
    items = arc_items(arcs)
    assert items.labels == ("nsubj", "case", "det", "obl", "punct")
    assert [(head[0], word[0]) for head, word in items.spans.tolist()] == [
        (1, 0),
        (4, 2),
        (4, 3),
        (1, 4),
        (5, 6),
    ]
    assert items.counts == {"roots_and_words_without_head": 2, "words_of_multiword_tokens": 2}


def test_a_limit_and_a_part_are_of_sentences(treebank: Path) -> None:
    assert read_arcs(treebank, 1).sentences == read_arcs(treebank).sentences[:1]
    second = arc_items(read_arcs(treebank).part([1]))
    assert second.labels == ("punct",)
    assert second.counts == {"roots_and_words_without_head": 1}


def test_a_broken_file_is_refused_by_line(treebank: Path) -> None:
    treebank.write_text(treebank.read_text().replace("2\t!", "7\t!"))
    with pytest.raises(InputError, match="conllu:11: word id 7 where 2 should follow"):
        read_arcs(treebank)


def test_files_are_found_by_language_and_split(treebank: Path) -> None:
    with pytest.raises(InputError, match="no English treebank"):
        treebank_files(treebank.parent)
    for name in ("en_ewt-ud-train", "en_gum-ud-train", "en_ewt-ud-dev", "notes"):
        (treebank.parent / f"{name}.conllu").touch()
    found = treebank_files(treebank.parent)
    assert {key: [path.stem for path in paths] for key, paths in found.items()} == {
        ("de", "test"): ["de_pud-ud-test"],
        ("en", "train"): ["en_ewt-ud-train", "en_gum-ud-train"],
        ("en", "dev"): ["en_ewt-ud-dev"],
    }


@given(st.integers(5, 200))
def test_a_split_in_five_loses_and_repeats_nothing(size: int) -> None:
    train, dev, test = split_in_five(size)
    assert sorted([*train, *dev, *test]) == list(range(size))
    assert len(dev) in (len(test), len(test) + 1)
    assert len(train) >= 3 * len(test)


@pytest.mark.shared
def test_real_treebanks(shared: Path) -> None:
    """A hundred sentences each; every word but one a sentence has a head of its own (a tree)."""
    files = treebank_files(shared / "data" / "extra" / "ud_conllu")
    assert len(files) == 33
    for language in ("en", "he", "vi"):
        arcs = read_arcs(files[language, "test"][0])
        assert len(arcs.sentences) == 100
        assert all(heads.count(0) == 1 for heads in arcs.heads)
        words = sum(map(len, arcs.sentences))
        assert len(arc_items(arcs)) == words - 100
