"""A small text whose lines follow a rule, so that a model has something to learn."""

from __future__ import annotations

import random
from pathlib import Path

NOUNS = ("cat", "dog", "bird", "fish", "horse", "mouse")
VERBS = ("sees", "hears", "likes", "finds")


def lines(number: int, seed: int) -> list[str]:
    """Return sentences ``the NOUN VERB the NOUN .`` whose verb tells the second noun."""
    draw = random.Random(seed)
    found = []
    for _ in range(number):
        verb = draw.randrange(len(VERBS))
        found.append(f"The {draw.choice(NOUNS)} {VERBS[verb]} the {NOUNS[verb]}.")
    return found


def write_corpus(folder: Path, *, train: int = 120, held_out: int = 40) -> Path:
    """Write ``en.txt`` and ``en.dev.txt``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "en.txt").write_text("\n".join(lines(train, 1)) + "\n")
    (folder / "en.dev.txt").write_text("\n".join(lines(held_out, 2)) + "\n")
    return folder
