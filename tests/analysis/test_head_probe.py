"""Finding heads."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from xharness.analysis.activations import Activations
from xharness.analysis.head_probe import (
    HeadedSentences,
    HeadProbe,
    attachment,
    frequent_offset,
    train_head_probe,
)
from xharness.analysis.probe import ProbeSettings
from xharness.errors import InputError
from xharness.inference.progress import Silent

SMALL = ProbeSettings(projection=24, hidden=24, learning_rate=5e-3, epochs=5)


def marked(sentences: int, seed: int, words: int = 5) -> HeadedSentences:
    """Sentences in which one word, marked at layer 1 alone, is the head of all others and hangs from the root."""
    generator = np.random.default_rng(seed)
    states = generator.normal(size=(sentences * words, 3, 6)).astype(np.float16)
    states[:, 1, 0] = -3
    heads = np.zeros((sentences, words), np.int64)
    for sentence, top in enumerate(generator.integers(0, words, size=sentences)):
        states[sentence * words + top, 1, 0] = 3
        heads[sentence] = top + 1
        heads[sentence, top] = 0
    starts = np.arange(sentences * words + 1, dtype=np.int64)
    return HeadedSentences(
        Activations(states, starts, Counter()), starts[::words].copy(), heads.reshape(-1)
    )


def test_heads_are_found_where_the_states_tell_them() -> None:
    """At layer 1 they do; at layer 0 nothing does, and of five choices chance finds one in five."""
    train, test = marked(60, 1), marked(40, 2)
    told = train_head_probe(train, None, {"en": test}, [1], SMALL, Silent())
    assert told.accuracy["en"] > 95
    untold = train_head_probe(train, None, {"en": test}, [0], SMALL, Silent())
    assert untold.accuracy["en"] < 50


def test_a_word_is_never_its_own_head() -> None:
    items = marked(1, 1)
    torch.manual_seed(1)
    states = torch.from_numpy(items.activations.states[:, :1].astype(np.float32))
    places, filled = torch.arange(5)[:, None], torch.ones(5, 1, dtype=torch.bool)
    scores = HeadProbe(1, 6, SMALL)(states, places, filled)
    assert scores.shape == (5, 6)
    assert bool((scores.argmax(dim=1) != torch.arange(5) + 1).all())
    assert bool((scores.diagonal(1) < -1e30).all())


def test_words_of_unknown_head_count_nowhere() -> None:
    items = marked(4, 1)
    unknown = replace(items, heads=np.full(20, -1))
    assert attachment(HeadProbe(1, 6, SMALL), unknown, np.array([1])) == 0.0
    with pytest.raises(InputError, match="no word with a head"):
        train_head_probe(unknown, None, {}, [1], SMALL, Silent())
    half = replace(items, heads=np.where(np.arange(20) < 5, items.heads, -1))
    found = train_head_probe(half, None, {"en": half}, [1], SMALL, Silent())
    assert found.accuracy["en"] in {0.0, 20.0, 40.0, 60.0, 80.0, 100.0}  # of five words


def test_the_best_epoch_on_dev_is_kept() -> None:
    train, dev = marked(30, 1), marked(10, 2)
    found = train_head_probe(train, dev, {"dev": dev}, [1, 2], SMALL, Silent())
    assert found.dev == found.accuracy["dev"]


def test_the_most_frequent_distance_by_hand() -> None:
    """Training heads are mostly one to the right; so are two of the four test words."""
    states = Activations(np.zeros((4, 1, 1), np.float16), np.arange(5), Counter())
    train = HeadedSentences(states, np.array([0, 4]), np.array([2, 3, 0, 3]))
    test = HeadedSentences(states, np.array([0, 2, 4]), np.array([2, 0, 2, 1]))
    assert frequent_offset(train, test) == 50.0
