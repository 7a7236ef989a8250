"""A language pair that can be learnt in a second: words are replaced one for one, and their order is reversed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from xharness.translation.config import TranslationConfig

WORDS = {
    "sun": "sol",
    "moon": "lun",
    "star": "stel",
    "tree": "arb",
    "bird": "ave",
    "fish": "pes",
    "house": "dom",
    "road": "via",
}


def translated(sentence: str) -> str:
    """Return the one right translation."""
    return " ".join(WORDS[word] for word in reversed(sentence.split()))


def write_corpus(folder: Path, train: int = 600, held_out: int = 40, seed: int = 1) -> Path:
    """Write the three splits; no held-out sentence is in train."""
    draw = random.Random(seed)
    sentences: dict[str, None] = {}
    while len(sentences) < train + 2 * held_out:
        sentences[" ".join(draw.choices(list(WORDS), k=draw.randint(2, 4)))] = None
    texts = list(sentences)
    splits = {
        "train": texts[: -2 * held_out],
        "val": texts[-2 * held_out : -held_out],
        "test": texts[-held_out:],
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in splits.items():
        for language, side in (("en", lines), ("de", [translated(line) for line in lines])):
            (folder / f"{name}.{language}").write_text("\n".join(side) + "\n", encoding="utf-8")
    return folder


def toy_config(model: dict[str, Any] | None = None, **training: Any) -> TranslationConfig:
    """Return a configuration that fits the language."""
    return TranslationConfig.model_validate(
        {
            "name": "toy",
            "source": "en",
            "target": "de",
            "splits": {"test": "test"},
            "vocabulary": {"size": 64},
            "model": {
                "width": 32,
                "encoder_layers": 1,
                "decoder_layers": 1,
                "feed_forward": 64,
                "dropout": 0.1,
                "tying": "three-way",
                **(model or {}),
            },
            "training": {
                "epochs": 4,
                "batch_tokens": 256,
                "learning_rate": 0.01,
                "warmup_steps": 20,
                "average_epochs": 2,
                **training,
            },
            "search": {"beam": 2},
        }
    )
