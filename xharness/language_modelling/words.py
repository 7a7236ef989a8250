"""Words of a text and their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import regex  # type: ignore[import-untyped,unused-ignore]

from xharness.language_modelling.config import TextSettings

Ids = npt.NDArray[np.int32]

UNKNOWN = "<unk>"
END = "<eos>"

#: Letters, their marks and digits, joined by apostrophes and hyphens inside a word; every other mark by itself.
#: ``str.split`` takes four separators for white space that regular expressions do not.
_WORD = regex.compile(
    r"[\p{L}\p{M}\p{N}_]+(?:['’\-][\p{L}\p{M}\p{N}_]+)*|[^\s\x1c-\x1f\p{L}\p{M}\p{N}_]"
)


def split_line(line: str, settings: TextSettings) -> list[str]:
    """Return a line's words."""
    if settings.lowercase:
        line = line.lower()
    if settings.words == "whitespace":
        return line.split()
    words: list[str] = _WORD.findall(line)
    return words


@dataclass(frozen=True)
class EncodedText:
    """A text as numbers.

    Attributes:
        ids: (words,), each line ended by ``<eos>``.
        lines: Lines.
        unknown: Words that are none of the vocabulary, ``<unk>`` in the text itself included.
    """

    ids: Ids
    lines: int
    unknown: int

    @property
    def unknown_percent(self) -> float:
        """Share of unknown words, ends of lines counted as words."""
        return 100 * self.unknown / max(1, len(self.ids))


@dataclass(frozen=True)
class WordVocabulary:
    """Words by number: ``<unk>``, ``<eos>``, then the others from the most to the least frequent.

    Attributes:
        words: (size,), each once.
    """

    words: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def ids(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    @property
    def unknown_id(self) -> int:
        """Number of ``<unk>``."""
        return 0

    @property
    def end_id(self) -> int:
        """Number of ``<eos>``."""
        return 1

    def encode(self, lines: Iterable[Sequence[str]]) -> EncodedText:
        """Number the words of lines."""
        ids: list[int] = []
        count = 0
        for line in lines:
            ids.extend(self.ids.get(word, self.unknown_id) for word in line)
            ids.append(self.end_id)
            count += 1
        encoded = np.array(ids, np.int32)
        return EncodedText(encoded, count, int((encoded == self.unknown_id).sum()))


def build_vocabulary(lines: Iterable[Sequence[str]], size: int) -> WordVocabulary:
    """Take the most frequent words; of equally frequent ones those that came first.

    Args:
        lines: The training text.
        size: Words at most, ``<unk>`` and ``<eos>`` included; a text of fewer words has a smaller vocabulary.
    """
    counts = Counter(word for line in lines for word in line)
    special = (UNKNOWN, END)
    frequent = [word for word, _ in counts.most_common(size) if word not in special]
    return WordVocabulary((*special, *frequent[: size - len(special)]))
