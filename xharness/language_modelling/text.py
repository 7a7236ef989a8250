"""Training, development and test text of a language model."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xharness.errors import InputError
from xharness.language_modelling.config import TextSettings
from xharness.language_modelling.words import (
    EncodedText,
    WordVocabulary,
    build_vocabulary,
    split_line,
)
from xharness.pretraining.corpus import find_corpus, read_lines

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Splits:
    """A text in three parts.

    Attributes:
        vocabulary: Of the training part.
        train: Trained on.
        dev: The end of the training text, held out.
        test: The held-out file.
        counts: What was met while reading, as ``read_lines`` counts it, and ``lines_without_words``.
    """

    vocabulary: WordVocabulary
    train: EncodedText
    dev: EncodedText
    test: EncodedText
    counts: dict[str, int]

    def part(self, split: str) -> EncodedText:
        """Return a part by its name."""
        parts = {"train": self.train, "dev": self.dev, "test": self.test}
        return parts[split]

    def as_json(self) -> dict[str, Any]:
        """Return sizes, unknown words and a digest of the numbers, for a result file."""
        return {
            "vocabulary": len(self.vocabulary),
            **{
                split: {
                    "words": len(part.ids),
                    "lines": part.lines,
                    "unknown": part.unknown,
                    "unknown_percent": part.unknown_percent,
                    "sha256": hashlib.sha256(part.ids.tobytes()).hexdigest(),
                }
                for split in SPLITS
                for part in [self.part(split)]
            },
            "counts": self.counts,
        }


def read_splits(folder: Path, language: str, settings: TextSettings) -> Splits:
    """Read a language's text from a folder.

    The training file is read up to ``train_words`` and ``dev_words``; its last ``dev_words``, in whole lines, are
    the development text and the rest is trained on. The held-out file is the test text, all of it.

    Args:
        folder: Holds ``<language>.txt`` or its parts, and ``<language>.dev.txt``, plain or compressed.
        language: As the files' names give it.
        settings: Sizes and the cut into words.

    Raises:
        InputError: A file is absent or damaged, or the text is no larger than its development part.
    """
    files = find_corpus(folder, [language])[language]
    if files.dev is None:
        raise InputError(
            f"no held-out text for {language}",
            where=folder,
            mend=f"add {language}.dev.txt; it becomes the test text",
        )
    counts: Counter[str] = Counter()
    lines = (line for path in files.train for line in read_lines(path, counts))
    most = None if settings.train_words is None else settings.train_words + settings.dev_words
    text = list(_up_to(_worded(lines, settings, counts), most))
    first = _dev_start(text, settings.dev_words)
    if not first:
        raise InputError(
            f"no more than the {settings.dev_words} words of the development part",
            where=files.train[0],
            mend="give more text or a smaller text.dev_words",
        )
    train, dev = text[:first], text[first:]
    test = list(_worded(read_lines(files.dev, counts), settings, counts))
    vocabulary = build_vocabulary(train, settings.vocabulary_size)
    return Splits(
        vocabulary,
        vocabulary.encode(train),
        vocabulary.encode(dev),
        vocabulary.encode(test),
        dict(sorted(counts.items())),
    )


def _worded(
    lines: Iterable[str], settings: TextSettings, counts: Counter[str]
) -> Iterator[list[str]]:
    for line in lines:
        words = split_line(line, settings)
        if words:
            yield words
        else:
            counts["lines_without_words"] += 1


def _up_to(lines: Iterable[list[str]], most: int | None) -> Iterator[list[str]]:
    """Yield lines as long as their words and ends do not exceed a number."""
    taken = 0
    for line in lines:
        taken += len(line) + 1
        if most is not None and taken > most:
            return
        yield line


def _dev_start(text: list[list[str]], dev_words: int) -> int:
    """Return the index of the line at which the last ``dev_words`` begin, 0 where there are no more words."""
    taken = 0
    for index in range(len(text) - 1, -1, -1):
        taken += len(text[index]) + 1
        if taken >= dev_words:
            return index
    return 0
