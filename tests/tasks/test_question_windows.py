"""Windows over contexts, which of them sees a piece best, and where answers lie in them."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tasks.counted_pieces import DOUBLE, SINGLE, CharacterPieces
from xharness.data.examples import Answer, QuestionExample
from xharness.errors import InputError
from xharness.specs.recipe import Settings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.pieces import Template
from xharness.tasks.question_answering import QuestionEncoding, encode, span_of_characters

XQUAD = load(TaskSpec, "xquad")


def question(
    context: str, answer: str | None = None, text: str = "q", name: str = "1"
) -> QuestionExample:
    answers = () if answer is None else (Answer(answer, context.index(answer)),)
    return QuestionExample(name, text, context, answers)


def settings(max_length: int, stride: int, query: int = 64) -> Settings:
    return Settings(max_length=max_length, doc_stride=stride, max_query_length=query)


def windows_of(encoding: QuestionEncoding) -> list[list[int]]:
    return [
        encoding.ids[a:b].tolist()
        for a, b in zip(encoding.starts[:-1], encoding.starts[1:], strict=True)
    ]


def reference_windows(total: int, room: int, stride: int) -> list[tuple[int, int]]:
    """SQuAD's reader: advance by the stride until a window reaches the end."""
    found, begin = [], 0
    while True:
        length = min(room, total - begin)
        found.append((begin, length))
        if begin + length == total:
            return found
        begin += min(length, stride)


def reference_owner(windows: list[tuple[int, int]], piece: int) -> int:
    """SQuAD's choice of the window with maximum context, the first of equals."""
    best, owner = -1.0, -1
    for number, (begin, length) in enumerate(windows):
        if begin <= piece < begin + length:
            score = min(piece - begin, begin + length - 1 - piece) + 0.01 * length
            if score > best:
                best, owner = score, number
    return owner


