"""CoNLL-U: sentences of words, with their multiword ranges and dependency edges.

The format: https://universaldependencies.org/format.html. Only what the POS files need is kept:
forms, UPOS tags, heads and the integer heads of the enhanced graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from xharness.errors import InputError

COLUMNS = 10
_MEND = "a CoNLL-U row is ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC between tabs"
# At most nine digits: int() refuses very long ones, and no sentence has a billion words.
_WORD = re.compile(r"[1-9][0-9]{0,8}")
_HEAD = re.compile(r"[0-9]{1,9}")
_RANGE = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
_EMPTY_NODE = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}")


class Word(NamedTuple):
    """A syntactic word.

    Attributes:
        form: As it stands in the file, inner spaces included.
        upos: The universal tag; ``_`` where the treebank has none.
        head: Word number of its head, 0 for the root, None where the column is ``_``.
        deps: The enhanced graph's column, unparsed: few words are ever asked for it.
    """

    form: str
    upos: str
    head: int | None
    deps: str


class MultiwordToken(NamedTuple):
    """A surface token that spans the words ``first`` to ``last`` (word numbers, both included)."""

    first: int
    last: int
    form: str


@dataclass(frozen=True)
class Sentence:
    """A sentence.

    Attributes:
        line: Line number of its first row, from 1.
        words: Its words; word number n is ``words[n - 1]``.
        multiword_tokens: Its ranges, in word order, without overlap.
        empty_nodes: How many empty nodes (``8.1``) were passed over.
    """

    line: int
    words: tuple[Word, ...]
    multiword_tokens: tuple[MultiwordToken, ...] = ()
    empty_nodes: int = 0


def read_conllu(lines: Iterable[str], where: str | Path) -> Iterator[Sentence]:
    """The sentences of a CoNLL-U file.

    A sentence ends at a blank line or at the end of the file; the official converter loses the
    last one when no blank line follows. Comments may hold tabs. Blocks without a row give nothing.

    Args:
        lines: The lines, without line ends.
        where: The file's name for errors.

    Yields:
        One sentence after another.

    Raises:
        InputError: A row breaks the format: wrong number of columns, an id out of sequence, a
            head or range that is not in the sentence, ranges that overlap, no word at all.
    """
    block = _Block(where)
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            continue
        if line.strip(" "):
            block.add(number, line)
        elif block.line:
            yield block.sentence()
            block = _Block(where)
    if block.line:
        yield block.sentence()


def enhanced_heads(deps: str) -> Iterator[int]:
    """The word numbers in a DEPS column such as ``4:nsubj|8.1:obj``; empty nodes are left out."""
    if deps == "_":
        return
    for relation in deps.split("|"):
        head = relation.split(":", 1)[0]
        if _HEAD.fullmatch(head):
            yield int(head)


class _Block:
    """The rows of one sentence while they are being read."""

    def __init__(self, where: str | Path):
        self._where = where
        self._words: list[Word] = []
        self._word_lines: list[int] = []
        self._ranges: list[tuple[int, MultiwordToken]] = []
        self._empty_nodes = 0
        self.line = 0

    def _error(self, line: int, what: str, mend: str = _MEND) -> InputError:
        return InputError(what, where=f"{self._where}:{line}", mend=mend)

    def add(self, line: int, row: str) -> None:
        columns = row.split("\t")
        if len(columns) != COLUMNS:
            raise self._error(line, f"{len(columns)} columns in place of {COLUMNS}")
        self.line = self.line or line
        number, form, _, upos, _, _, head, _, deps, _ = columns
        if _WORD.fullmatch(number):
            if int(number) != len(self._words) + 1:
                expected = len(self._words) + 1
                raise self._error(line, f"word id {number} where {expected} should follow")
            if not upos.strip():
                raise self._error(line, "the UPOS column is empty", "write _ where there is no tag")
            self._words.append(Word(form, upos.strip(), self._head(line, head), deps))
            self._word_lines.append(line)
        elif match := _RANGE.fullmatch(number):
            first, last = int(match[1]), int(match[2])
            if last < first:
                raise self._error(line, f"range {number} runs backwards")
            self._ranges.append((line, MultiwordToken(first, last, form)))
        elif _EMPTY_NODE.fullmatch(number):
            self._empty_nodes += 1
        else:
            raise self._error(line, f"id {number!r} is no word, range or empty node")

    def _head(self, line: int, head: str) -> int | None:
        if head == "_":
            return None
        if not _HEAD.fullmatch(head):
            raise self._error(line, f"head {head!r} is no word number")
        return int(head)

    def sentence(self) -> Sentence:
        size = len(self._words)
        for line, word in zip(self._word_lines, self._words, strict=True):
            if word.head is not None and word.head > size:
                raise self._error(
                    line,
                    f"head {word.head} in a sentence of {size} words",
                    "a head is 0 or a word number of the same sentence",
                )
        if not size and not self._ranges:
            raise self._error(self.line, "a sentence of empty nodes alone")
        ranges = sorted(self._ranges, key=lambda item: item[1].first)
        end = 0
        for line, token in ranges:
            span = f"{token.first}-{token.last}"
            if token.last > size:
                raise self._error(line, f"range {span} in a sentence of {size} words")
            if token.first <= end:
                raise self._error(line, f"range {span} overlaps the one before it")
            end = token.last
        return Sentence(
            self.line, tuple(self._words), tuple(token for _, token in ranges), self._empty_nodes
        )
