"""Show by simulation how often the comparison raises an alarm where there is no difference.

    python scripts/simulate_false_alarms.py [--simulations 2000] [--resamples 1000] [--seed 1] [--only accuracy]

Both sides are made by the same process (or, in the rows "own examples", by processes that are good at different
examples but equally good on the whole), so that every significant difference is a false alarm. A row is one kind of
figure and one design; it gives the share of p-values of at most 5 % with the standard error of the simulation, and how
often the 95 % interval holds the true difference, 0. The last column is the share of alarms if seeds and examples were
both drawn with replacement and draws beyond the difference counted.

In the last row spans are rarely right, and one side predicts much more than the other, with the same expected F1; there
the rate must not be above 5 %, but may be below. The exit code is 1 if a rate lies more than three standard errors from
where it should be.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from xharness.comparison.comparing import Resampling, TaskPair, compare_tasks
from xharness.comparison.effects import Effect
from xharness.comparison.pairing import PairedExamples
from xharness.comparison.resampling import bootstrap
from xharness.scoring.examples import FloatArray

#: Makes the ratios of examples from each one's chance of being right. (examples, languages, seeds) to
#: (examples, languages, seeds, figures, 2)
Examples = Callable[[np.random.Generator, FloatArray], FloatArray]


def accuracy(random: np.random.Generator, chances: FloatArray) -> FloatArray:
    """Right or wrong."""
    right = (random.random(chances.shape) < chances).astype(float)
    return np.stack([right, np.ones_like(right)], axis=-1)[..., None, :]


def span_f1(random: np.random.Generator, chances: FloatArray) -> FloatArray:
    """Sentences of none to several gold spans, found or not, and spurious ones."""
    gold = random.poisson(1.5, size=(len(chances), chances.shape[1], 1))
    correct = random.binomial(gold, chances)
    spurious = random.poisson(0.6 * (1 - chances))
    predicted = correct + random.binomial(gold - correct, 0.5) + spurious
    return np.stack([2.0 * correct, predicted + gold + 0.0], axis=-1)[..., None, :]


def answers(random: np.random.Generator, chances: FloatArray) -> FloatArray:
    """Exact match and token F1: all right, partly right, or wrong."""
    exact = random.random(chances.shape) < chances
    partly = random.choice([0.0, 0.0, 0.4, 0.5, 2 / 3, 0.8], size=chances.shape)
    values = np.stack([exact.astype(float), np.where(exact, 1.0, partly)], axis=-1)
    return np.stack([values, np.ones_like(values)], axis=-1)


@dataclass(frozen=True)
class Design:
    """A simulated comparison.

    Attributes:
        name: What the row is called.
        seeds: Seeds of baseline and candidate.
        examples: Number of examples.
        languages: Number of languages, parallel to each other.
        seed_spread: Standard deviation of a seed's ability, on the logit scale.
        own_spread: Standard deviation of what a side is good or bad at, by example.
    """

    name: str
    seeds: tuple[int, int] = (1, 1)
    examples: int = 400
    languages: int = 1
    seed_spread: float = 0.0
    own_spread: float = 0.0


DESIGNS = (
    Design("1 seed"),
    Design("1 seed, 60 examples", examples=60),
    Design("1 seed, own examples", own_spread=1.0),
    Design("1 seed, mean of 5 languages", languages=5),
    Design("3 seeds on one side", seeds=(3, 1)),
    Design("3 seeds, no spread", seeds=(3, 3)),
    Design("3 seeds, little spread", seeds=(3, 3), seed_spread=0.05),
    Design("3 seeds, wide spread", seeds=(3, 3), seed_spread=0.4),
    Design("2 seeds, some spread", seeds=(2, 2), seed_spread=0.1),
    Design("5 seeds, own examples", seeds=(5, 5), seed_spread=0.1, own_spread=1.0),
    Design("3 seeds, mean of 5 languages", seeds=(3, 3), languages=5, seed_spread=0.1),
)
KINDS: dict[str, Examples] = {"accuracy": accuracy, "span F1": span_f1, "QA": answers}


def simulated(random: np.random.Generator, design: Design, examples: Examples) -> PairedExamples:
    """Make both sides of a comparison without a difference."""
    # An example is about as hard in every language.
    difficulty = random.normal(0, 1, size=(design.examples, 1, 1))
    difficulty = difficulty + random.normal(0, 0.5, size=(design.examples, design.languages, 1))
    sides = []
    for seeds in design.seeds:
        own = random.normal(0, design.own_spread, size=(design.examples, 1, 1))
        ability = random.normal(0, design.seed_spread, size=seeds)
        chances = 1 / (1 + np.exp(-(1 + difficulty + own + ability)))
        sides.append(chances)
    if examples is not span_f1:
        return PairedExamples(_codes(design), *(examples(random, chances) for chances in sides))
    # Gold spans belong to the sentence, so both sides are made in one go.
    both = span_f1(random, np.concatenate(sides, axis=2))
    return PairedExamples(
        _codes(design), both[:, :, : design.seeds[0]], both[:, :, design.seeds[0] :]
    )


def rare_spans(random: np.random.Generator) -> PairedExamples:
    """Make sides of equal expected F1 with few right spans, the candidate predicting much more."""
    gold = random.poisson(1.5, size=400)
    right, spurious = 0.005, (0.2, 1.0)
    f1 = 2 * right / (right + spurious[0] + 1.5)
    sides = []
    for extra in spurious:
        correct = random.binomial(gold, f1 * (extra + 1.5) / (2 - f1) / 1.5)
        predicted = correct + random.poisson(extra, size=len(gold))
        ratios = np.stack([2.0 * correct, predicted + gold + 0.0], axis=-1)
        sides.append(ratios[:, None, None, None, :])
    return PairedExamples(("l0",), *sides)


def _codes(design: Design) -> tuple[str, ...]:
    return tuple(f"l{number}" for number in range(design.languages))


def drawn_p(paired: PairedExamples, resamples: int, random: np.random.Generator) -> float:
    """Return the p-value by drawing seeds and examples with replacement, of the mean over languages."""
    sides = []
    for figures in bootstrap(paired, resamples, random):
        by_seed = figures.mean(axis=1)
        seeds = by_seed.shape[1]
        chosen = random.integers(0, seeds, size=(resamples, seeds))
        sides.append(np.take_along_axis(by_seed, chosen, axis=1).mean(axis=1))
    draws = sides[1] - sides[0]
    centre = draws.mean()
    return float((np.abs(draws - centre) >= abs(centre)).mean())


def result(paired: PairedExamples, resamples: int, seed: int) -> Effect:
    """Return the effect on the task's average."""
    task = TaskPair.of_examples("task", paired.languages, [paired])
    effects = compare_tasks([task], {}, (), Resampling(resamples=resamples, seed=seed))
    return next(effect for effect in effects if effect.kind == "task")


