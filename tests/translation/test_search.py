"""Beam search against greedy decoding and against all translations there are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from torch import Tensor

from xharness.inference.device import choose_device
from xharness.translation.batches import with_end
from xharness.translation.config import SearchSettings, TransformerSettings
from xharness.translation.modeling import TranslationModel
from xharness.translation.search import Hypothesis, beam_search, length_limit, translate
from xharness.translation.vocabulary import BEGIN, END

ORDINARY = (4, 5, 6)
SOURCES = [[4, 5], [6], [5, 5, 4, 6], [6, 4]]


def small_model(seed: int) -> TranslationModel:
    torch.manual_seed(seed)
    settings = TransformerSettings(
        width=16, encoder_layers=1, decoder_layers=2, heads=2, feed_forward=16, tying="three-way"
    )
    model = TranslationModel(settings, len(ORDINARY) + 4).eval()
    with torch.no_grad():
        model.classifier.mul_(2)  # sharper, so that hypotheses differ clearly
    return model


def settings(**changes: float) -> SearchSettings:
    return SearchSettings.model_validate({"length_factor": 0.01, "length_offset": 4, **changes})


def source_of(pieces: list[int]) -> Tensor:
    return torch.from_numpy(with_end(pieces))[None]


@torch.no_grad()
def log_probabilities(model: TranslationModel, source: list[int], pieces: list[int]) -> Tensor:
    """Of what follows some pieces, from a whole pass without a cache."""
    states = model.states(source_of(source), torch.tensor([[BEGIN, *pieces]]))
    return (states[0, -1] @ model.classifier.t()).log_softmax(-1)


def greedy(model: TranslationModel, source: list[int], limit: int) -> tuple[int, ...]:
    pieces: list[int] = []
    while len(pieces) + 1 < limit:
        following = log_probabilities(model, source, pieces)
        piece = max((*ORDINARY, END), key=lambda candidate: float(following[candidate]))
        if piece == END:
            break
        pieces.append(piece)
    return tuple(pieces)


@torch.no_grad()
def exhaustive(
    model: TranslationModel, source: list[int], limit: int, exponent: float
) -> Hypothesis:
    """Score every translation in one whole pass over those of the greatest length."""
    longest = list(product(ORDINARY, repeat=limit - 1))
    inputs = torch.tensor([[BEGIN, *pieces] for pieces in longest])
    states = model.states(source_of(source).expand(len(longest), -1), inputs)
    following = (states @ model.classifier.t()).log_softmax(-1)
    found = []
    for row, pieces in enumerate(longest):
        for length in range(limit):
            ended = (*pieces[:length], END)
            total = sum(float(following[row, at, piece]) for at, piece in enumerate(ended))
            score = total / (length + 1) ** exponent
            found.append(Hypothesis(pieces[:length], score, length + 1 == limit))
    return max(found, key=lambda hypothesis: hypothesis.score)


@pytest.mark.parametrize("seed", range(4))
def test_a_beam_of_one_is_greedy(seed: int) -> None:
    model = small_model(seed)
    for source in SOURCES:
        (found,) = beam_search(model, source_of(source), settings(beam=1, length_offset=9))
        assert found.pieces == greedy(model, source, 9)


@pytest.mark.parametrize("exponent", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("seed", range(2))
def test_a_beam_of_all_finds_the_best_of_all(seed: int, exponent: float) -> None:
    model = small_model(seed)
    # 1 + 3 + 9 + 27 translations of at most three pieces, so a beam of 40 loses none.
    wide = settings(beam=40, length_exponent=exponent)
    for source in SOURCES[:2]:
        (found,) = beam_search(model, source_of(source), wide)
        best = exhaustive(model, source, 4, exponent)
        assert (found.pieces, found.cut) == (best.pieces, best.cut)
        assert found.score == pytest.approx(best.score, abs=1e-4)


def test_wider_beams_score_no_worse_here() -> None:
    model = small_model(1)
    scores = [
        beam_search(model, source_of([5, 5, 4, 6]), settings(beam=beam))[0].score
        for beam in (1, 2, 40)
    ]
    assert scores == sorted(scores)


@pytest.mark.parametrize("beam", [1, 3])
def test_batches_change_no_translation(beam: int) -> None:
    model = small_model(2)
    sources = [with_end(source) for source in SOURCES]
    device = choose_device("cpu")
    together = translate(model, sources, settings(beam=beam, length_factor=2), device)
    alone = translate(model, sources, settings(beam=beam, length_factor=2, rows=1), device)
    assert [one.pieces for one in together] == [one.pieces for one in alone]
    assert np.allclose([one.score for one in together], [one.score for one in alone], atol=1e-5)


def test_special_pieces_are_never_chosen_and_a_forced_end_is_told() -> None:
    model = small_model(3)
    with torch.no_grad():
        model.classifier[[0, 1, 2]] *= 50  # what must not be chosen would win
        model.classifier[END] *= 0
    (found,) = beam_search(model, source_of([4]), settings(beam=2, length_offset=6))
    assert set(found.pieces) <= set(ORDINARY)
    assert len(found.pieces) <= 5
    assert found.cut == (len(found.pieces) == 5)


def test_length_limit() -> None:
    assert length_limit(SearchSettings(length_factor=1.5, length_offset=10), 5) == 17
