"""Extractive question answering: windows over the context, spans back to characters of the original text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from xharness.data.examples import QuestionExample
from xharness.specs.recipe import Settings
from xharness.specs.task import TaskSpec
from xharness.tasks.character_ranges import piece_ranges
from xharness.tasks.encoding import Encoding, window_room, wrap_pair
from xharness.tasks.pieces import IndexArray, PieceTokenizer, Ragged, ranges, starts_of

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class QuestionEncoding(Encoding):
    """Windows over contexts, each with its question in front.

    Attributes:
        questions: Index of each window's question.
        context_at: Position in the window of its first context piece.
        context_lengths: Context pieces in the window.
        first_piece: Index of its first context piece among ``characters``.
        characters: (pieces, 2) character range of each piece of each distinct context.
        is_max_context: For every context piece of every window in order: whether this window is the one that
            sees it with most context on both sides.
        answers: (windows, 2) positions of the first answer's first and last piece in the window; the position
            of the first special token, twice, where the window does not hold it.
    """

    questions: Positions
    context_at: Positions
    context_lengths: Positions
    first_piece: Positions
    characters: npt.NDArray[np.int32]
    is_max_context: npt.NDArray[np.bool_]
    answers: Positions

    kind: ClassVar[str] = "question_answering"


def encode(
    examples: Sequence[QuestionExample],
    task: TaskSpec,
    tokenizer: PieceTokenizer,
    settings: Settings,
) -> QuestionEncoding:
    """Encode questions.

    Each distinct context is tokenised once, whatever the number of its questions and windows. A question is
    cut to ``max_query_length`` pieces first, and to half of a window that is not much longer than that; the
    stride is then held within the room that is left. Windows advance by ``doc_stride`` until the context ends
    (SQuAD's reference reader).

    Counted: questions that were cut; questions of several windows; first answers that no window holds whole;
    first answers that begin or end inside a piece, which no span of pieces gives exactly; contexts of no piece.

    Raises:
        InputError: The tokenizer has no character offsets, or the model's windows are too short.
    """
    contexts = list(dict.fromkeys(e.context for e in examples))
    index = {context: i for i, context in enumerate(contexts)}
    context_pieces, raw_ranges = tokenizer.texts_with_offsets(contexts)
    characters = piece_ranges(contexts, context_pieces.starts, raw_ranges)
    question_pieces = tokenizer.texts([e.question for e in examples])
    room = window_room(settings, tokenizer, tokenizer.template.pair_specials)
    query_lengths = np.minimum(question_pieces.lengths, min(settings.max_query_length, room // 2))
    cut_questions = int(np.sum(question_pieces.lengths > query_lengths))
    rooms = room - query_lengths
    strides = np.minimum(settings.doc_stride, rooms)
    rows = np.array([index[e.context] for e in examples], np.int64)
    totals = context_pieces.lengths[rows]
    counts = 1 + np.maximum(-(-(totals - rooms) // strides), 0)
    questions = np.repeat(np.arange(len(examples)), counts)
    number = np.arange(len(questions)) - np.repeat(starts_of(counts)[:-1], counts)
    begins = number * strides[questions]
    lengths = np.minimum(rooms[questions], totals[questions] - begins)
    first_piece = context_pieces.starts[rows[questions]] + begins
    context = Ragged(context_pieces.values[ranges(first_piece, lengths)], starts_of(lengths))
    query = question_pieces.take(questions, query_lengths[questions])
    ids, starts, types, context_at = wrap_pair(
        query, context, tokenizer.template, tokenizer.uses_token_types
    )
    answers, answer_counts = _answer_positions(
        examples, questions, context_pieces.starts[rows], totals, characters,
        first_piece, lengths, context_at, tokenizer.template.cls_position,
    )  # fmt: skip
    found = {
        "questions_cut": cut_questions,
        "questions_in_several_windows": int(np.sum(counts > 1)),
        "contexts_without_pieces": int(np.sum(totals == 0)),
        **answer_counts,
    }
    return QuestionEncoding(
        ids=ids,
        starts=starts,
        types=types,
        counts={name: count for name, count in found.items() if count},
        questions=questions,
        context_at=context_at,
        context_lengths=lengths,
        first_piece=first_piece,
        characters=characters,
        is_max_context=_max_context(counts, begins, lengths),
        answers=answers,
    )


def _max_context(
    counts: IndexArray, begins: IndexArray, lengths: IndexArray
) -> npt.NDArray[np.bool_]:
    """Mark each piece in the window that gives it most context.

    The score is that of SQuAD's reference code: min(left, right) + 0.01 * window length; the first of equal
    windows wins.
    """
    total = int(lengths.sum())
    marked = np.ones(total, np.bool_)
    flat_starts = starts_of(lengths)
    window_starts = starts_of(counts)
    for question in np.flatnonzero(counts > 1):
        windows = range(int(window_starts[question]), int(window_starts[question + 1]))
        end = max(int(begins[w] + lengths[w]) for w in windows)
        best = np.full(end, -1.0)
        owner = np.full(end, -1, np.int64)
        for w in windows:
            begin, length = int(begins[w]), int(lengths[w])
            inside = np.arange(length)
            score = np.minimum(inside, length - 1 - inside) + 0.01 * length
            better = score > best[begin : begin + length]
            owner[begin : begin + length][better] = w
            best[begin : begin + length][better] = score[better]
        for w in windows:
            begin, length = int(begins[w]), int(lengths[w])
            at = int(flat_starts[w])
            marked[at : at + length] = owner[begin : begin + length] == w
    return marked


def _answer_positions(
    examples: Sequence[QuestionExample],
    questions: Positions,
    context_starts: IndexArray,
    totals: IndexArray,
    characters: npt.NDArray[np.int32],
    first_piece: Positions,
    lengths: Positions,
    context_at: Positions,
    cls_position: int,
) -> tuple[Positions, dict[str, int]]:
    """Return each window's answer positions, and counts of first answers that cannot be learnt exactly."""
    spans = np.full((len(examples), 2), -1, np.int64)
    inside_pieces = 0
    for i, example in enumerate(examples):
        answer = next((answer for answer in example.answers if answer.start >= 0), None)
        if answer is not None and totals[i]:
            base = int(context_starts[i])
            ranges_of_context = characters[base : base + int(totals[i])]
            begin, end = answer.start, answer.start + len(answer.text)
            first, last = span_of_characters(ranges_of_context, begin, end)
            spans[i] = base + first, base + last
            # Blanks at an answer's edges belong to no piece and to no metric.
            begin += len(answer.text) - len(answer.text.lstrip())
            end -= len(answer.text) - len(answer.text.rstrip())
            inside_pieces += bool(
                ranges_of_context[first, 0] != begin or ranges_of_context[last, 1] != end
            )
    start, end_at = spans[questions].T
    held = (start >= first_piece) & (end_at < first_piece + lengths) & (start >= 0)
    positions = np.stack([start, end_at], axis=1) - first_piece[:, None] + context_at[:, None]
    covered = np.zeros(len(examples), np.bool_)
    covered[questions[held]] = True
    answered = np.array([any(a.start >= 0 for a in e.answers) for e in examples], np.bool_)
    counts = {
        "answers_between_windows": int(np.sum(answered & ~covered)),
        "answers_inside_pieces": inside_pieces,
    }
    return np.where(held[:, None], positions, cls_position), counts


def span_of_characters(characters: npt.NDArray[np.int32], begin: int, end: int) -> tuple[int, int]:
    """Return the first and last piece that together cover ``[begin, end)``, as far as pieces do.

    Pieces of a byte-level tokenizer may share a character: one holds the last bytes of a character and the
    first of the next. Of several pieces that hold the first character, one that begins with it is taken, and
    likewise at the end, so that the span is exact wherever any span is.

    Args:
        characters: (pieces, 2) character ranges in order, both columns non-decreasing; at least one.
        begin: First character.
        end: One past the last character.
    """
    begins, ends = characters.T
    first = min(int(np.searchsorted(ends, begin, side="right")), len(characters) - 1)
    exact = max(first, int(np.searchsorted(begins, begin, side="left")))
    if exact < len(characters) and begins[exact] == begin:
        first = exact
    last = max(first, int(np.searchsorted(begins, end, side="left")) - 1)
    exact = min(last, int(np.searchsorted(ends, end, side="right")) - 1)
    if exact >= first and ends[exact] == end:
        last = exact
    return first, last


def answers_of(
    encoding: QuestionEncoding,
    examples: Sequence[QuestionExample],
    scores: npt.NDArray[np.float32],
    starts: Positions,
    ends: Positions,
) -> tuple[dict[str, str], dict[str, int]]:
    """Return each question's best answer, a slice of its context, and what was counted.

    Args:
        encoding: The windows.
        examples: The questions, in the order that was encoded.
        scores: (windows,) score of each window's best span; ``-inf`` where it has none.
        starts: (windows,) position in the window of the span's first piece.
        ends: (windows,) position of its last piece.
    """
    # Stable sort: of equal scores the earlier window wins, whatever the batch order was.
    order = np.lexsort((np.arange(len(scores)), -scores, encoding.questions))
    questions = encoding.questions[order]
    best = order[np.concatenate([[True], questions[1:] != questions[:-1]])] if len(order) else order
    answers: dict[str, str] = {}
    empty = 0
    for example, window in zip(examples, best.tolist(), strict=True):
        text = ""
        if np.isfinite(scores[window]):
            base = encoding.first_piece[window] - encoding.context_at[window]
            begin = encoding.characters[base + starts[window], 0]
            end = encoding.characters[base + ends[window], 1]
            text = example.context[begin:end]
        empty += not text
        answers[example.id] = text
    return answers, {"questions_without_span": empty} if empty else {}
