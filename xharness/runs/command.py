"""The ``run`` verb: from what the user typed to a finished run with its tables."""

from __future__ import annotations

import os
import shlex
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from tabulate import tabulate

from xharness.errors import InputError
from xharness.files import write_text
from xharness.leaderboards.rendering import markdown, terminal
from xharness.leaderboards.table import build_tables
from xharness.records.store import read_records
from xharness.runs.display import RunDisplay
from xharness.runs.execution import IN_PROCESS, Execution, carry_out
from xharness.runs.jobs import SAMPLE, Place
from xharness.runs.plan import Plan, RunOptions
from xharness.runs.planning import NO_DATA, NO_TRAINING_DATA, make_plan
from xharness.scoring.scores import check_profile
from xharness.specs.recipe import Recipe
from xharness.specs.registry import (
    Benchmark,
    benchmark_of_suite,
    benchmark_of_tasks,
    load,
    training_chain,
)
from xharness.specs.yaml_loading import parse_scalar


@dataclass(frozen=True)
class RunCommand:
    """The options of ``xharness run`` as typed; see ``xharness run --help``."""

    model: str
    output: Path
    suite: str | None
    tasks: tuple[str, ...]
    languages: str | None
    data: str | None
    recipe: str | None
    seeds: str
    limit: int | None
    limit_train: int | None
    overrides: tuple[str, ...]
    profile: str
    finetune: bool
    device: str
    dtype: str
    tokens: int | None
    processes: int = 1
    name: str | None = None
    execution: Execution = IN_PROCESS

    def execute(self, dry_run: bool = False) -> int:
        """Plan and run; print and write the tables.

        Returns:
            0, or 1 where a unit was given up and the others are kept.

        Raises:
            InputError: Wrong use or unusable input.
        """
        benchmark = self._benchmark()
        options = self._options(benchmark)
        place = self._place(benchmark)
        source = place.open_source()
        console = Console(stderr=True)
        _quiet_libraries()
        # Here begins torch; everything that can be refused without it was refused above.
        from xharness.inference.device import choose_device
        from xharness.models.adapter import open_model
        from xharness.runs.runner import Runner

        # A cluster's driver only looks at the model: what it runs on is chosen where it runs.
        there = self.execution.executor == "ray" and self.device in ("cuda", "mps")
        name = "cpu" if there else self.device
        device = choose_device(name, self.dtype, self.tokens, self.processes)
        model = open_model(place.reference, device)
        if not self.finetune:
            for task in benchmark.tasks:
                model.check_head(task)
        with console.status("reading the data") as status:
            plan = make_plan(
                benchmark,
                model.describe(),
                source,
                options,
                lambda name: status.update(f"reading {name}"),
            )
        info = plan.model
        if self.model == SAMPLE:  # where it is installed is no part of a record
            info = replace(info, name=SAMPLE, reference=SAMPLE)
        plan = replace(plan, model=replace(info, name=self.name or info.name))
        _print_plan(plan, console)
        if dry_run:
            return 0
        runner = Runner(plan, model, source, device, self.output)
        if self.execution.in_process:
            with RunDisplay(console, len(plan.stages())) as display:
                paths = runner.run(display)
        else:
            gathered = carry_out(plan, runner, place, self.execution, console)
            for line in gathered.lines():
                console.print(line, markup=False, highlight=False, soft_wrap=True)
            if gathered.failed or gathered.absent:
                return 1 if gathered.failed else 0
            paths = list(gathered.records)
        tables = build_tables(read_records(paths), benchmark)
        write_text(self.output / "leaderboard.md", markdown(tables))
        print(terminal(tables))
        console.print(f"tables: {self.output / 'leaderboard.md'}", markup=False, highlight=False)
        return 0

    def _benchmark(self) -> Benchmark:
        if (self.suite is None) == (not self.tasks):
            raise InputError("give either --suite or --task", mend="for example --suite xtreme")
        if self.suite is not None:
            return benchmark_of_suite(self.suite)
        return benchmark_of_tasks(self.tasks)

    def _options(self, benchmark: Benchmark) -> RunOptions:
        check_profile(self.profile)
        return RunOptions(
            recipe=load(Recipe, self.recipe or benchmark.recipe),
            overrides=_overrides(self.overrides, benchmark),
            seeds=_seeds(self.seeds),
            languages=_listed(self.languages),
            limit=self.limit,
            limit_train=self.limit_train,
            finetune=self.finetune,
            profile=self.profile,
            command=self.line(),
        )

    def _place(self, benchmark: Benchmark) -> Place:
        data = self.data or benchmark.data
        if data is None:
            raise InputError(
                f"no data given for {benchmark.name}",
                where="--data",
                mend="give the folder in the layout of XTREME's download, or --data hub",
            )
        return Place(
            model=self.model,
            data=data,
            device=self.device,
            dtype=self.dtype,
            tokens=self.tokens,
            output=str(self.output),
            store=self.execution.store,
            processes=self.processes,
        )

    def line(self) -> str:
        """Return the command line that makes this run again; how it was shared out is no part of it."""
        words = ["xharness", "run", "--model", self.model]
        if self.suite is not None:
            words += ["--suite", self.suite]
        for task in self.tasks:
            words += ["--task", task]
        named = {
            "--languages": self.languages,
            "--data": self.data,
            "--recipe": self.recipe,
            "--seeds": self.seeds,
            "--limit": self.limit,
            "--limit-train": self.limit_train,
            "--profile": self.profile,
            "--name": self.name,
            "--device": self.device,
            "--dtype": self.dtype,
            "--tokens": self.tokens,
        }
        for flag, value in named.items():
            if value is not None:
                words += [flag, str(value)]
        if self.processes > 1:
            words += ["--processes", str(self.processes)]
        for override in self.overrides:
            words += ["--set", override]
        if not self.finetune:
            words.append("--no-finetune")
        return shlex.join([*words, "--output", str(self.output)])


