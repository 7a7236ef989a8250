"""The probe on states that are made so that the right answer is known, and on a tiny encoder's."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.analysis.tiny_encoders import write_encoder
from xharness.analysis.activations import Activations, store_activations
from xharness.analysis.encoders import open_encoder
from xharness.analysis.probe import (
    EdgeProbe,
    LabelledSpans,
    ProbeSettings,
    SpanPooling,
    _batch,
    accuracy,
    centre_of_gravity,
    majority,
    train_probe,
)
from xharness.analysis.task_data import window_settings
from xharness.errors import InputError
from xharness.inference.device import Device
from xharness.inference.progress import Silent

CPU = Device("cpu", "float32", 64)
SMALL = ProbeSettings(projection=16, hidden=16, learning_rate=5e-3, batch_size=16, epochs=8)


def told_by(layer: int, items: int, seed: int, spans: int = 1) -> LabelledSpans:
    """Words of two pieces whose label, 0 to 3, is told by the signs of two states of one layer of four alone.

    With two spans, each word tells one of the two signs.
    """
    generator = np.random.default_rng(seed)
    words = items * spans
    states = generator.normal(size=(2 * words, 4, 6)).astype(np.float16)
    signs = generator.integers(0, 2, size=(items, 2))
    for item in range(items):
        for part in range(2):
            word = item * spans + (part if spans == 2 else 0)
            value = 3.0 * (2 * signs[item, part] - 1)
            states[2 * word : 2 * word + 2, layer, part] = value
    starts = np.arange(words + 1, dtype=np.int64)
    ranges = np.stack([starts[:-1], starts[1:]], axis=1).reshape(items, spans, 2)
    return LabelledSpans(
        Activations(states, 2 * starts, Counter()), ranges, 2 * signs[:, 0] + signs[:, 1]
    )


def test_the_mix_finds_the_layer_that_tells_the_label() -> None:
    train, test = told_by(2, 400, 1), told_by(2, 200, 2)
    tests = {"en": test}
    mix = train_probe(
        train, None, tests, [1, 2, 3], 4, replace(SMALL, mix_learning_rate=0.1), Silent()
    )
    assert mix.accuracy["en"] > 95
    assert mix.weights[1] == max(mix.weights)
    assert mix.weights[1] > 0.6
    assert sum(mix.weights) == pytest.approx(1, abs=1e-5)
    alone = train_probe(train, None, tests, [2], 4, SMALL, Silent())
    assert alone.accuracy["en"] > 95
    assert alone.weights == (1.0,)


def test_a_layer_that_tells_nothing_gives_chance() -> None:
    """Four labels of equal number: 25 %, with a standard deviation of 3 over 200 items."""
    train, test = told_by(2, 400, 1), told_by(2, 200, 2)
    other = train_probe(train, None, {"en": test}, [1], 4, SMALL, Silent())
    assert other.accuracy["en"] < 40


def test_two_spans_are_read_together() -> None:
    """Each span tells half of the label: with one of them alone no more than half can be right."""
    train, test = told_by(0, 400, 1, spans=2), told_by(0, 200, 2, spans=2)
    both = train_probe(train, None, {"en": test}, [0], 4, SMALL, Silent())
    assert both.accuracy["en"] > 95
    one, other = (replace(items, spans=items.spans[:, :1]) for items in (train, test))
    assert train_probe(one, None, {"en": other}, [0], 4, SMALL, Silent()).accuracy["en"] < 65


def test_the_best_epoch_on_dev_is_kept() -> None:
    """Dev labels are shuffled so that no epoch is good; the figure reported is that of the epoch kept."""
    train, dev = told_by(1, 100, 1), told_by(1, 60, 2)
    found = train_probe(train, dev, {"dev": dev}, [1], 4, SMALL, Silent())
    assert found.dev == found.accuracy["dev"]
    assert 1 <= found.epoch <= SMALL.epochs


def test_the_same_seed_gives_the_same_figures_and_another_one_others() -> None:
    train, test = told_by(1, 100, 1), told_by(1, 100, 2)
    runs = [
        train_probe(train, None, {"en": test}, [0, 1, 2], 4, replace(SMALL, seed=seed), Silent())
        for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1]
    assert runs[0].weights != runs[2].weights


def test_training_leaves_the_global_random_state_alone() -> None:
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    train_probe(told_by(1, 20, 1), None, {}, [1], 4, SMALL, Silent())
    assert torch.equal(torch.rand(1), expected)


def test_a_label_that_training_never_saw_is_never_right() -> None:
    items = told_by(1, 50, 1)
    unseen = replace(items, labels=np.full(50, -1))
    probe = EdgeProbe(1, 6, 1, 4, SMALL)
    assert accuracy(probe, unseen, np.array([1])) == 0
    assert majority(items, unseen) == 0


def test_nothing_to_train_on_is_refused() -> None:
    items = told_by(1, 2, 1)
    nothing = replace(items, spans=items.spans[:0], labels=items.labels[:0])
    with pytest.raises(InputError, match="no item to train a probe on"):
        train_probe(nothing, None, {}, [1], 4, SMALL, Silent())


def test_spans_of_unequal_length_are_pooled_as_one_by_one() -> None:
    """Padding to the longest span changes nothing."""
    generator = np.random.default_rng(0)
    states = generator.normal(size=(7, 2, 5)).astype(np.float16)
    starts = np.array([0, 1, 4, 7])  # words of 1, 3 and 3 pieces
    spans = np.array([[[0, 1]], [[1, 3]], [[0, 3]], [[2, 3]]])
    items = LabelledSpans(Activations(states, starts, Counter()), spans, np.zeros(4, np.int64))
    torch.manual_seed(1)
    pooling = SpanPooling(5, 3)
    ((flat, places, filled),) = _batch(items, np.arange(4), np.array([1]))
    together = pooling(flat[:, 0], places, filled)
    for number, (first, last) in enumerate([(0, 1), (1, 7), (0, 7), (4, 7)]):
        projected = pooling.projection(torch.from_numpy(states[first:last, 1].astype(np.float32)))
        weights = torch.softmax(pooling.attention(projected)[:, 0], dim=0)
        torch.testing.assert_close(together[number], weights @ projected)


def test_the_centre_of_gravity_is_the_mean_layer() -> None:
    assert centre_of_gravity([0.25, 0.5, 0.25], [1, 2, 3]) == 2.0


def test_states_are_those_of_each_sentence_alone(tmp_path: Path) -> None:
    """Every piece of every word, at every layer, against one sentence at a time; half precision apart."""
    encoder = open_encoder(str(write_encoder(tmp_path / "tiny")), CPU)
    sentences = [["the", "old", "boat", "waits"], ["bread"], ["two", "children", "龘", "wait"] * 2]
    found = store_activations(encoder, sentences, window_settings(64), tmp_path / "s.npy", Silent())
    before, after = encoder.pieces.template.single
    word = 0
    for words in sentences:
        pieces = [
            encoder.pieces.words([w])[0].tolist() or [encoder.pieces.unknown_id] for w in words
        ]
        ids = torch.tensor([[*before, *(i for piece in pieces for i in piece), *after]])
        with torch.inference_mode():
            states = encoder.model(input_ids=ids, output_hidden_states=True).hidden_states
        at = len(before)
        for piece in pieces:
            start, end = found.word_starts[word], found.word_starts[word + 1]
            assert end - start == len(piece)
            for layer, state in enumerate(states):
                expected = state[0, at : at + len(piece)].numpy()
                np.testing.assert_allclose(
                    found.states[start:end, layer], expected, rtol=2e-3, atol=2e-3
                )
            at += len(piece)
            word += 1
    assert found.word_starts[-1] == len(found.states)


def test_a_long_sentence_goes_on_in_further_windows(tmp_path: Path) -> None:
    encoder = open_encoder(str(write_encoder(tmp_path / "tiny")), CPU)
    found = store_activations(
        encoder, [["boat"] * 30], window_settings(8), tmp_path / "s.npy", Silent()
    )
    assert len(found.word_starts) == 31
    assert np.all(np.diff(found.word_starts) >= 1)
    assert np.abs(found.states).max(axis=2).min() > 0  # no piece was left out
    assert found.counts["sentences_cut"] > 0
