"""Fine-tuning our way, as the official scripts do it, and by transformers' Trainer: the same start, data, numbers.

    python scripts/bench_finetuning.py --model DIR --data DIR [--examples N] [--epochs N] [--seeds 1,2] [--tasks T]

The ways run in turn, each in a process of its own, once a seed, on POS, XNLI and SQuAD; ``--examples`` counts training
examples, questions a quarter of that. Every way takes steps of the recipe's 32 windows: ours and the
Trainer at once or in micro-batches, the official way in eights (questions in fours). The official way is timed on a
quarter of the examples. A whole task is everything from examples in memory to the last step, tokenising too; examples a
second are those of the steps. The share of the peak counts three times the arithmetic that encoding needs, against
torch's product of large matrices.

What may be chosen freely and what may not: a step's windows and their number are the recipe's, and every example is
seen once an epoch in an order that the seed decides. ``score`` shows that ours come to what the Trainer comes to on
English, once there are examples enough to learn something from. ``--sample`` shows it in a minute or two a seed: the
tasks, checkpoint, data and recipe that come with xharness, on all their examples. ``--ways ours-grouped`` adds the
recipes' setting ``group_by_length``, which gives a step windows of like length and is another protocol; ``-masked``
after a Trainer's way leaves padding out of the softmax over an answer's positions, as ours does.

At the end the time from ``xharness run`` to the first optimizer step is taken, with the encodings cached.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from speed.materials import SAMPLE_TASKS, TASKS
from speed.measuring import Row, in_own_process, seconds
from speed.reporting import merged, told
from tabulate import tabulate

from xharness.errors import InputError
from xharness.sample import CHECKPOINT, DATA

WAYS = ("ours", "official", "common-32")
MORE_WAYS = ("ours-grouped", "common-8", "common-8-masked", "common-32-masked")

#: What is to be reached on two cores, as a multiple of the way's examples a second.
TARGETS = {"official": 2.5, "common-32": 1.3}

#: Seconds within which a run should take its first step.
FIRST_STEP = 15.0


def main() -> None:
    """Run the ways in turn and print their figures and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path, help="checkpoint folder")
    parser.add_argument("--data", type=Path, help="data in the official layout")
    parser.add_argument("--sample", action="store_true", help="compare scores on the sample")
    parser.add_argument("--examples", type=int, default=640, help="training examples (640)")
    parser.add_argument("--seeds", default="1,2", help="one round each (1,2)")
    parser.add_argument("--epochs", type=int, help="times each example is seen (1)")
    parser.add_argument("--scored", type=int, default=400, help="test examples for scores (400)")
    parser.add_argument("--learning-rate", type=float, help="in place of the recipe's")
    parser.add_argument("--tasks", default=",".join(TASKS), help="separated by commas")
    parser.add_argument("--ways", help=f"separated by commas ({','.join(WAYS)})")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path, help="file for all figures")
    parser.add_argument("--way", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--first-step", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.sample:
        _take_the_sample(arguments)
    if arguments.model is None or arguments.data is None:
        parser.error("give --model and --data, or --sample")
    if arguments.first_step:
        _run_to_first_step(arguments.first_step)
    elif arguments.way:
        print(json.dumps(_rows_of(arguments)))
    else:
        _compare(arguments)


def _take_the_sample(arguments: argparse.Namespace) -> None:
    arguments.model, arguments.data = CHECKPOINT, DATA
    arguments.tasks = ",".join(SAMPLE_TASKS)
    arguments.ways = arguments.ways or "ours,common-32,common-32-masked"
    # As many as there are.
    arguments.examples = arguments.scored = 1_000_000


def _compare(arguments: argparse.Namespace) -> None:
    tasks = arguments.tasks.split(",")
    ways = arguments.ways.split(",") if arguments.ways else list(WAYS)
    if unknown := {*tasks} - {*TASKS, *SAMPLE_TASKS} | {*ways} - {*WAYS, *MORE_WAYS}:
        sys.exit(f"bench_finetuning: unknown {', '.join(sorted(unknown))}")
    found: dict[str, list[Row]] = {way: [] for way in ways}
    common = ["--model", str(arguments.model), "--data", str(arguments.data)]
    common += ["--examples", str(arguments.examples), "--tasks", arguments.tasks]
    common += ["--scored", str(arguments.scored)]
    if arguments.epochs is not None:
        common += ["--epochs", str(arguments.epochs)]
    if arguments.learning_rate is not None:
        common += ["--learning-rate", str(arguments.learning_rate)]
    for seed in arguments.seeds.split(","):
        for way in ways:
            own = [*common, "--way", way, "--seed", seed]
            found[way] += in_own_process(__file__, own, arguments.threads)
    rows = merged(found, tasks)
    _print_rows(rows, tasks)
    ratios = _ratios(rows, tasks) if "ours" in ways and not arguments.sample else {}
    scores = _scores(found, tasks)
    first = None
    if not arguments.sample:
        first = _seconds_to_first_step(arguments)
        print(
            f"from xharness run to the first step, encodings cached: {first:.1f} s "
            f"(wanted {FIRST_STEP:.0f})"
        )
    if arguments.json:
        result = {
            "rows": rows,
            "runs": found,
            "ratios": ratios,
            "scores": scores,
            "first_step_seconds": first,
        }
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _print_rows(rows: list[Row], tasks: list[str]) -> None:
    table = [
        [
            row["task"],
            row["way"],
            int(row["examples"]),
            f"{row['examples'] / row['step_seconds']:.1f}",
            f"{row['whole_seconds']:.1f}",
            f"{row['whole_seconds'] - row['step_seconds']:.1f}",
            f"{row['peak_mib']:.0f}",
            f"{row['flops'] / row['step_seconds'] / 1e9:.0f}",
            f"{100 * row['flops'] / row['step_seconds'] / row['product']:.0f} %",
        ]
        for task in tasks
        for row in rows
        if row["task"] == task
    ]
    header = ["task", "way", "examples", "examples/s", "whole task s", "of it before and after"]
    header += ["peak MiB", "GFLOP/s", "of peak"]
    print(tabulate(table, header, disable_numparse=True))


def _ratios(rows: list[Row], tasks: list[str]) -> dict[str, dict[str, float]]:
    speed = {(r["way"], r["task"]): r["examples"] / r["step_seconds"] for r in rows}
    ratios = {}
    for way, wanted in TARGETS.items():
        if (way, tasks[0]) not in speed:
            continue
        by_task = {task: speed["ours", task] / speed[way, task] for task in tasks}
        ratios[way] = told(f"examples a second: times the {way} way", by_task, wanted)
    return ratios


def _scores(found: dict[str, list[Row]], tasks: list[str]) -> dict[str, dict[str, list[float]]]:
    """Print and return the scores of the two ways that trained on all examples, a value a seed."""
    scores: dict[str, dict[str, list[float]]] = {}
    for task in tasks:
        scores[task] = {
            way: [row["score"] for row in runs if row["task"] == task]
            for way, runs in found.items()
            if way != "official"
        }
        cells = "; ".join(
            f"{way} {', '.join(f'{score:.1f}' for score in values)}"
            for way, values in scores[task].items()
        )
        print(f"{task}, score in English by seed, percent: {cells}")
        _tell_differences(scores[task])
    return scores


def _tell_differences(scores: dict[str, list[float]]) -> None:
    """Print how far the other ways' means are from ours, beside how far seeds of one way lie apart."""
    ours = scores.get("ours", [])
    for way, values in scores.items():
        if way != "ours" and len(ours) > 1:
            apart = statistics.mean(values) - statistics.mean(ours)
            spread = [statistics.stdev(each) for each in (ours, values)]
            print(
                f"  {way} less ours: {apart:+.1f}; standard deviation of the seeds: ours {spread[0]:.1f}, "
                f"{way} {spread[1]:.1f}"
            )


def _seconds_to_first_step(arguments: argparse.Namespace) -> float:
    """Start a run on the whole POS training set twice and return how long the second takes to its first step."""
    with tempfile.TemporaryDirectory() as folder:
        for turn in ("first", "second"):
            run = ["run", "--model", str(arguments.model), "--task", "udpos", "--device", "cpu"]
            run += ["--data", str(arguments.data), "--recipe", "short"]
            run += ["--output", f"{folder}/{turn}"]
            unused = ["--model", "-", "--data", "-"]
            command = [sys.executable, __file__, *unused, "--first-step", *run]
            began = time.time()
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                env={**os.environ, "XHARNESS_CACHE": f"{folder}/cache"},
            )
            if done.returncode:
                sys.exit(f"{' '.join(run)} did not come to its first step:\n{done.stderr}")
    return float(done.stdout.splitlines()[-1]) - began