def _overrides(pairs: tuple[str, ...], benchmark: Benchmark) -> dict[str, Any]:
    values: dict[str, Any] = {}
    trained = [part for task in benchmark.tasks for part in training_chain(task)]
    scopes = {task.name for task in trained} | {task.training for task in trained if task.training}
    scopes |= {task.protocol.kind for task in benchmark.tasks if task.protocol.trains}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InputError(f"{pair!r} is not KEY=VALUE", where="--set")
        scope = key.rpartition(".")[0]
        if scope and scope not in scopes:
            raise InputError(
                f"{scope!r} is no task or training set of {benchmark.name}",
                where="--set",
                mend=f"one of {', '.join(sorted(scopes))}",
            )
        values[key] = parse_scalar(value)
    return values


def _seeds(text: str) -> tuple[int, ...]:
    try:
        seeds = tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(f"{text!r} is no list of whole numbers", where="--seeds") from error
    if len(set(seeds)) != len(seeds) or min(seeds) < 0:
        raise InputError(f"{text!r}: seeds must be distinct and not negative", where="--seeds")
    return seeds


def _listed(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(part.strip() for part in text.split(",") if part.strip())


def _print_plan(plan: Plan, console: Console) -> None:
    rows = []
    # A fine-tuning that comes before has a row of its own, without tests, before the first task that it serves.
    parts = {
        (p.training_key, p.task.name, p.language): p
        for task in plan.tasks
        for p in (*([task] if task.parts else ()), *task.trainings, *(task.parts or (task,)))
    }
    for part in parts.values():
        settings, trained = part.settings, part.train_examples and not part.parts
        tests = [test for test in part.tests if test.absent is None]
        holes = [t.language for t in part.tests if t.absent in (NO_DATA, NO_TRAINING_DATA)]
        steps = -(-part.train_examples // settings.batch_size) * settings.epochs
        protocol = part.task.protocol
        title = part.task.title if part.language is None else f"{part.task.title} {part.language}"
        if part.language is None and protocol.kind != "zero_shot":
            title += f" ({protocol.setting})"
        rows.append(
            [
                title,
                part.task.training or "-",
                part.train_examples or "-",
                max(1, round(steps)) if trained else "-",
                f"{settings.learning_rate:g}" if trained else "-",
                len(tests),
                sum(test.examples for test in tests),
                " ".join(holes) or "-",
            ]
        )
    header = ["task", "training set", "train", "steps", "rate", "languages", "test", "without data"]
    text = tabulate(rows, header, "simple", colalign=("left", "left", *["right"] * 5, "left"))
    model = plan.model
    console.print(
        f"{plan.benchmark.title}: {model.name} ({model.architecture}, "
        f"{model.parameters / 1e6:.1f} M parameters), seeds {', '.join(map(str, plan.options.seeds))}, "
        f"recipe {plan.options.recipe.name}\n\n{text}\n",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def _quiet_libraries() -> None:
    """Keep other libraries' progress bars and advice out of the run's own display."""
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    warnings.filterwarnings("ignore", module=r"torch\..*|transformers\..*")
