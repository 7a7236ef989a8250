"""Span counts: values worked out by hand, and both modes of the seqeval library on random tags."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.scheme import IOB2

from tests.scoring.submission import span_counts, tag_ids
from xharness.scoring import tag_lines
from xharness.scoring.spans import Scheme, SpanCounts, SpanReader, is_iob2
from xharness.scoring.tag_lines import new_vocabulary

Sentences = list[list[str]]

TAGS = [
    *["O", "B-LOC", "I-LOC", "E-LOC", "S-LOC", "B-PER", "I-PER", "B-MISC-x", "I-MISC-x"],
    *["B-", "I-", "B", "I", "E", "S", ".", "_", "-", "--", ".-LOC", "O-LOC", "BB", "ἐν"],
    *["X", "NOUN", "CCONJ", "SCONJ", "INTJ", "OTHER"],
]
IOB2_TAGS = ["O", "B-LOC", "I-LOC", "B-PER", "I-PER"]


def count(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], scheme: Scheme
) -> SpanCounts:
    vocabulary = new_vocabulary()
    truth, guess = tag_ids(gold, vocabulary), tag_ids(predicted, vocabulary)
    return span_counts(SpanReader(list(vocabulary), scheme), truth, guess)


def own(tags: str, scheme: Scheme) -> int:
    """Number of spans in one sentence."""
    counts = count([tags.split()], [tags.split()], scheme)
    assert counts.correct == counts.predicted == counts.gold
    return counts.gold


@pytest.mark.parametrize(
    ("tags", "old", "new"),
    [
        ("NOUN NOUN", 1, 1),
        ("SCONJ SCONJ", 2, 2),  # S is the prefix of a single-token span
        ("SYM SYM", 2, 2),
        ("INTJ INTJ", 1, 1),
        ("NOUN X", 2, 1),  # in 1.2.2 X has the type of O, so the last span never closes
        ("X NOUN", 2, 2),
        ("_", 1, 0),
        ("B I", 2, 1),  # 0.0.12 takes a bare tag for its type
        ("B- I-LOC", 2, 2),
        ("B-MISC-x I-MISC-y", 2, 2),
        ("B-x-LOC I-y-LOC", 1, 2),  # 0.0.12 has only what follows the last hyphen
        ("E-LOC E-LOC", 2, 2),
        ("B-LOC E-LOC", 1, 1),
        (". NOUN", 1, 1),
        ("O OTHER", 0, 0),
        ("I-LOC I-LOC", 1, 1),
    ],
)
def test_spans_of_a_sentence_in_both_releases(tags: str, old: int, new: int) -> None:
    assert own(tags, "seqeval-0.0.12") == old
    assert own(tags, "seqeval-1.2.2") == new


def test_span_that_never_closes_goes_on_in_the_next_sentence() -> None:
    """X at the end has no end in 1.2.2; before NOUN in the next sentence it ends at last, with its old begin."""
    gold = [["X"], ["X", "NOUN"]]
    assert count(gold, gold, "seqeval-1.2.2") == SpanCounts(2, 2, 2)
    assert count(gold, gold, "seqeval-0.0.12") == SpanCounts(3, 3, 3)
    # After ADJ the X starts nothing, its type being that of the O between sentences; its span begins where ADJ did.
    assert count(gold, [["ADJ"], ["X", "NOUN"]], "seqeval-1.2.2") == SpanCounts(2, 3, 2)


def test_first_letter_of_pos_tags_is_lost() -> None:
    """Pitfall 2."""
    gold, predicted = [["CCONJ", "NOUN"]], [["SCONJ", "NOUN"]]
    assert count(gold, predicted, "seqeval-1.2.2").figures()["f1"] == 100.0
    assert count(gold, predicted, "seqeval-0.0.12").figures()["f1"] == 50.0
    assert count(gold, predicted, "runs").figures()["f1"] == 50.0


def test_lenient_and_strict_iob() -> None:
    """Pitfall 3: a span without B."""
    gold, predicted = [["B-PER", "I-PER"]], [["I-PER", "I-PER"]]
    assert count(gold, predicted, "seqeval-1.2.2") == SpanCounts(1, 1, 1)
    assert count(gold, predicted, "seqeval-0.0.12") == SpanCounts(1, 1, 1)
    assert count(gold, predicted, "iob2") == SpanCounts(0, 0, 1)


def test_strict_takes_malformed_tags_for_outside() -> None:
    assert own("B-PER E-PER S-LOC B I . I-LOC", "iob2") == 1
    assert own("B-PER I-LOC I-LOC", "iob2") == 1
    assert [is_iob2(tag) for tag in ("O", "B-x", "I-x", "B-", "B", "E-x", "OO")] == [
        *[True] * 3,
        *[False] * 4,
    ]


def test_all_outside_scores_zero_not_an_error() -> None:
    assert count([["O", "O"]], [["O", "O"]], "seqeval-1.2.2").figures() == {
        "f1": 0.0,
        "precision": 0.0,
        "recall": 0.0,
    }


def test_figures_by_hand() -> None:
    """Pitfall 1: spans NOUN 0-2, VERB 3 against NOUN, VERB, NOUN, VERB: 1 of 4 right, 1 of 2 found."""
    counts = count(
        [["NOUN", "NOUN", "NOUN", "VERB"]], [["NOUN", "VERB", "NOUN", "VERB"]], "seqeval-1.2.2"
    )
    assert counts == SpanCounts(correct=1, predicted=4, gold=2)
    assert counts.figures() == {
        "f1": pytest.approx(100 / 3),
        "precision": 25.0,
        "recall": 50.0,
    }


def test_more_tags_than_the_table_holds() -> None:
    """Beyond 512 tags boundaries are computed without a table, to the same counts."""
    tags = [f"{prefix}-{number}" for number in range(400) for prefix in "BI"]
    few = count([tags[:20]], [tags[:10] + tags[2:12]], "seqeval-1.2.2")
    many = count([tags[:20], tags], [tags[:10] + tags[2:12], tags], "seqeval-1.2.2")
    assert many == SpanCounts(few.correct + 400, few.predicted + 400, few.gold + 400)


@st.composite
def tagged(draw: st.DrawFn, tags: list[str]) -> tuple[Sentences, Sentences]:
    """Gold and predictions of the same shape; some sentences empty, predictions often right."""
    some = draw(st.lists(st.sampled_from(tags), min_size=1, max_size=6))
    gold = draw(st.lists(st.lists(st.sampled_from(some), max_size=7), min_size=1, max_size=6))
    predicted = [
        [draw(st.sampled_from([tag, tag, *some])) for tag in sentence] for sentence in gold
    ]
    return gold, predicted


@settings(max_examples=300)
@given(tagged(TAGS))
def test_default_mode_equals_seqeval(pair: tuple[Sentences, Sentences]) -> None:
    gold, predicted = pair
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = [
            100 * score(gold, predicted) for score in (f1_score, precision_score, recall_score)
        ]
    ours = count(gold, predicted, "seqeval-1.2.2").figures()
    assert [ours["f1"], ours["precision"], ours["recall"]] == pytest.approx(theirs, rel=0, abs=1e-9)


@settings(max_examples=200)
@given(tagged(IOB2_TAGS))
def test_strict_mode_equals_seqeval(pair: tuple[Sentences, Sentences]) -> None:
    gold, predicted = pair
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = [
            100 * score(gold, predicted, mode="strict", scheme=IOB2)
            for score in (f1_score, precision_score, recall_score)
        ]
    ours = count(gold, predicted, "iob2").figures()
    assert [ours["f1"], ours["precision"], ours["recall"]] == pytest.approx(theirs, rel=0, abs=1e-9)


@given(tagged(TAGS))
def test_runs_are_counted_as_by_hand(pair: tuple[Sentences, Sentences]) -> None:
    def runs(sentences: Sentences) -> set[tuple[int, int, int, str]]:
        found = set()
        for number, sentence in enumerate(sentences):
            begin = 0
            for place, tag in enumerate(sentence):
                if sentence[place + 1 : place + 2] != [tag]:
                    found.add((number, begin, place, tag))
                    begin = place + 1
        return found

    gold, predicted = runs(pair[0]), runs(pair[1])
    assert count(*pair, "runs") == SpanCounts(len(gold & predicted), len(predicted), len(gold))


@settings(max_examples=200)
@given(tagged(TAGS), st.integers(1, 7), st.sampled_from(list(get_args(Scheme))))
def test_blocks_change_nothing(
    pair: tuple[Sentences, Sentences], lines: int, scheme: Scheme
) -> None:
    vocabulary = new_vocabulary()
    truth, guess = tag_ids(pair[0], vocabulary), tag_ids(pair[1], vocabulary)
    reader = SpanReader(list(vocabulary), scheme)
    whole, by_sentence = (
        span_counts(reader, truth, guess),
        reader.count_by_sentence(truth, guess),
    )
    assert by_sentence.sum(axis=0).tolist() == [whole.correct, whole.predicted, whole.gold]
    assert span_counts(reader, truth, guess, lines) == whole
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tag_lines, "BLOCK_LINES", lines)
        assert reader.count_by_sentence(truth, guess).tolist() == by_sentence.tolist()
