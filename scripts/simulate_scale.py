"""Show how long full XTREME takes on 1 to 256 GPUs, by the scheduling that a run uses.

    python scripts/simulate_scale.py RUN... [--times times.yaml] [--models 10] [--seeds 5] [--gpus 1,2,4] [--faster 1]

Each RUN is the folder of a finished run on XTREME's tasks, limited or not: its records say how many seconds an example
takes in training and in prediction, and the official sizes make unit times of that. ``--times`` takes measured unit
times instead, in seconds, by model and then by training set or task without training:

    xlmr-large: {parameters: 560e6, xnli: 30000, pawsx: 3900, udpos: 4100, panx: 3700, squad: 9000, tydiqa: 800,
                 bucc2018: 2500, tatoeba: 120}

Fewer models than asked for are repeated. Units are started longest first by the plan's own estimate, which knows sizes
and settings and not these times. The bound is what no schedule can beat: the longest unit, or all work shared evenly.
The exit code is 1 where up to 64 GPUs the makespan is more than 5 % over the bound.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from tabulate import tabulate

from xharness.errors import InputError
from xharness.records.record import Record
from xharness.records.store import read_records
from xharness.runs.plan import TaskPlan, TestSet, Unit, unit_key
from xharness.runs.schedule import estimated_cost, list_schedule, longest_first
from xharness.specs.recipe import Recipe
from xharness.specs.registry import benchmark_of_suite, load
from xharness.specs.yaml_loading import load_document

#: Training examples of the official sets (Hu et al. 2020, Table 1).
TRAIN = {
    "xnli": 392_702,
    "pawsx": 49_401,
    "udpos": 21_253,
    "panx": 20_000,
    "squad": 87_599,
    "tydiqa": 3_696,
}

#: Test examples of all languages together. Table 1 has ranges for some, so POS and Tatoeba are rounded; BUCC counts
#: the sentences on the side that is not English.
TEST = {
    "xnli": 15 * 5_010,
    "pawsx": 7 * 2_000,
    "udpos": 100_000,
    "panx": 262_300,
    "xquad": 11 * 1_190,
    "mlqa": 42_245,
    "tydiqa": 5_077,
    "bucc2018": 1_250_000,
    "tatoeba": 33_000,
}

#: Up to here the schedule is to be within ``LIMIT`` of the bound.
LIMIT_GPUS = 64
LIMIT = 0.05


@dataclass(frozen=True)
class ModelTimes:
    """How long one model takes.

    Attributes:
        name: Its name.
        parameters: Its size, by which the estimates of different models compare.
        seconds: Seconds of each unit with one seed, by training set or task without training.
    """

    name: str
    parameters: float
    seconds: Mapping[str, float]


def full_plans(recipe: str) -> list[TaskPlan]:
    """Return the plans of XTREME's tasks at their official sizes."""
    benchmark = benchmark_of_suite("xtreme")
    settings = load(Recipe, recipe)
    return [
        TaskPlan(
            task=task,
            settings=settings.resolve(task),
            training_key=None if task.kind == "retrieval" else task.training,
            seeds=(0,),
            tests=(TestSet("all", TEST[task.name], TEST[task.name]),),
            train_examples=TRAIN.get(task.training or "", 0),
            train_fingerprint="",
        )
        for task in benchmark.tasks
    ]


def units_of(plans: Sequence[TaskPlan]) -> dict[str, Unit]:
    """Return the units of one seed by training set or task."""
    groups: dict[str, list[TaskPlan]] = {}
    for plan in plans:
        groups.setdefault(unit_key(plan), []).append(plan)
    return {key: Unit(tuple(group), 0) for key, group in groups.items()}


def measured(records: Sequence[Record], plans: Sequence[TaskPlan]) -> ModelTimes:
    """Scale a run's timings to the official sizes.

    Raises:
        InputError: A task has no record.
    """
    seconds: dict[str, float] = {}
    for plan in plans:
        found = [record for record in records if record.task == plan.task.name]
        if not found:
            raise InputError(f"no record of {plan.task.name}", mend="give a run of suite xtreme")
        record = found[0]
        key = unit_key(plan)
        predicted = sum(result.counts.get("examples", 0) for result in record.languages.values())
        if plan.task.method == "mining":
            predicted = sum(record.data.examples.values())
        seconds.setdefault(key, 0.0)
        seconds[key] += record.timings["predict_seconds"] * TEST[plan.task.name] / predicted
        trained = record.data.train_examples
        # Tasks that share a training all name its seconds.
        if trained and plan is next(p for p in plans if unit_key(p) == key):
            passes = trained * record.protocol.settings["epochs"]
            full = plan.train_examples * plan.settings.epochs
            seconds[key] += record.timings["finetune_seconds"] * full / passes
    model = records[0].model
    return ModelTimes(str(model["name"]), float(model["parameters"]), seconds)


