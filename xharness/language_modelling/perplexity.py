"""Perplexity, and what it is the exponential of."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Perplexity:
    """How well a text was predicted.

    Attributes:
        loss: Negative log-likelihood of all its words, in nats.
        words: Words predicted, ends of lines included.
    """

    loss: float
    words: int

    @property
    def mean_loss(self) -> float:
        """Nats a word; not a number for a text of no words."""
        return self.loss / self.words if self.words else math.nan

    @property
    def value(self) -> float:
        """exp(mean loss): the number of equally likely words that would be as hard to choose among."""
        mean = self.mean_loss
        # Beyond exp(700) there is no float; a model that far off has diverged.
        return math.exp(mean) if not mean > 700 else math.inf
