"""Tagging: one tag a word, decided from its first piece (POS, NER)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from xharness.data.examples import TaggingExample
from xharness.specs.recipe import Settings
from xharness.specs.task import TaskSpec
from xharness.tasks.encoding import Encoding, window_room, wrap_single
from xharness.tasks.pieces import IndexArray, PieceTokenizer, Ragged, ranges, starts_of


@dataclass(frozen=True)
class TaggingEncoding(Encoding):
    """Windows of whole words; the words of all windows in order are the words of all sentences in order.

    Attributes:
        word_positions: Position in its window of each word's first piece.
        word_starts: Window ``i`` holds the words ``word_starts[i]:word_starts[i + 1]``.
        labels: Tag index of each word, -1 where unknown.
    """

    word_positions: npt.NDArray[np.int64]
    word_starts: IndexArray
    labels: npt.NDArray[np.int64]

    kind: ClassVar[str] = "tagging"


def encode(
    examples: Sequence[TaggingExample],
    task: TaskSpec,
    tokenizer: PieceTokenizer,
    settings: Settings,
) -> TaggingEncoding:
    """Encode sentences in windows as the official tagger does.

    A sentence is cut before the word that would exceed ``max_length`` less the special tokens (three for
    tokenizers of XLM-R's kind); the rest goes on in a further window. A word of no piece, or of more pieces
    than a window holds, becomes the unknown token, so every word gets a decision; both are counted.
    """
    words = [word for example in examples for word in example.words]
    distinct = list(dict.fromkeys(words))
    pieces = tokenizer.words(distinct)
    template = tokenizer.template
    room = window_room(settings, tokenizer, max(template.cut_specials, template.single_specials))
    index = {word: i for i, word in enumerate(distinct)}
    rows = np.fromiter((index[word] for word in words), np.int64, len(words))
    lengths = pieces.lengths[rows]
    empty, long = lengths == 0, lengths > room
    # The unknown token goes in as one more row, which the odd words then point to.
    pieces = Ragged(
        np.append(pieces.values, np.int32(tokenizer.unknown_id)),
        np.append(pieces.starts, pieces.starts[-1] + 1),
    )
    rows = np.where(empty | long, len(distinct), rows)
    lengths = np.where(empty | long, 1, lengths)
    sentence_starts = starts_of([len(example.words) for example in examples])
    word_starts = _window_starts(lengths, sentence_starts, room)
    before = starts_of(lengths)
    window_pieces = Ragged(pieces.take(rows).values, before[word_starts])
    ids, starts = wrap_single(window_pieces, template)
    window_of_word = np.repeat(np.arange(len(word_starts) - 1), np.diff(word_starts))
    positions = before[:-1] - before[word_starts[:-1]][window_of_word] + len(template.single[0])
    types = np.zeros(len(ids) if tokenizer.uses_token_types else 0, np.uint8)
    numbers = {label: i for i, label in enumerate(task.labels)}
    labels = np.full(len(words), -1, np.int64)
    for example, start in zip(examples, sentence_starts[:-1].tolist(), strict=True):
        if example.tags is not None:
            labels[start : start + len(example.tags)] = [numbers[tag] for tag in example.tags]
    counts = {
        "words_without_pieces": int(empty.sum()),
        "words_of_too_many_pieces": int(long.sum()),
        "sentences_cut": int(len(word_starts) - 1 - len(examples)),
    }
    counts = {name: count for name, count in counts.items() if count}
    return TaggingEncoding(ids, starts, types, counts, positions, word_starts, labels)


def _window_starts(lengths: IndexArray, sentence_starts: IndexArray, room: int) -> IndexArray:
    """Return the index of the first word of each window, and the number of words at the end."""
    before = starts_of(lengths)
    totals = before[sentence_starts[1:]] - before[sentence_starts[:-1]]
    starts = list(sentence_starts)
    for sentence in np.flatnonzero(totals > room):
        at, end = int(sentence_starts[sentence]), int(sentence_starts[sentence + 1])
        while before[end] - before[at] > room:
            at = int(np.searchsorted(before, before[at] + room, side="right")) - 1
            starts.append(np.int64(at))
    return np.sort(np.array(starts, np.int64))


def tags_of(
    numbers: npt.NDArray[np.int64], examples: Sequence[TaggingExample], task: TaskSpec
) -> list[list[str]]:
    """Return the tags of each sentence from the tag indices of all words."""
    tags = iter([task.labels[number] for number in numbers.tolist()])
    return [list(islice(tags, len(example.words))) for example in examples]


def batch_positions(
    encoding: TaggingEncoding, windows: IndexArray
) -> tuple[IndexArray, IndexArray, IndexArray]:
    """Return for the words of some windows: row in the batch, position in the row, index among all words."""
    counts = np.diff(encoding.word_starts)[windows]
    words = ranges(encoding.word_starts[windows], counts)
    return np.repeat(np.arange(len(windows)), counts), encoding.word_positions[words], words
