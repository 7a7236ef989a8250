"""How often each language is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping

from xharness.errors import InputError


def language_probabilities(lines: Mapping[str, int], alpha: float) -> dict[str, float]:
    """Return each language's share of training rows, a fraction.

    RemBERT's rule (arXiv 2010.12821, section 5): ``p_l = n_l / sum(n)`` over the languages' sentences, raised to
    ``alpha`` and renormalised. A line stands for a sentence. 1 keeps the corpus' shares, 0 makes all equal.

    Args:
        lines: Number of lines of each language.
        alpha: The exponent, not negative.

    Raises:
        InputError: There is no language, one has no line, or ``alpha`` is negative or not finite.
    """
    if not lines:
        raise InputError("no language to sample from")
    if not (math.isfinite(alpha) and alpha >= 0):
        raise InputError(
            f"alpha is {alpha}", mend="give 0 (all languages alike) to 1 (as in the text)"
        )
    for language, count in lines.items():
        if count < 1:
            raise InputError(
                f"language {language} has {count} lines", mend="leave it out or add text"
            )
    total = sum(lines.values())
    weights = {language: (count / total) ** alpha for language, count in lines.items()}
    norm = math.fsum(weights.values())
    return {language: weight / norm for language, weight in weights.items()}
