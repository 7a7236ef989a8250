"""What is probed: spans of words and their labels, for parts of speech, named entities and dependency arcs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from xharness.data.examples import TaggingExample
from xharness.data.lines import read_lines
from xharness.errors import InputError
from xharness.preparation.conllu import Sentence, read_conllu

ProbeName = Literal["pos", "entities", "dependencies"]

_FILE = re.compile(r"(?P<language>[a-z]{2,3})_[a-z0-9]+-ud-(?P<split>train|dev|test)\.conllu")


@dataclass(frozen=True)
class Items:
    """Labelled spans of some sentences.

    Attributes:
        sentences: The words of each sentence.
        spans: Half-open ranges of words, counted through all sentences: (items, spans of an item, 2).
        labels: The label of each item.
        counts: What was left out, by name.
    """

    sentences: tuple[tuple[str, ...], ...]
    spans: npt.NDArray[np.int64]
    labels: tuple[str, ...]
    counts: Counter[str] = field(default_factory=Counter)

    def __len__(self) -> int:
        return len(self.labels)


def word_items(examples: Sequence[TaggingExample]) -> Items:
    """Return every word with its tag."""
    tagged = _tagged(examples)
    labels = tuple(tag for _, tags in tagged for tag in tags)
    starts = np.arange(len(labels))
    spans = np.stack([starts, starts + 1], axis=1)[:, None]
    return Items(tuple(words for words, _ in tagged), spans, labels)


def entity_items(examples: Sequence[TaggingExample]) -> Items:
    """Return every entity with its type; boundaries are given, as edge probing has it.

    An ``I-`` tag that continues no entity of its type begins one, as in seqeval; such are counted.
    """
    tagged = _tagged(examples)
    spans: list[tuple[int, int]] = []
    labels: list[str] = []
    counts: Counter[str] = Counter()
    at = 0
    for _, tags in tagged:
        before = "O"
        for tag in tags:
            prefix, _, kind = tag.partition("-")
            goes_on = prefix == "I" and before.partition("-")[2] == kind
            if goes_on:
                spans[-1] = (spans[-1][0], at + 1)
            elif prefix in ("B", "I"):
                counts["entities_without_beginning"] += prefix == "I"
                spans.append((at, at + 1))
                labels.append(kind)
            before = tag
            at += 1
    ranges = np.array(spans, np.int64).reshape(-1, 1, 2)
    return Items(tuple(words for words, _ in tagged), ranges, tuple(labels), +counts)


def _tagged(
    examples: Sequence[TaggingExample],
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    found = [(example.words, example.tags) for example in examples if example.tags is not None]
    if len(found) != len(examples):
        raise InputError("some sentences have no tags", where="probing", mend="use labelled files")
    return [(words, tags) for words, tags in found if tags is not None]


@dataclass(frozen=True)
class Arcs:
    """Sentences with a head and a relation for each word.

    Attributes:
        sentences: The syntactic words of each sentence, multiword tokens split.
        heads: Each word's head, counted in its sentence from 1; 0 is the root, -1 unknown.
        relations: Each word's universal relation, without subtype.
        words_split: Words of each sentence that stand for a part of a multiword token.
    """

    sentences: tuple[tuple[str, ...], ...]
    heads: tuple[tuple[int, ...], ...]
    relations: tuple[tuple[str, ...], ...]
    words_split: tuple[int, ...]

    def part(self, chosen: Sequence[int]) -> Arcs:
        """Return some of the sentences."""
        return Arcs(
            tuple(self.sentences[i] for i in chosen),
            tuple(self.heads[i] for i in chosen),
            tuple(self.relations[i] for i in chosen),
            tuple(self.words_split[i] for i in chosen),
        )


def read_arcs(path: Path, limit: int | None = None) -> Arcs:
    """Read a CoNLL-U file.

    Raises:
        InputError: It breaks the format.
    """
    lines = read_lines(path, Counter())
    sentences: list[Sentence] = list(read_conllu(lines, path))
    # The reader has checked the rows and keeps no relations; words are the rows with a plain number.
    rows = (line.split("\t") for line in lines if line and not line.startswith("#"))
    relations = iter([row[7].partition(":")[0] for row in rows if row[0].isdigit()])
    of_words = [tuple(next(relations) for _ in sentence.words) for sentence in sentences]
    kept = slice(limit)
    return Arcs(
        tuple(tuple(word.form for word in s.words) for s in sentences[kept]),
        tuple(
            tuple(-1 if word.head is None else word.head for word in s.words)
            for s in sentences[kept]
        ),
        tuple(of_words[kept]),
        tuple(
            sum(token.last - token.first + 1 for token in s.multiword_tokens)
            for s in sentences[kept]
        ),
    )


def arc_items(arcs: Arcs) -> Items:
    """Return every word but roots with its head, labelled by their relation; the first span is the head's."""
    spans: list[tuple[tuple[int, int], tuple[int, int]]] = []
    labels: list[str] = []
    counts: Counter[str] = Counter({"words_of_multiword_tokens": sum(arcs.words_split)})
    at = 0
    for heads, relations in zip(arcs.heads, arcs.relations, strict=True):
        for number, (head, relation) in enumerate(zip(heads, relations, strict=True)):
            if head > 0 and relation != "_":
                word, top = at + number, at + head - 1
                spans.append(((top, top + 1), (word, word + 1)))
                labels.append(relation)
            else:
                counts["roots_and_words_without_head"] += 1
        at += len(heads)
    return Items(
        arcs.sentences, np.array(spans, np.int64).reshape(-1, 2, 2), tuple(labels), +counts
    )


def treebank_files(folder: Path) -> dict[tuple[str, str], list[Path]]:
    """Return the CoNLL-U files of a folder by language and split, named as Universal Dependencies names them.

    Raises:
        InputError: There is none, or none of English.
    """
    found: dict[tuple[str, str], list[Path]] = {}
    for path in sorted(folder.rglob("*.conllu")):
        if match := _FILE.fullmatch(path.name):
            found.setdefault((match["language"], match["split"]), []).append(path)
    if not any(language == "en" for language, _ in found):
        raise InputError(
            "no English treebank",
            where=folder,
            mend="expected files such as en_ewt-ud-train.conllu",
        )
    return found


def split_in_five(size: int) -> tuple[list[int], list[int], list[int]]:
    """Split sentences where only a test file is there: of each five, three to train, one for dev, one to test."""
    numbers = range(size)
    return (
        [i for i in numbers if i % 5 < 3],
        [i for i in numbers if i % 5 == 3],
        [i for i in numbers if i % 5 == 4],
    )
