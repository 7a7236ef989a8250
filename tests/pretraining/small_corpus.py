"""The sample's text as a corpus, and the vocabulary that tests train on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path

from xharness.pretraining.corpus import CorpusFiles
from xharness.pretraining.vocabulary_training import train_vocabulary

SAMPLE = Path(str(files("xharness") / "sample" / "data" / "text"))

SIZE = 900


def train(
    corpus: Mapping[str, CorpusFiles],
    into: Path,
    *,
    size: int = SIZE,
    alpha: float = 0.5,
    lines: int = 4000,
    seed: int = 1,
    coverage: float = 0.9995,
    report: Callable[[str], None] = lambda _: None,
) -> Path:
    """Train a vocabulary."""
    return train_vocabulary(
        corpus,
        size=size,
        alpha=alpha,
        lines=lines,
        seed=seed,
        character_coverage=coverage,
        threads=1,
        into=into,
        report=report,
    )
