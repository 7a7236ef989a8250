"""Classifiers: distributions over all words, and the loss that belongs to them."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from xharness.errors import InputError
from xharness.language_modelling.classifiers import AdaptiveClassifier, SoftmaxClassifier
from xharness.language_modelling.config import AdaptiveSettings


def classifiers() -> list[SoftmaxClassifier | AdaptiveClassifier]:
    torch.manual_seed(0)
    settings = AdaptiveSettings(cutoffs=(3, 7), division=2)
    return [
        SoftmaxClassifier(nn.Parameter(torch.randn(11, 8))),
        AdaptiveClassifier(settings, 8, 11),
    ]


@pytest.mark.parametrize("classifier", classifiers(), ids=["softmax", "adaptive"])
def test_loss_is_that_of_the_distribution(
    classifier: SoftmaxClassifier | AdaptiveClassifier,
) -> None:
    states, targets = torch.randn(6, 8), torch.tensor([0, 3, 10, 7, 2, 6])
    found = classifier.log_probabilities(states)
    torch.testing.assert_close(found.exp().sum(1), torch.ones(6))
    torch.testing.assert_close(classifier(states, targets), -found[torch.arange(6), targets].sum())


def test_adaptive_by_hand() -> None:
    """Without any weights the head's 3 words and 2 clusters have 1/5 each; 4 words share a cluster equally."""
    _, adaptive = classifiers()
    for parameter in adaptive.parameters():
        nn.init.zeros_(parameter)
    found = adaptive.log_probabilities(torch.randn(1, 8)).exp()[0]
    torch.testing.assert_close(found, torch.tensor([1 / 5] * 3 + [1 / 20] * 8))


def test_under_autocast() -> None:
    """The adaptive softmax stays in float32; the full one rounds its logits."""
    torch.manual_seed(1)
    softmax, adaptive = classifiers()
    states, targets = torch.randn(6, 8), torch.tensor([0, 3, 10, 7, 2, 6])
    with torch.autocast("cpu", torch.bfloat16):
        rounded, whole = softmax(states, targets), adaptive(states, targets)
    assert rounded.dtype == whole.dtype == torch.float32
    assert whole == adaptive(states, targets)
    torch.testing.assert_close(rounded, softmax(states, targets), rtol=0.02, atol=0.1)


def test_clusters_that_do_not_fit() -> None:
    with pytest.raises(InputError, match="a cluster from rank 11 in a vocabulary of 11 words"):
        AdaptiveClassifier(AdaptiveSettings(cutoffs=(3, 11)), 8, 11)
    with pytest.raises(InputError, match="a width of 8 is used up after 2 divisions by 4"):
        AdaptiveClassifier(AdaptiveSettings(cutoffs=(3, 7), division=4), 8, 11)