def _run_to_first_step(arguments: list[str]) -> None:
    """Run xharness up to its first optimizer step, print the time of day and end."""
    from torch.optim.optimizer import register_optimizer_step_post_hook

    from xharness.cli import main as xharness

    def end(*_: Any) -> None:
        sys.stdout.write(f"\n{time.time()}\n")
        sys.stdout.flush()
        os._exit(0)

    register_optimizer_step_post_hook(end)
    sys.argv = ["xharness", *arguments]
    xharness()
    sys.exit(1)


# -- in a process of its own --------------------------------------------------------------------------------


def _rows_of(arguments: argparse.Namespace) -> list[Row]:
    import torch

    torch.set_num_threads(arguments.threads)
    return [_measured(arguments, task) for task in arguments.tasks.split(",")]


def _measured(arguments: argparse.Namespace, task: str) -> Row:
    from speed.materials import material, needed_flops
    from speed.measuring import Peak, highest, products
    from speed.opening import open_way

    from xharness.models.checkpoints import save_checkpoint

    official = arguments.way == "official"
    count = max(arguments.examples // (4 if official else 1), 32)
    found = material(task, arguments.data, arguments.scored, count, ("en",))
    chosen: dict[str, Any] = {}
    if arguments.epochs is not None:
        chosen["epochs"] = arguments.epochs
    if arguments.learning_rate is not None:
        chosen["learning_rate"] = arguments.learning_rate
    if arguments.way == "ours-grouped":
        chosen["group_by_length"] = True
    found = replace(found, settings=found.settings.model_copy(update=chosen))
    checkpoint = str(arguments.model)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rates = [products()]
        peak = Peak()
        way = open_way(arguments.way, checkpoint, found, folder, arguments.seed)
        began = seconds()
        ends = way.train(found.train, arguments.seed)
        whole = seconds() - began
        most = peak.mib()
        rates.append(products())
        tuned = folder / "finetuned"
        if arguments.way.startswith("common"):
            save_checkpoint(way.model, way.tokenizer, tuned)
        score = 0.0 if official else _score(tuned, found, folder)
    return {
        "task": task,
        "examples": found.settings.epochs * len(found.train),
        "step_seconds": ends[-1] - ends[0],
        "whole_seconds": whole,
        "peak_mib": most,
        **highest(rates),
        "flops": 3 * found.settings.epochs * needed_flops(checkpoint, found, [found.train]),
        "score": score,
    }


def _score(checkpoint: Path, found: Any, folder: Path) -> float:
    """Return a fine-tuned checkpoint's score on the English test examples, in percent, ours doing the prediction."""
    from speed.our_way import OurWay

    from xharness.finetuning.dev_score import dev_score
    from xharness.tasks.predictions import Predictions

    way = OurWay(str(checkpoint), found, folder / "scoring")
    split = found.splits[0]
    return dev_score(found.task, split, Predictions(way.predict(split)))


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(f"bench_finetuning: {error}")
