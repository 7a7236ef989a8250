"""From paired examples to effects: languages, averages, and the correction for their number.

An average is formed for each seed and each draw from the figures of its languages and tasks, so its interval and
p-value come from the same draws as theirs. What is resampled apart (tasks, and the groups of languages of one task)
is independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from xharness.comparison.effects import FAMILIES, Effect, Kind
from xharness.comparison.inference import Outcome, examples_outcome, holm, seeds_outcome
from xharness.comparison.pairing import PairedExamples
from xharness.comparison.resampling import bootstrap, exchange, generator, observed
from xharness.scoring.examples import FloatArray


@dataclass(frozen=True)
class Resampling:
    """How intervals and p-values are made.

    Attributes:
        resamples: Bootstrap draws, and as many exchanges.
        seed: Seed of the random numbers.
        level: Confidence level of the intervals, a fraction.
    """

    resamples: int = 10_000
    seed: int = 0
    level: float = 0.95


@dataclass(frozen=True)
class TaskPair:
    """One task of two results.

    Attributes:
        name: Task name.
        languages: All its languages, in order.
        baseline: The baseline's figures in percent by language, an array over seeds; absent is a hole.
        candidate: The candidate's, in the same languages.
        groups: The examples behind them; empty where only figures are known.
    """

    name: str
    languages: tuple[str, ...]
    baseline: Mapping[str, FloatArray]
    candidate: Mapping[str, FloatArray]
    groups: tuple[PairedExamples, ...] = ()

    @classmethod
    def of_examples(
        cls, name: str, languages: Sequence[str], groups: Sequence[PairedExamples]
    ) -> TaskPair:
        """Make a pair whose figures are those of its examples."""
        sides: tuple[dict[str, FloatArray], dict[str, FloatArray]] = ({}, {})
        for group in groups:
            for side, figures in zip(sides, observed(group), strict=True):
                side.update(zip(group.languages, figures, strict=True))
        return cls(name, tuple(languages), *sides, tuple(groups))


@dataclass(frozen=True)
class _Draws:
    """A figure and its resamples.

    Attributes:
        baseline: Figure by seed in percent. (seeds,)
        candidate: The same of the candidate.
        resampled: Both in bootstrap draws, (resamples, seeds) each; None where only figures are known.
        exchanged: The difference and its draws with sides exchanged; None where seeds are random too.
        examples: Number of examples; for an average the smallest of its parts.
        rare: Whether too few examples have anything right, in any of its parts.
    """

    baseline: FloatArray
    candidate: FloatArray
    resampled: tuple[FloatArray, FloatArray] | None
    exchanged: tuple[float, FloatArray] | None
    examples: int
    rare: bool = False

    @property
    def chance(self) -> Literal["examples", "seeds and examples"] | None:
        """Return what is random."""
        if self.resampled is None:
            return None
        both = min(len(self.baseline), len(self.candidate)) > 1
        return "seeds and examples" if both else "examples"

    def outcome(self, level: float) -> Outcome | None:
        """Return interval and p-value."""
        if self.resampled is None:
            return None
        first, second = self.resampled
        if self.exchanged is None:
            return seeds_outcome(self.baseline, self.candidate, first, second, level)
        return examples_outcome(
            second.mean(axis=1) - first.mean(axis=1),
            self.exchanged[1],
            self.exchanged[0],
            self.examples,
            level,
            rare=self.rare,
        )

    def effect(self, kind: Kind, name: str, language: str | None, level: float) -> Effect:
        """Return what a reader learns of it."""
        effect = Effect(
            kind,
            name,
            language,
            float(self.baseline.mean()),
            float(self.candidate.mean()),
            examples=self.examples,
            chance=self.chance,
        )
        outcome = self.outcome(level)
        if outcome is None:
            return effect
        return replace(effect, low=outcome.low, high=outcome.high, p_value=outcome.p_value)


def compare_tasks(
    tasks: Sequence[TaskPair],
    categories: Mapping[str, Sequence[str]],
    overall: Sequence[str],
    resampling: Resampling,
) -> tuple[Effect, ...]:
    """Compare two results task by task, language by language.

    Args:
        tasks: The tasks that both have.
        categories: Tasks of each category; a task that is not among ``tasks`` makes the category a hole.
        overall: Tasks of the overall average, likewise; none where there is no such average.
        resampling: How intervals and p-values are made.

    Returns:
        Overall, categories, tasks, then languages.
    """
    level = resampling.level
    languages: list[Effect] = []
    averages: dict[str, _Draws | None] = {}
    for task in tasks:
        draws = _of_languages(task, resampling)
        for code in task.languages:
            found = draws.get(code)
            if found is None:
                languages.append(Effect("language", task.name, code, None, None))
            else:
                languages.append(found.effect("language", task.name, code, level))
        averages[task.name] = _mean([draws.get(code) for code in task.languages])
    effects = [
        _average("category", name, [averages.get(task) for task in members], level)
        for name, members in categories.items()
    ]
    if overall:
        whole = _average("overall", "overall", [averages.get(task) for task in overall], level)
        effects.insert(0, whole)
    effects += [_average("task", name, [draws], level) for name, draws in averages.items()]
    return _corrected([*effects, *languages])


def _of_languages(task: TaskPair, resampling: Resampling) -> dict[str, _Draws]:
    if not task.groups:
        return {
            code: _Draws(task.baseline[code], task.candidate[code], None, None, 0)
            for code in task.baseline
        }
    found: dict[str, _Draws] = {}
    for group in task.groups:
        names = (task.name, *group.languages)
        first, second = bootstrap(
            group, resampling.resamples, generator(resampling.seed, "bootstrap", *names)
        )
        exchanged = None
        if min(first.shape[2], second.shape[2]) == 1:
            exchanged = exchange(
                group, resampling.resamples, generator(resampling.seed, "exchange", *names)
            )
        for place, code in enumerate(group.languages):
            found[code] = _Draws(
                task.baseline[code],
                task.candidate[code],
                (first[:, place], second[:, place]),
                None if exchanged is None else (float(exchanged[0][place]), exchanged[1][:, place]),
                group.examples_of(code),
                group.rare(code),
            )
    return found


def _average(kind: Kind, name: str, parts: Sequence[_Draws | None], level: float) -> Effect:
    draws = _mean(parts)
    if draws is None:
        return Effect(kind, name, None, None, None)
    return draws.effect(kind, name, None, level)


def _mean(parts: Sequence[_Draws | None]) -> _Draws | None:
    """Average figures seed by seed and draw by draw; a hole makes the average one.

    What has one seed (a task without fine-tuning) stands for all seeds.
    """
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    resampled = None
    pairs = [part.resampled for part in known if part.resampled is not None]
    if len(pairs) == len(known):
        resampled = (
            _mean_over_seeds([first for first, _ in pairs]),
            _mean_over_seeds([second for _, second in pairs]),
        )
    exchanges = [part.exchanged for part in known if part.exchanged is not None]
    exchanged = None
    if len(exchanges) == len(known):
        exchanged = (
            float(np.mean([difference for difference, _ in exchanges])),
            _mean_over_seeds([draws for _, draws in exchanges]),
        )
    return _Draws(
        _mean_over_seeds([part.baseline for part in known]),
        _mean_over_seeds([part.candidate for part in known]),
        resampled,
        exchanged,
        min(part.examples for part in known),
        any(part.rare for part in known),
    )


def _mean_over_seeds(arrays: Sequence[FloatArray]) -> FloatArray:
    """Return the mean of arrays whose last axis, seeds, is of one length or 1."""
    total: FloatArray = arrays[0] / len(arrays)
    for array in arrays[1:]:
        total = total + array / len(arrays)
    return total


def _corrected(effects: Sequence[Effect]) -> tuple[Effect, ...]:
    """Fill in the p-values corrected within each family."""
    corrected = list(effects)
    for kinds in FAMILIES.values():
        places = [
            place
            for place, effect in enumerate(effects)
            if effect.kind in kinds and effect.p_value is not None
        ]
        values = holm([effects[place].p_value or 0.0 for place in places])
        for place, value in zip(places, values, strict=True):
            corrected[place] = replace(effects[place], p_holm=value)
    return tuple(corrected)
