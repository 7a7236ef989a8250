"""Perplexity of models, over whole texts."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from tests.language_modelling.tiny_models import VOCABULARY, config, words
from xharness.language_modelling.evaluation import evaluate
from xharness.language_modelling.model import LanguageModel


def text(length: int = 700) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    return words(length).numpy().astype(np.int32)


def test_a_model_that_knows_nothing() -> None:
    """With all weights 0 every word is equally likely: the perplexity is the vocabulary's size."""
    model = LanguageModel(config(), VOCABULARY)
    for parameter in model.parameters():
        torch.nn.init.zeros_(parameter)
    found = evaluate(model, text(), 1)
    assert found.value == pytest.approx(VOCABULARY)
    assert found.words == 700


def test_a_model_of_frequencies() -> None:
    """With all weights 0 but the biases, it is a unigram model: the mean log-probability can be added up by hand."""
    model = LanguageModel(config(), VOCABULARY)
    for parameter in model.parameters():
        torch.nn.init.zeros_(parameter)
    shares = torch.arange(1.0, VOCABULARY + 1) / sum(range(1, VOCABULARY + 1))
    with torch.no_grad():
        model.get_parameter("classifier.bias").copy_(shares.log())
    ids = text()
    expected = math.exp(-float(np.log(shares.numpy()[ids]).mean()))
    assert evaluate(model, ids, 1).value == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("kind", ["lstm", "transformer"])
def test_reading_in_windows_is_reading_the_whole(kind: str) -> None:
    """Windows of the text give what one window over all of it gives, the end of line before the first word."""
    settings = {"kind": kind, "memory": 700}
    model = LanguageModel(config({"tied": True}, settings, {"init_range": 0.5}), VOCABULARY)
    ids = text(300)
    inputs = torch.from_numpy(np.concatenate(([1], ids[:-1])).astype(np.int64))[:, None]
    whole = model.eval()(inputs, torch.from_numpy(ids.astype(np.int64))[:, None], None)[0]
    found = evaluate(model, ids, 1)
    assert found.loss == pytest.approx(whole.item(), rel=1e-5)
    assert evaluate(model, ids, 1, streams=7).loss != pytest.approx(found.loss, rel=1e-9)
    assert evaluate(model, ids, 1, streams=7).words == 294


def test_dropout_is_off_and_the_mode_is_kept() -> None:
    model = LanguageModel(config(model={"dropout": 0.5}), VOCABULARY)
    model.train()
    ids = text(100)
    assert evaluate(model, ids, 1) == evaluate(model, ids, 1)
    assert model.training
