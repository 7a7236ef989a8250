"""Spans of tag sequences, counted over integer arrays.

One set of boundary rules serves all schemes; they differ in how a tag is split into prefix and type:

=================  ==============================================================  =======================
scheme             prefix, type                                                    source
=================  ==============================================================  =======================
``seqeval-1.2.2``  first letter; the rest after its first hyphen, ``_`` if empty   seqeval 1.2.2, mode None
``seqeval-0.0.12`` first letter; all after the last hyphen, the tag if it has none seqeval 0.0.12
``iob2``           ``B``/``I`` and what follows the hyphen; anything else is ``O`` strict IOB2
``runs``           none; the whole tag                                             ours, for POS
=================  ==============================================================  =======================

So seqeval 1.2.2 reads the POS tag ``NOUN`` as prefix ``N`` and type ``OUN``, and ``X`` and ``O`` as type ``_``: a span
of ``X`` at the end of a sentence never closes, and the next sentence may go on with it. All of that is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from xharness.scoring.tag_lines import BLANK, IntArray, blocks, sentence_numbers

Scheme = Literal["seqeval-1.2.2", "seqeval-0.0.12", "iob2", "runs"]

#: Prefixes that boundary rules name; any other is ``_OTHER``.
_PREFIXES = "OBIES."
_OTHER = len(_PREFIXES)
#: A span ends between two tokens with these prefixes whatever their types...
_ENDS = {"E?", "S?", "BB", "BS", "BO", "IB", "IS", "IO"}
#: ...and one starts at the second of two tokens with these.
_STARTS = {"?B", "?S", "EE", "EI", "SE", "SI", "OE", "OI"}
#: Prefixes of no span, at which a change of type means nothing.
_OUTSIDE = "O."

#: What follows the last lines of a file.
END: IntArray = np.full(1, BLANK, np.int32)

#: Up to this many distinct tags, boundaries are looked up in a table of all pairs of tags.
_TABLE_LIMIT = 512


@dataclass(frozen=True)
class SpanCounts:
    """How many spans were right.

    Attributes:
        correct: Spans with the gold begin, end and type.
        predicted: Spans in the predictions.
        gold: Spans in the gold file.
    """

    correct: int
    predicted: int
    gold: int

    def figures(self) -> dict[str, float]:
        """Return micro-averaged F1, precision and recall in percent; an undefined ratio is 0 (seqeval)."""
        precision = self.correct / self.predicted if self.predicted else 0.0
        recall = self.correct / self.gold if self.gold else 0.0
        both = precision + recall
        f1 = 2 * precision * recall / both if both else 0.0
        return {"f1": 100 * f1, "precision": 100 * precision, "recall": 100 * recall}


def _split_seqeval_1(tag: str) -> tuple[str, str]:
    return tag[0], tag[1:].split("-", maxsplit=1)[-1] or "_"


def _split_seqeval_0(tag: str) -> tuple[str, str]:
    return tag[0], tag.rsplit("-", maxsplit=1)[-1]


def is_iob2(tag: str) -> bool:
    """Tell whether a tag is ``O``, or ``B-`` or ``I-`` with a type."""
    return tag == "O" or (tag[:2] in ("B-", "I-") and len(tag) > 2)


def _split_iob2(tag: str) -> tuple[str, str]:
    return (tag[0], tag[2:]) if is_iob2(tag) and tag != "O" else ("O", "")


def _split_runs(tag: str) -> tuple[str, str]:
    return "", tag


_SPLITS: dict[Scheme, Callable[[str], tuple[str, str]]] = {
    "seqeval-1.2.2": _split_seqeval_1,
    "seqeval-0.0.12": _split_seqeval_0,
    "iob2": _split_iob2,
    "runs": _split_runs,
}


def _prefix_table(pairs: set[str]) -> NDArray[np.bool_]:
    """Turn rules such as ``BO`` and ``E?`` into a table by prefix number, (prefixes, prefixes)."""
    table = np.zeros((_OTHER + 1, _OTHER + 1), dtype=bool)
    for pair in pairs:
        first, second = pair[0], pair[1]
        rows = slice(None) if first == "?" else _PREFIXES.index(first)
        columns = slice(None) if second == "?" else _PREFIXES.index(second)
        table[rows, columns] = True
    return table


_END_TABLE = _prefix_table(_ENDS)
_START_TABLE = _prefix_table(_STARTS)
_INSIDE = np.array([prefix not in _OUTSIDE for prefix in _PREFIXES] + [True])


class SpanReader:
    """Finds the spans of tag sequences under one scheme.

    Args:
        tags: The vocabulary: tag of each id, ``""`` for ``BLANK``.
        scheme: The scheme.
    """

    def __init__(self, tags: Sequence[str], scheme: Scheme):
        split = _SPLITS[scheme]
        # Between sentences seqeval puts an O. Whether the run scheme's outside has a type of its own is all one.
        outside = ("O", "") if scheme == "runs" else split("O")
        parts = [split(tag) if tag else outside for tag in tags]
        types = {kind: index for index, kind in enumerate(dict.fromkeys(t for _, t in parts))}
        numbers = [_PREFIXES.find(prefix) if prefix else -1 for prefix, _ in parts]
        self._prefixes = np.array([_OTHER if n < 0 else n for n in numbers], dtype=np.int16)
        self._types = np.array([types[kind] for _, kind in parts], dtype=np.int32)
        self._strict = scheme == "iob2"
        self._table = None
        if len(tags) <= _TABLE_LIMIT:
            every = np.arange(len(tags))
            self._table = self._boundaries(every[:, None], every[None, :])  # (tags, tags)

    def _boundaries(self, before: IntArray, after: IntArray) -> NDArray[np.uint8]:
        """Return for pairs of adjacent tags: 1 if a span ends between them, plus 2 if one starts at the second."""
        first, second = self._prefixes[before], self._prefixes[after]
        changed = self._types[before] != self._types[after]
        end = _END_TABLE[first, second] | (_INSIDE[first] & changed)
        start = _START_TABLE[first, second] | (_INSIDE[second] & changed)
        flags: NDArray[np.uint8] = end.astype(np.uint8) | (start.astype(np.uint8) << np.uint8(1))
        return flags

    def _flags(self, before: IntArray, after: IntArray) -> NDArray[np.uint8]:
        """Return ``_boundaries`` of pairs of adjacent tags, (pairs,)."""
        if self._table is None:
            return self._boundaries(before, after)
        flags: NDArray[np.uint8] = self._table.take(before * np.int32(len(self._table)) + after)
        return flags

    def count_by_sentence(self, gold: IntArray, predicted: IntArray) -> IntArray:
        """Count the spans of two equally long tag sequences by sentence; a span belongs to that of its last token.

        Args:
            gold: Gold tag ids. (lines,)
            predicted: Predicted tag ids. (lines,)

        Returns:
            Correct, predicted and gold spans. (sentences, 3)
        """
        sentences = sentence_numbers(gold)
        number = int(sentences.max()) + 1
        counts = np.zeros((number, 3), np.int64)
        for ends in self._all_ends(gold, predicted):
            for column, places in enumerate(ends):
                # The line before a boundary is the last of the span that ends there, and never blank.
                of_spans = sentences[places - 1]
                first = int(of_spans[0]) if len(of_spans) else 0
                found = np.bincount(of_spans - first)
                counts[first : first + len(found), column] += found
        return counts

    def _all_ends(
        self, gold: IntArray, predicted: IntArray
    ) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        so_far = SpansSoFar()
        for block in blocks(len(gold)):
            yield self.ends(gold[block], predicted[block], so_far)
        yield self.ends(END, END, so_far)

    def ends(
        self, gold: IntArray, predicted: IntArray, so_far: SpansSoFar
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Find where spans end among the next lines of two tag sequences; after the last lines stands ``END``.

        Args:
            gold: Gold tag ids. (lines of the block,)
            predicted: Predicted tag ids. (lines of the block,)
            so_far: What is known of the lines before; brought up to date.

        Returns:
            The boundaries at which correct, predicted and gold spans end. Boundary ``i`` lies before line ``i`` of the
            file. Each (spans,)
        """
        truth = _Block(self, gold, so_far.gold, so_far.lines)
        guess = _Block(self, predicted, so_far.predicted, so_far.lines)
        common = np.flatnonzero(truth.ends & guess.ends)
        right = truth.starts(common) == guess.starts(common)
        right &= self._types.take(truth.before.take(common)) == self._types.take(
            guess.before.take(common)
        )
        places, gold_places = np.flatnonzero(guess.ends), np.flatnonzero(truth.ends)
        if self._strict:
            right &= self._begin(truth.start_tags(common)) & self._begin(guess.start_tags(common))
            places = places[self._begin(guess.start_tags(places))]
            gold_places = gold_places[self._begin(truth.start_tags(gold_places))]
        at = so_far.lines
        so_far.lines += len(gold)
        return common[right] + at, places + at, gold_places + at

    def _begin(self, tags: IntArray) -> NDArray[np.bool_]:
        """Tell which first tags of spans are ``B``; strict IOB2 knows no others."""
        right: NDArray[np.bool_] = self._prefixes[tags] == _PREFIXES.index("B")
        return right


