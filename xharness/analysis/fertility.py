"""How a tokenizer cuts a language: pieces per word, unknown pieces, what does not fit into a window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xharness.data.examples import (
    Bitext,
    ChoiceExample,
    Example,
    PairExample,
    QuestionExample,
    TaggingExample,
)
from xharness.tasks.pieces import IndexArray, PieceTokenizer, starts_of


@dataclass(frozen=True)
class Fertility:
    """How a tokenizer cuts one language.

    Attributes:
        unit: What is cut: ``word`` where the data hold words, else ``text``.
        units: Words or texts, repeated ones as often as they occur.
        characters: Code points in them, blanks left out.
        pieces: Pieces made of them.
        unknown_pieces: Unknown tokens among these.
        unknown_units: Words or texts that hold one, or that come to no piece at all.
        examples: Sentences or examples.
        too_long: Those of more pieces than a window holds; a sentence is cut there, a paragraph goes on in a further
            window.
    """

    unit: str
    units: int
    characters: int
    pieces: int
    unknown_pieces: int
    unknown_units: int
    examples: int
    too_long: int

    @property
    def pieces_per_unit(self) -> float:
        """Mean number of pieces of a word or text."""
        return self.pieces / self.units if self.units else 0.0

    @property
    def characters_per_piece(self) -> float:
        """Mean number of characters that a piece stands for."""
        return self.characters / self.pieces if self.pieces else 0.0

    @property
    def unknown_rate(self) -> float:
        """Unknown pieces among all, in percent."""
        return 100 * self.unknown_pieces / self.pieces if self.pieces else 0.0

    @property
    def truncation(self) -> float:
        """Examples that are too long, in percent."""
        return 100 * self.too_long / self.examples if self.examples else 0.0

    def as_json(self) -> dict[str, float | int | str]:
        """Return what a JSON file holds of it."""
        return {
            "unit": self.unit,
            "units": self.units,
            f"pieces_per_{self.unit}": round(self.pieces_per_unit, 4),
            "characters_per_piece": round(self.characters_per_piece, 4),
            "unknown_rate": round(self.unknown_rate, 4),
            f"{self.unit}s_with_unknown": self.unknown_units,
            "examples": self.examples,
            "too_long": self.too_long,
            "truncation": round(self.truncation, 4),
        }


def fertility(examples: Sequence[Example], tokenizer: PieceTokenizer, max_length: int) -> Fertility:
    """Measure the examples of one language.

    Args:
        examples: Of one kind; of a bitext only the source side, which is not English, is looked at.
        tokenizer: Cuts them.
        max_length: Pieces in a window, special tokens included.
    """
    template = tokenizer.template
    if isinstance(examples[0], TaggingExample):
        units, sizes = _words(examples)
        specials = max(template.cut_specials, template.single_specials)
        unit = "word"
    else:
        units, sizes = _texts(examples)
        unit = "text"
        paired = int(sizes.max(initial=1)) > 1
        specials = template.pair_specials if paired else template.single_specials
    distinct = list(dict.fromkeys(units))
    index = {text: i for i, text in enumerate(distinct)}
    cut = tokenizer.words(distinct) if unit == "word" else tokenizer.texts(distinct)
    of = np.fromiter((index[text] for text in units), np.int64, len(units))
    characters = np.fromiter((sum(not c.isspace() for c in t) for t in distinct), np.int64)
    unknown_at = np.concatenate([[0], np.cumsum(cut.values == tokenizer.unknown_id)])
    unknown = unknown_at[cut.starts[1:]] - unknown_at[cut.starts[:-1]]
    lengths = cut.lengths[of]
    before = starts_of(lengths)
    example_starts = starts_of(sizes)
    totals = before[example_starts[1:]] - before[example_starts[:-1]]
    room = min(max_length, tokenizer.max_length) - specials
    return Fertility(
        unit=unit,
        units=len(units),
        characters=int(characters[of].sum()),
        pieces=int(lengths.sum()),
        unknown_pieces=int(unknown[of].sum()),
        unknown_units=int(np.sum((unknown[of] > 0) | (lengths == 0))),
        examples=len(sizes),
        too_long=int(np.sum(totals > room)),
    )


def _words(examples: Sequence[Example]) -> tuple[list[str], IndexArray]:
    """Return all words, and the number of each sentence's."""
    sentences = [example.words for example in examples if isinstance(example, TaggingExample)]
    return [word for words in sentences for word in words], np.array([len(w) for w in sentences])


def _texts(examples: Sequence[Example]) -> tuple[list[str], IndexArray]:
    """Return all texts, and the number of each example's."""
    texts: list[str] = []
    sizes = []
    for example in examples:
        parts: tuple[str, ...] = ()
        if isinstance(example, PairExample):
            parts = (example.premise, example.hypothesis)
        elif isinstance(example, QuestionExample):
            parts = (example.question, example.context)
        elif isinstance(example, ChoiceExample):
            # One window a choice; the longest decides whether one of them is cut.
            parts = (example.context, f"{example.question} {max(example.choices, key=len)}")
        elif isinstance(example, Bitext):
            texts += example.source.texts
            sizes += [1] * len(example.source.texts)
            continue
        texts += parts
        sizes.append(len(parts))
    return texts, np.array(sizes, np.int64)
