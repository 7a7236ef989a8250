"""The score of one language of one task, and the rule by which placeholder gold is not scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Status = Literal["scored", "missing", "unscored"]

#: Gold of one and the same label is taken for a placeholder when it has more than this many examples. The official test
#: files come without labels, and readers fill in one; six honest binary labels agree once in 32 times, so anything
#: shorter may well be real.
HANDFUL = 5

#: Counts that are given even when they are 0.
_ALWAYS = ("examples", "unanswered")


@dataclass(frozen=True)
class LanguageScore:
    """One language of one task.

    Attributes:
        status: ``missing`` without a prediction file, ``unscored`` without usable gold.
        figures: Percentages by official name; empty unless scored.
        counts: Examples, unanswered ones, and everything that was mended; zeros left out but for the first two.
        reason: Why it is not scored.
    """

    status: Status
    figures: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    reason: str | None = None

    @classmethod
    def of(
        cls, figures: dict[str, float], counts: Mapping[str, int], reason: str | None = None
    ) -> LanguageScore:
        """Make a score, or an unscored entry where there is a reason for none."""
        kept = {key: counts[key] for key in _ALWAYS}
        kept.update((key, n) for key, n in sorted(counts.items()) if n and key not in kept)
        if reason is not None:
            return cls("unscored", {}, kept, reason)
        return cls("scored", figures, kept)


def constant_gold(labels: Collection[str], examples: int, path: Path) -> str | None:
    """Return why gold of these distinct labels is a placeholder, or None.

    Source: google-research/xtreme issues 24, 29, 36 and 66, where placeholders gave 33 % on XNLI and 50 % on PAWS-X.
    """
    if len(labels) > 1 or examples <= HANDFUL:
        return None
    label = next(iter(labels), "")
    return f"constant gold: all {examples} examples of {path} have the label {label!r}"


def gold_counts(counts: Counter[str]) -> Counter[str]:
    """Name counts of the gold file apart from those of the predictions."""
    return Counter({f"gold_{key}": n for key, n in counts.items()})