def tabled(path: Path, keys: Sequence[str]) -> list[ModelTimes]:
    """Read a file of unit times.

    Raises:
        InputError: It does not read, or a model lacks a unit.
    """
    models = []
    document = load_document(path)
    for name, row in document.data.items():
        try:
            seconds = {key: float(row[key]) for key in keys}
            parameters = float(row.get("parameters", 1))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"no seconds for {error}", where=f"{path}, {name}", mend=f"give {', '.join(keys)}"
            ) from error
        models.append(ModelTimes(str(name), parameters, seconds))
    return models


@dataclass(frozen=True)
class Row:
    """One number of GPUs: hours from the begin to the end, and hours that no schedule can beat."""

    gpus: int
    makespan: float
    bound: float

    @property
    def over(self) -> float:
        """By which fraction the makespan is over the bound."""
        return self.makespan / self.bound - 1


def simulate(
    estimates: Mapping[str, float], seconds: Mapping[str, float], gpus: Sequence[int]
) -> list[Row]:
    """Schedule units on each number of GPUs.

    Args:
        estimates: What the plan thinks of each unit, which decides the order.
        seconds: How long each takes.
        gpus: Numbers of GPUs.
    """
    hours = {name: value / 3600 for name, value in seconds.items()}
    total, longest = sum(hours.values()), max(hours.values())
    order = longest_first(estimates)
    rows = []
    for count in gpus:
        queues = list_schedule(order, hours, count)
        makespan = max(sum(hours[name] for name in queue) for queue in queues)
        rows.append(Row(count, makespan, max(longest, total / count)))
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", nargs="*", type=Path, help="run folders")
    parser.add_argument("--times", type=Path, help="YAML or JSON file of unit times")
    parser.add_argument("--recipe", default="xtreme")
    parser.add_argument("--models", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--gpus", default="1,2,4,8,16,32,64,128,256")
    parser.add_argument("--faster", type=float, default=1.0, help="divide all times by this")
    parser.add_argument("--start", type=float, default=20.0, help="seconds to start a unit")
    options = parser.parse_args(arguments)
    plans = full_plans(options.recipe)
    units = units_of(plans)
    given = [measured(read_records([run]), plans) for run in options.runs]
    if options.times is not None:
        given += tabled(options.times, list(units))
    if not given:
        raise InputError("no times", mend="give run folders or --times")
    costs = {key: estimated_cost(unit) for key, unit in units.items()}
    estimates, seconds = {}, {}
    for number, model in enumerate(islice(cycle(given), options.models)):
        for key, unit in units.items():
            for seed in range(options.seeds if unit.trainings else 1):
                name = f"{model.name} {number} {key} {seed}"
                estimates[name] = costs[key] * model.parameters
                seconds[name] = model.seconds[key] / options.faster + options.start
    rows = simulate(estimates, seconds, [int(part) for part in options.gpus.split(",")])
    busy = sum(seconds.values()) / 3600
    print(
        f"{len(seconds)} units of {options.models} models and {options.seeds} seeds, {busy:.1f} GPU-hours; "
        f"the longest unit takes {max(seconds.values()) / 3600:.2f} hours\n"
    )
    header = ["GPUs", "hours", "bound", "over the bound", "GPU-hours held", "busy"]
    table = [
        [
            row.gpus,
            f"{row.makespan:.2f}",
            f"{row.bound:.2f}",
            f"{100 * row.over:.1f} %",
            f"{row.gpus * row.makespan:.1f}",
            f"{100 * busy / (row.gpus * row.makespan):.0f} %",
        ]
        for row in rows
    ]
    print(tabulate(table, header, "github", colalign=["right"] * 6, disable_numparse=True))
    return int(any(row.over > LIMIT for row in rows if row.gpus <= LIMIT_GPUS))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InputError as problem:
        print(f"simulate_scale: {problem}", file=sys.stderr)
        sys.exit(2)
