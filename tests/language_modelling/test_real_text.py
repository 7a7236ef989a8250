"""Real text and real word similarity sets, where they are at hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from xharness.analysis.word_similarity import read_sets
from xharness.language_modelling.config import TextSettings
from xharness.language_modelling.embedding_quality import rate_table
from xharness.language_modelling.kneser_ney import KneserNey
from xharness.language_modelling.text import Splits, read_splits

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def splits(shared: Path) -> Splits:
    settings = TextSettings(vocabulary_size=3000, train_words=60_000, dev_words=10_000)
    return read_splits(shared / "data" / "pretrain", "en", settings)


def test_splits(splits: Splits) -> None:
    """No more words than asked for, none of the parts the same, few words unknown."""
    assert len(splits.vocabulary) == 3000
    assert 59_000 < len(splits.train.ids) <= 60_000
    assert 10_000 <= len(splits.dev.ids) < 11_000
    assert splits.vocabulary.words[2:5] == ("the", ".", ",")
    for part in (splits.train, splits.dev, splits.test):
        assert part.unknown_percent < 20
        assert int((part.ids == splits.vocabulary.end_id).sum()) == part.lines


def test_longer_ngrams_are_better(splits: Splits) -> None:
    """On held-out text each further word of context helps, less and less (Chen and Goodman 1999)."""
    found = [
        KneserNey(splits.train.ids, 3000, order, splits.vocabulary.end_id)
        .perplexity(splits.test.ids)
        .value
        for order in (1, 2, 3)
    ]
    assert found[0] > 1.5 * found[1] > 1.5 * found[2]
    assert 50 < found[2] < 500


def test_the_five_sets(splits: Splits, shared: Path) -> None:
    """Every pair is compared or counted as left out: 3,000, 771, 2,034, 999 and 143 of them."""
    sets = read_sets([shared / "data" / "extra" / "word_similarity"])
    table = np.random.default_rng(0).normal(size=(3000, 16)).astype(np.float32)
    rated = rate_table(table, splits.vocabulary, sets)
    sizes = {name: one["pairs"] + one["missing_pairs"] for name, one in rated.items()}
    assert sizes == {
        "MEN": 3000,
        "MTurk-771": 771,
        "Rare-Word": 2034,
        "SimLex-999": 999,
        "Verb-143": 144,
    }
    assert all(
        0 < one["pairs"] < size for one, size in zip(rated.values(), sizes.values(), strict=True)
    )
