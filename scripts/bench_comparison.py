"""Time the comparison of two results on all nine XTREME tasks at full size.

    python scripts/bench_comparison.py [--resamples 10000] [--seeds 1] [--scale 1.0]

makes example scores of the sizes of the official test sets, compares them, and prints for each task the number of
examples, then wall and CPU seconds and peak memory in all. Where the size of each language is not on
record (POS, NER, TyDiQA) it is spread over the range that is.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from numpy.typing import NDArray

from xharness.comparison.comparing import Resampling, TaskPair, compare_tasks
from xharness.comparison.pairing import LanguageScores, pair_examples
from xharness.scoring.examples import ExampleScores, FloatArray
from xharness.specs.registry import benchmark_of_suite
from xharness.specs.task import TaskSpec

MLQA = {"en": 11590, "es": 5254, "de": 4517, "ar": 5335, "hi": 4918, "vi": 5495, "zh": 5137}
TATOEBA = {"jv": 205, "sw": 390, "ta": 307, "te": 234, "th": 548, "kk": 575, "ml": 687, "ka": 746}
BUCC = {"de": 9580, "fr": 9086, "ru": 14330, "zh": 1896}


def sizes(task: TaskSpec, scale: float) -> dict[str, int]:
    """Return the number of test examples of each language."""
    codes = task.languages
    match task.name:
        case "udpos":
            found = dict(zip(codes, np.geomspace(47, 20436, len(codes)).astype(int), strict=True))
        case "panx":
            found = {code: 1000 if place % 3 == 0 else 10_000 for place, code in enumerate(codes)}
        case "tydiqa":
            found = dict(zip(codes, np.geomspace(323, 2719, len(codes)).astype(int), strict=True))
        case "mlqa":
            found = MLQA
        case "tatoeba":
            found = {code: TATOEBA.get(code, 1000) for code in codes}
        case "bucc2018":
            found = BUCC
        case _:
            found = dict.fromkeys(codes, {"xnli": 5010, "pawsx": 2000, "xquad": 1190}[task.name])
    return {code: max(20, int(found[code] * scale)) for code in codes}


def made_up(
    task: TaskSpec, language: str, size: int, seeds: int, random: np.random.Generator
) -> LanguageScores:
    """Make the example scores of one language on both sides, those of the candidate slightly worse."""
    ids = _ids(task, language, size)
    gold = random.poisson(8 if task.kind == "tagging" else 1, size=size) + 1
    sides = [
        tuple(ExampleScores(ids, _ratios(task, gold, chance, random)) for _ in range(seeds))
        for chance in (0.70, 0.69)
    ]
    return LanguageScores(*sides)


def _ids(task: TaskSpec, language: str, size: int) -> tuple[str, ...] | None:
    if task.name in ("xquad", "mlqa"):
        return tuple(f"q{number}" for number in range(size))
    if task.kind == "question_answering" or task.method == "mining":
        return tuple(f"{language}-{number}" for number in range(size))
    return None


def _ratios(
    task: TaskSpec, gold: NDArray[np.int64], chance: float, random: np.random.Generator
) -> dict[str, FloatArray]:
    size = len(gold)
    if task.metric in ("pos_f1", "entity_f1", "mined_pairs"):
        correct = random.binomial(gold, chance)
        predicted = correct + random.binomial(gold - correct, 0.8)
        return {"f1": np.stack([2.0 * correct, (predicted + gold).astype(float)], axis=1)}
    exact = random.random(size) < chance
    partly = np.where(exact, 1.0, random.random(size).round(2))
    values = {"accuracy": exact, "exact_match": exact, "f1": partly}
    return {
        name: np.stack([value.astype(float), np.ones(size)], axis=1)
        for name, value in values.items()
    }


def main() -> None:
    """Make the scores, compare them and print the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=1, help="seeds on both sides")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full size")
    options = parser.parse_args()
    random = np.random.default_rng(0)
    benchmark = benchmark_of_suite("xtreme")
    pairs = []
    for task in benchmark.tasks:
        seeds = 1 if task.kind == "retrieval" else options.seeds
        scores = {
            code: made_up(task, code, size, seeds, random)
            for code, size in sizes(task, options.scale).items()
        }
        groups = pair_examples(
            scores, task.score_figures("official"), sparse=task.method == "mining"
        )
        pairs.append(TaskPair.of_examples(task.name, task.languages, groups))
    resampling = Resampling(options.resamples)
    print(f"{'task':<10}{'languages':>10}{'examples':>10}")
    for pair in pairs:
        examples = sum(group.examples_of(code) for group in pair.groups for code in group.languages)
        print(f"{pair.name:<10}{len(pair.languages):>10}{examples:>10}")
    began, worked = time.perf_counter(), time.process_time()
    effects = compare_tasks(pairs, benchmark.categories, benchmark.overall, resampling)
    seconds = time.perf_counter() - began
    worked = time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"all {len(pairs)} tasks, {len(effects)} comparisons, {options.resamples} resamples: "
        f"{seconds:.1f} s (CPU {worked:.1f} s), peak {peak:.0f} MiB"
    )


if __name__ == "__main__":
    main()