@dataclass
class _Sequence:
    """A tag sequence as far as it was read: its last tag, and where the last span started, with which tag."""

    tag: int = BLANK
    start: int = 0
    start_tag: int = BLANK


@dataclass
class SpansSoFar:
    """What spans of further lines depend on.

    Attributes:
        lines: Number of lines so far.
        gold: The gold sequence.
        predicted: The predicted one.
    """

    lines: int = 0
    gold: _Sequence = field(default_factory=_Sequence)
    predicted: _Sequence = field(default_factory=_Sequence)


class _Block:
    """The boundaries before each line of a block.

    Args:
        reader: Knows the boundary rules.
        ids: Tag ids. (lines,)
        last: The lines before; brought up to date.
        at: Number of lines before.

    Attributes:
        before: Tag before each boundary. (lines,)
        ends: Whether a span ends there. (lines,)
    """

    def __init__(self, reader: SpanReader, ids: IntArray, last: _Sequence, at: int):
        self.before = np.empty(len(ids), np.int32)
        self.before[0] = last.tag
        self.before[1:] = ids[:-1]
        flags = reader._flags(self.before, ids)
        self.ends: NDArray[np.bool_] = (flags & 1).view(bool)
        starting = (flags >> np.uint8(1)).view(bool)
        places = np.flatnonzero(starting)
        self._starts = np.concatenate([[last.start], places + at])
        self._start_tags = np.concatenate([[last.start_tag], ids[places]])
        self._so_far: NDArray[Any] = np.concatenate(
            [np.zeros(1, np.int32), np.cumsum(starting, dtype=np.int32)]
        )
        last.tag, last.start = int(ids[-1]), int(self._starts[-1])
        last.start_tag = int(self._start_tags[-1])

    def starts(self, ends: IntArray) -> IntArray:
        """Return where the spans started that end at boundaries of the block, counted from its first."""
        found: IntArray = self._starts[self._so_far[ends]]
        return found

    def start_tags(self, ends: IntArray) -> IntArray:
        """Return the first tags of the spans that end at boundaries of the block, counted from its first."""
        found: IntArray = self._start_tags[self._so_far[ends]]
        return found
