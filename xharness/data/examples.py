"""The typed examples that readers yield and the kinds encode. Identity is carried by ``id``, never inferred."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

SplitName = Literal["train", "dev", "test"]

#: Examples of a part. A test split is predicted and written part by part: bounds memory, not results.
PART_EXAMPLES = 16_384


@dataclass(frozen=True, slots=True)
class PairExample:
    """Two sentences and the label of their relation; ``None`` where the file holds none."""

    id: str
    premise: str
    hypothesis: str
    label: str | None


@dataclass(frozen=True, slots=True)
class ChoiceExample:
    """A context, a question and its possible answers, two or more.

    ``label`` is the index of the right choice; ``None`` where the file holds none.
    """

    id: str
    context: str
    question: str
    choices: tuple[str, ...]
    label: int | None


@dataclass(frozen=True, slots=True)
class TaggingExample:
    """A sentence's words and their tags; ``None`` where the file holds none."""

    id: str
    words: tuple[str, ...]
    tags: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: ``context[start:start + len(text)] == text``, in code points.

    A start of -1 says that the context does not hold the text: it is scored against, and never learnt.
    """

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class QuestionExample:
    """A question on a context. No answers means that the file holds none."""

    id: str
    question: str
    context: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Sentences:
    """One side of a bitext: ids and sentences of equal number."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bitext:
    """Two sets of sentences and the gold pairs of (source id, target id); ``None`` where unknown."""

    source: Sentences
    target: Sentences
    gold: tuple[tuple[str, str], ...] | None


Example = PairExample | ChoiceExample | TaggingExample | QuestionExample | Bitext


@dataclass(frozen=True)
class Split:
    """The examples of one split in one language.

    Attributes:
        task: Task name.
        name: Which split was asked for.
        language: Language code.
        examples: The examples; a retrieval split holds one ``Bitext``.
        counts: What was dropped, mended or odd, by name.
        origin: Where it was read: digests by file, or repository, revision and configuration.
        stand_in: The split that was read instead, where the one asked for is absent.
        available: Number of examples before a limit was applied.
        part: Which part of a split this is; empty for a whole one.
    """

    task: str
    name: SplitName
    language: str
    examples: Sequence[Example]
    counts: Counter[str] = field(default_factory=Counter)
    origin: dict[str, str] = field(default_factory=dict)
    stand_in: str | None = None
    available: int = 0
    part: str = ""

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def size(self) -> int:
        """Number of examples; in a bitext, of source sentences."""
        if len(self.examples) == 1 and isinstance(self.examples[0], Bitext):
            return len(self.examples[0].source.ids)
        return len(self.examples)

    def parts(self, size: int | None = None) -> Iterator[Split]:
        """Yield the split in parts of ``PART_EXAMPLES`` or so many; one that is no larger is its own only part.

        The parts together hold what the split holds; counts stay with the whole.
        """
        count, size = len(self), size or PART_EXAMPLES
        if count <= size:
            yield self
            return
        for at in range(0, count, size):
            examples = self.examples[at : at + size]
            yield replace(self, examples=examples, counts=Counter(), part=f"{at} of {count}")

    @property
    def fingerprint(self) -> str:
        """Hash of what was read and how much of it was kept."""
        described = [
            self.task,
            self.name,
            self.language,
            str(self.stand_in),
            str(len(self.examples)),
        ]
        described += [f"{name}={value}" for name, value in sorted(self.origin.items())]
        if self.part:
            described.append(self.part)
        return hashlib.sha256("\0".join(described).encode()).hexdigest()