@dataclass(frozen=True)
class Rate:
    """How a design came out.

    Attributes:
        alarms: Share of p-values of at most 0.05.
        covered: Share of 95 % intervals that hold 0.
        drawn: Share of p-values of at most 0.05 where seeds and examples are drawn; None where not asked for.
        simulations: Number of simulations.
    """

    alarms: float
    covered: float
    drawn: float | None
    simulations: int

    @property
    def error(self) -> float:
        """Return the standard error of a rate of 5 %."""
        return float(np.sqrt(0.05 * 0.95 / self.simulations))


def simulate(
    make: Callable[[np.random.Generator], PairedExamples],
    simulations: int,
    resamples: int,
    *,
    drawn: bool = False,
    seed: int = 1,
) -> Rate:
    """Simulate comparisons that ``make`` makes."""
    random = np.random.default_rng(seed)
    alarms = covered = drawn_alarms = 0
    for number in range(simulations):
        paired = make(random)
        effect = result(paired, resamples, number)
        assert effect.p_value is not None
        assert effect.low is not None
        assert effect.high is not None
        alarms += effect.p_value <= 0.05
        covered += effect.low <= 0 <= effect.high
        drawn_alarms += drawn and drawn_p(paired, resamples, random) <= 0.05
    return Rate(
        alarms / simulations,
        covered / simulations,
        drawn_alarms / simulations if drawn else None,
        simulations,
    )


def main() -> int:
    """Simulate every kind and design, and print the rates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="accuracy, span F1 or QA")
    options = parser.parse_args()
    far = 0
    print(f"{'kind':<10}{'design':<30}{'alarms %':>14}{'interval %':>12}{'both drawn %':>14}")
    for kind, examples in KINDS.items():
        if options.only not in (None, kind):
            continue
        for design in DESIGNS:
            make = partial(simulated, design=design, examples=examples)
            several = min(design.seeds) > 1
            rate = simulate(
                make, options.simulations, options.resamples, drawn=several, seed=options.seed
            )
            off = abs(rate.alarms - 0.05) > 3 * rate.error
            far += off
            show(kind, design.name, rate, off)
    if options.only in (None, "span F1"):
        rate = simulate(rare_spans, options.simulations, options.resamples, seed=options.seed)
        off = rate.alarms > 0.05 + 3 * rate.error
        far += off
        show("span F1", "1 seed, rarely right", rate, off)
    return 1 if far else 0


def show(kind: str, design: str, rate: Rate, off: bool) -> None:
    """Print a row."""
    drawn = "" if rate.drawn is None else f"{100 * rate.drawn:.2f}"
    print(
        f"{kind:<10}{design:<30}{100 * rate.alarms:>6.2f} ± {100 * rate.error:.2f}"
        f"{100 * rate.covered:>12.2f}{drawn:>14}{'   off' if off else ''}",
        flush=True,
    )


if __name__ == "__main__":
    raise SystemExit(main())