@given(
    st.integers(0, 60),
    st.integers(0, 30),
    st.integers(12, 30),
    st.integers(1, 40),
    st.sampled_from([DOUBLE, SINGLE]),
)
def test_windows_are_those_of_the_reference_reader(
    total: int, asked: int, max_length: int, stride: int, template: Template
) -> None:
    context = "".join(chr(0x4E00 + i) for i in range(total))
    text = "".join(chr(0x3400 + i) for i in range(asked))
    encoding = encode(
        [question(context, text=text)],
        XQUAD,
        CharacterPieces(template),
        settings(max_length, stride),
    )
    room = max_length - template.pair_specials
    kept = min(asked, room // 2)
    room -= kept
    expected = reference_windows(total, room, min(stride, room))
    between = list(template.pair[1])
    assert windows_of(encoding) == [
        [0, *(ord(c) for c in text[:kept]), *between, *range(0x4E00 + b, 0x4E00 + b + n), 2]
        for b, n in expected
    ]
    assert encoding.lengths.max() <= max_length
    assert encoding.counts.get("questions_cut", 0) == int(kept < asked)
    owners = [reference_owner(expected, piece) for piece in range(total)]
    marks = iter(encoding.is_max_context.tolist())
    for number, (begin, length) in enumerate(expected):
        assert [next(marks) for _ in range(length)] == [
            owners[piece] == number for piece in range(begin, begin + length)
        ]
    if template is SINGLE:
        second = len(between) + 1 + kept
        first_types = encoding.types[: encoding.starts[1]].tolist()
        assert first_types == [0] * second + [1] * (len(first_types) - second)


@given(st.integers(1, 60), st.integers(12, 24), st.integers(1, 20), st.data())
def test_answer_positions_point_at_the_answers_pieces(
    total: int, max_length: int, stride: int, data: st.DataObject
) -> None:
    context = "".join(chr(0x4E00 + i) for i in range(total))
    begin = data.draw(st.integers(0, total - 1))
    end = data.draw(st.integers(begin + 1, total))
    example = QuestionExample("1", "q", context, (Answer(context[begin:end], begin),))
    encoding = encode([example], XQUAD, CharacterPieces(), settings(max_length, stride))
    held = 0
    for window, (first, last) in zip(windows_of(encoding), encoding.answers.tolist(), strict=True):
        if first == 0:
            assert last == 0
            assert not {ord(context[begin]), ord(context[end - 1])} <= set(window)
        else:
            held += 1
            assert window[first : last + 1] == [ord(c) for c in context[begin:end]]
    assert encoding.counts.get("answers_between_windows", 0) == int(held == 0)
    assert "answers_inside_pieces" not in encoding.counts


def test_question_of_70_words_at_64_pieces_leaves_half_for_the_context() -> None:
    context = " ".join("word" for _ in range(60)) + " end"
    asked = " ".join("w" for _ in range(70))
    encoding = encode(
        [question(context, "end", asked)], XQUAD, CharacterPieces(), settings(64, 128)
    )
    assert encoding.lengths.max() == 64
    assert encoding.context_at[0] == 1 + 30 + 2
    assert encoding.counts["questions_cut"] == 1
    # Every piece of the context is in some window although the stride exceeds the room.
    covered = {
        int(p)
        for first, n in zip(encoding.first_piece, encoding.context_lengths, strict=True)
        for p in range(first, first + n)
    }
    assert covered == set(range(60 * 4 + 3))
    assert "answers_between_windows" not in encoding.counts


def test_default_lengths_cut_questions_at_max_query_length_only() -> None:
    encoding = encode(
        [question("c" * 500, text="q" * 70)], XQUAD, CharacterPieces(), settings(384, 128)
    )
    assert encoding.context_at[0] == 1 + 64 + 2
    assert np.diff(encoding.first_piece).tolist() == [128, 128]


def test_model_without_room_for_question_and_context_is_refused() -> None:
    with pytest.raises(InputError, match="no room beside 4 special tokens"):
        encode([question("c")], XQUAD, CharacterPieces(max_length=5), settings(384, 128))


def test_context_is_tokenised_once_for_all_its_questions() -> None:
    seen: list[str] = []

    class Recording(CharacterPieces):
        def texts_with_offsets(self, texts: Any) -> Any:
            seen.extend(texts)
            return super().texts_with_offsets(texts)

    examples = [question("one two", name="1"), question("three", name="2")]
    examples.append(question("one two", "two", name="3"))
    encoding = encode(examples, XQUAD, Recording(), settings(32, 16))
    assert seen == ["one two", "three"]
    assert encoding.questions.tolist() == [0, 1, 2]
    assert encoding.first_piece.tolist() == [0, 6, 0]


def test_empty_context_and_context_of_a_character_that_vanishes() -> None:
    examples = [question(""), question("\u00ad", name="2"), question("abc", "b", name="3")]
    encoding = encode(examples, XQUAD, CharacterPieces(vanishing="\u00ad"), settings(32, 16))
    assert encoding.context_lengths.tolist() == [0, 0, 3]
    assert encoding.counts == {"contexts_without_pieces": 2}
    assert encoding.answers.tolist() == [[0, 0], [0, 0], [5, 5]]


def test_answer_without_any_piece_of_its_context_is_counted_as_unseen() -> None:
    example = question("\u00ad", "\u00ad")
    encoding = encode([example], XQUAD, CharacterPieces(vanishing="\u00ad"), settings(32, 16))
    assert encoding.counts == {"contexts_without_pieces": 1, "answers_between_windows": 1}


RANGES = {
    "apart": ([(0, 3), (4, 7), (8, 9)], (4, 7), (1, 1)),
    "several": ([(0, 3), (4, 7), (8, 9)], (0, 7), (0, 1)),
    "one character, several pieces": ([(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)], (1, 2), (1, 3)),
    "begins in a shared piece": ([(0, 2), (1, 2), (2, 3)], (1, 3), (1, 2)),
    "ends in a shared piece": ([(0, 1), (0, 2), (1, 2)], (0, 1), (0, 0)),
    "whole of a shared piece": ([(0, 1), (0, 2), (1, 2)], (0, 2), (0, 2)),
    "inside one piece": ([(0, 9)], (2, 4), (0, 0)),
    "blank at the edges": ([(0, 3), (4, 7), (8, 9)], (3, 8), (1, 1)),
    "blank alone": ([(0, 3), (4, 7)], (3, 4), (1, 1)),
    "after the last piece": ([(0, 3)], (5, 6), (0, 0)),
}


@pytest.mark.parametrize("name", RANGES)
def test_span_of_characters(name: str) -> None:
    ranges, (begin, end), expected = RANGES[name]
    assert span_of_characters(np.array(ranges, np.int32), begin, end) == expected


@given(st.data())
def test_span_is_exact_wherever_some_span_is(data: st.DataObject) -> None:
    # Pieces in order, both columns non-decreasing, as byte-level pieces of a text of ten characters may lie.
    count = data.draw(st.integers(1, 8))
    begins = sorted(data.draw(st.lists(st.integers(0, 9), min_size=count, max_size=count)))
    widths = data.draw(st.lists(st.integers(1, 3), min_size=count, max_size=count))
    ends = np.maximum.accumulate(np.minimum(np.add(begins, widths), 10))
    ranges = np.stack([begins, ends], axis=1).astype(np.int32)
    begin = data.draw(st.integers(0, 9))
    end = data.draw(st.integers(begin + 1, 10))
    first, last = span_of_characters(ranges, begin, end)
    assert 0 <= first <= last < count
    exact = any(
        ranges[i, 0] == begin and ranges[j, 1] == end for i in range(count) for j in range(i, count)
    )
    if exact:
        assert (ranges[first, 0], ranges[last, 1]) == (begin, end)


def test_answers_that_no_span_gives_exactly_are_counted() -> None:
    class WholeWords(CharacterPieces):
        def texts_with_offsets(self, texts: Any) -> Any:
            found = self.texts(texts)
            ranges = np.array([[0, 8], [0, 8], [9, 12]], np.int32)
            return type(found)(found.values[:3], np.array([0, 3])), ranges

    inside = question("Mannings end", "Manning")
    exact = question("Mannings end", " end")  # an edge blank is no miss
    encoding = encode([inside, exact], XQUAD, WholeWords(), settings(32, 16))
    assert encoding.counts == {"answers_inside_pieces": 1}


def test_time_grows_with_the_context_not_its_square() -> None:
    def seconds(letters: int) -> float:
        examples = [question("ab" * (letters // 2), "b")]
        tokenizer, chosen = CharacterPieces(), settings(384, 128)
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            encode(examples, XQUAD, tokenizer, chosen)
            best = min(best, time.process_time() - began)
        return best

    assert seconds(160_000) < 60 * max(seconds(10_000), 2e-3)
