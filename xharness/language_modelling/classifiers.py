"""Classifiers over the vocabulary: a full softmax, and one adaptive to frequency."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from xharness.errors import InputError
from xharness.language_modelling.config import AdaptiveSettings


class SoftmaxClassifier(nn.Module):
    """A softmax over all words.

    Args:
        weight: The words' vectors, (vocabulary, width); the input's own where both are tied.
    """

    def __init__(self, weight: nn.Parameter) -> None:
        super().__init__()
        self.weight = weight
        self.bias = nn.Parameter(torch.zeros(len(weight)))

    def log_probabilities(self, states: Tensor) -> Tensor:
        """Return (positions, vocabulary) in nats, in float32."""
        logits = nn.functional.linear(states, self.weight, self.bias)
        return logits.float().log_softmax(1)

    def forward(self, states: Tensor, targets: Tensor) -> Tensor:
        """Return the negative log-likelihood of all targets, in nats: (positions, width) and (positions,) to ()."""
        logits = nn.functional.linear(states, self.weight, self.bias)
        return nn.functional.cross_entropy(logits.float(), targets, reduction="sum")


class AdaptiveClassifier(nn.Module):
    """The adaptive softmax of Grave et al. 2017 (arXiv 1609.04309): rarer words in clusters with narrower vectors.

    Args:
        settings: The clusters.
        width: Of the states.
        vocabulary: Size of the vocabulary.

    Raises:
        InputError: The clusters do not fit the vocabulary, or the last one's vectors would have no width.
    """

    def __init__(self, settings: AdaptiveSettings, width: int, vocabulary: int) -> None:
        super().__init__()
        if settings.cutoffs[-1] >= vocabulary:
            raise InputError(
                f"a cluster from rank {settings.cutoffs[-1]} in a vocabulary of {vocabulary} words",
                where="embedding.adaptive.cutoffs",
                mend="give lower cutoffs or more words",
            )
        if int(width // settings.division ** len(settings.cutoffs)) < 1:
            raise InputError(
                f"a width of {width} is used up after {len(settings.cutoffs)} divisions by {settings.division:g}",
                where="embedding.adaptive.division",
            )
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(
            width, vocabulary, list(settings.cutoffs), div_value=settings.division, head_bias=True
        )

    def tables(self) -> list[nn.Parameter]:
        """Return the clusters' vectors; the first has further rows, one a cluster."""
        names = ["head.weight", *(f"tail.{tail}.1.weight" for tail in range(self._tails))]
        return [self.softmax.get_parameter(name) for name in names]

    def projections(self) -> list[nn.Parameter]:
        """Return the maps to the narrower clusters' widths, (cluster width, width) each."""
        names = (f"tail.{tail}.0.weight" for tail in range(self._tails))
        return [self.softmax.get_parameter(name) for name in names]

    @property
    def _tails(self) -> int:
        return len(self.softmax.tail)

    def log_probabilities(self, states: Tensor) -> Tensor:
        """Return (positions, vocabulary) in nats, in float32."""
        with torch.autocast(states.device.type, enabled=False):
            found: Tensor = self.softmax.log_prob(states.float())
        return found

    def forward(self, states: Tensor, targets: Tensor) -> Tensor:
        """Return the negative log-likelihood of all targets, in nats: (positions, width) and (positions,) to ()."""
        # The clusters' scores are gathered into one float32 tensor, which autocast's formats do not fit.
        with torch.autocast(states.device.type, enabled=False):
            at_targets: Tensor = self.softmax(states.float(), targets).output
        return -at_targets.sum()
