"""Tokenizers for tests that say themselves what they do: a table of piece counts, and one piece a character."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from xharness.tasks.character_ranges import Ranges
from xharness.tasks.pieces import Ragged, Template

#: Two separators between segments, no token types: XLM-R's.
DOUBLE = Template(((0,), (2,)), ((0,), (2, 2), (2,)), (0, 0, 0, 0, 0), 0, 3)
#: One separator, the second segment of type 1: BERT's.
SINGLE = Template(((0,), (2,)), ((0,), (2,), (2,)), (0, 0, 0, 1, 1), 0, 2)

UNKNOWN = 3
_FIRST_ID = 1000


@dataclass
class CountedPieces:
    """Gives each word as many pieces as a table says, each with an id of its own; a text's words are between blanks."""

    counts: Mapping[str, int] = field(default_factory=dict)
    template: Template = DOUBLE
    max_length: int = 512
    unknown_id: int = UNKNOWN
    fingerprint: str = "counted"

    def __post_init__(self) -> None:
        self.uses_token_types = self.template is SINGLE

    def pieces_of(self, word: str) -> list[int]:
        place = sorted(self.counts).index(word)
        return [_FIRST_ID + 100 * place + i for i in range(self.counts[word])]

    def words(self, words: Sequence[str]) -> Ragged:
        return Ragged.of([self.pieces_of(word) for word in words])

    def texts(self, texts: Sequence[str]) -> Ragged:
        return Ragged.of([[i for w in text.split() for i in self.pieces_of(w)] for text in texts])

    def texts_with_offsets(self, texts: Sequence[str]) -> tuple[Ragged, Ranges]:
        raise NotImplementedError


@dataclass
class CharacterPieces:
    """Makes a piece of every character that is neither blank nor in ``vanishing``; its id is the code point."""

    template: Template = DOUBLE
    max_length: int = 512
    vanishing: str = ""
    unknown_id: int = UNKNOWN
    fingerprint: str = "characters"

    def __post_init__(self) -> None:
        self.uses_token_types = self.template is SINGLE

    def places(self, text: str) -> list[int]:
        return [i for i, c in enumerate(text) if not c.isspace() and c not in self.vanishing]

    def words(self, words: Sequence[str]) -> Ragged:
        return self.texts(words)

    def texts(self, texts: Sequence[str]) -> Ragged:
        return Ragged.of([[ord(text[i]) for i in self.places(text)] for text in texts])

    def texts_with_offsets(self, texts: Sequence[str]) -> tuple[Ragged, Ranges]:
        ranges = [(i, i + 1) for text in texts for i in self.places(text)]
        return self.texts(texts), np.array(ranges, np.int32).reshape(-1, 2)
