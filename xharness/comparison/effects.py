"""What a comparison says: one effect for each language, task, category and for the overall average."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["overall", "category", "task", "language"]

#: Families within which p-values are corrected for the number of comparisons.
FAMILIES: dict[str, tuple[Kind, ...]] = {
    "task x language": ("language",),
    "averages": ("overall", "category", "task"),
}


@dataclass(frozen=True)
class Effect:
    """The difference between two results in one figure.

    Attributes:
        kind: What the figure is.
        name: Task or category name; ``overall``.
        language: Language code; None for an average.
        baseline: The baseline's figure in percent, the mean over its seeds; None is a hole.
        candidate: The candidate's figure likewise.
        low: Lower end of the interval of the difference, in points; None where nothing was resampled.
        high: Its upper end.
        p_value: Two-sided p-value of no difference.
        p_holm: The same, corrected by Holm's method within the family.
        examples: Examples that were resampled; for an average the smallest number of its languages.
        chance: What is random in the interval and p-value: the examples, or the seeds too.
    """

    kind: Kind
    name: str
    language: str | None
    baseline: float | None
    candidate: float | None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    p_holm: float | None = None
    examples: int = 0
    chance: Literal["examples", "seeds and examples"] | None = None

    @property
    def key(self) -> str:
        """Return the name by which gates and reports call it: ``overall``, ``category:qa``, ``xnli``, ``xnli/sw``."""
        if self.kind == "category":
            return f"category:{self.name}"
        return self.name if self.language is None else f"{self.name}/{self.language}"

    @property
    def difference(self) -> float | None:
        """Return candidate minus baseline, in points."""
        if self.baseline is None or self.candidate is None:
            return None
        return self.candidate - self.baseline

    def significant(self, alpha: float) -> bool:
        """Tell whether the difference is significant at ``alpha``, corrected for the number of comparisons."""
        return self.p_holm is not None and self.p_holm <= alpha


@dataclass(frozen=True)
class Described:
    """One of the two results.

    Attributes:
        name: Model name, or the folder's where there is no record; untrusted.
        path: Where it lies.
        seeds: Its seeds; empty where they are not known.
    """

    name: str
    path: str
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Comparison:
    """Two results compared.

    Attributes:
        baseline: What is compared with.
        candidate: What is compared.
        suite: Title of the suite.
        profile: Scoring profile.
        level: Confidence level of the intervals, a fraction; 1 minus it is the default significance level.
        resamples: Resamples behind each interval and p-value.
        seed: Seed of the resampling.
        effects: Overall, categories, tasks, then languages.
        notes: What a reader must know: holes, differing recipes, limits.
    """

    baseline: Described
    candidate: Described
    suite: str
    profile: str
    level: float
    resamples: int
    seed: int
    effects: tuple[Effect, ...]
    notes: tuple[str, ...]

    @property
    def tested(self) -> bool:
        """Whether there are p-values; records alone allow none."""
        return any(effect.p_value is not None for effect in self.effects)

    @property
    def alpha(self) -> float:
        """Return the default significance level."""
        return round(1 - self.level, 12)

    def of(self, *kinds: Kind) -> tuple[Effect, ...]:
        """Return the effects of some kinds."""
        return tuple(effect for effect in self.effects if effect.kind in kinds)


def significant_drops(effects: Iterable[Effect], alpha: float) -> list[Effect]:
    """Return the effects that are drops, significant at ``alpha`` after correction."""
    return [e for e in effects if (e.difference or 0.0) < 0 and e.significant(alpha)]
