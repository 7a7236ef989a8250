"""The command line that the studies share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import torch

from xharness.errors import InputError
from xharness.inference.allocator import keep_freed_memory
from xharness.language_modelling.study import Measure, Runner, Study


@dataclass(frozen=True)
class Steps:
    """What a study does of its own.

    Attributes:
        measure: Further figures of a trained model.
        write_report: Writes the page of what is finished.
        compare: Figures of several runs with one seed; called after each run.
    """

    measure: Measure
    write_report: Callable[[Study], None]
    compare: Callable[[Study, int], None] | None = None


def study_parser(description: str) -> argparse.ArgumentParser:
    """Return the parser of a study's options."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, help="folder of LANGUAGE.txt and LANGUAGE.dev.txt")
    parser.add_argument("--language", default="en")
    parser.add_argument("--seeds", default="1,2", help="separated by commas")
    parser.add_argument("--only", help="names of configurations, separated by commas")
    parser.add_argument("--output", type=Path, help="folder of results; the page is beside it")
    parser.add_argument("--work", type=Path, help="folder of checkpoints")
    parser.add_argument("--report", action="store_true", help="only write the page")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    return parser


def located(study: Study, arguments: argparse.Namespace) -> Study:
    """Return the study in the folders that the options name."""
    return replace(
        study,
        results=arguments.output or study.results,
        work=arguments.work or study.work,
    )


def run_study(study: Study, arguments: argparse.Namespace, steps: Steps) -> None:
    """Do what is missing, all names with the first seed before the next; the page is written after each run.

    Raises:
        InputError: An option, the text or a result cannot be used.
    """
    names, seeds = _names(study, arguments.only), _seeds(arguments.seeds)
    if not arguments.report:
        runner = _runner(study, arguments)
        for seed, name in product(seeds, names):
            trained = runner.run(name, seed, steps.measure)
            if steps.compare is not None:
                steps.compare(study, seed)
            if trained:
                steps.write_report(study)
    steps.write_report(study)


def exit_with(main: Callable[[], None]) -> None:
    """Run a command; an ``InputError`` is one line on stderr and exit code 2."""
    try:
        main()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


def _runner(study: Study, arguments: argparse.Namespace) -> Runner:
    if arguments.data is None:
        raise InputError(
            "no text to train on",
            where="--data",
            mend="give a folder of en.txt and en.dev.txt, plain, .gz, .xz or .zst; --report writes the page alone",
        )
    if arguments.threads < 1:
        raise InputError(f"{arguments.threads} threads", where="--threads", mend="give 1 or more")
    torch.set_num_threads(arguments.threads)
    keep_freed_memory()
    try:
        device = torch.device(arguments.device)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).split("\n")[0]
        raise InputError(f"no device {arguments.device}: {reason}", where="--device") from error

    def report(line: str) -> None:
        print(line, flush=True)

    return Runner(study, arguments.data, arguments.language, device, report)


def _names(study: Study, only: str | None) -> Sequence[str]:
    if only is None:
        return study.names
    names = only.split(",")
    if unknown := [name for name in names if name not in study.names]:
        raise InputError(
            f"no configuration {', '.join(unknown)}",
            where="--only",
            mend=f"there are {', '.join(study.names)}",
        )
    return names


def _seeds(text: str) -> list[int]:
    try:
        seeds = [int(seed) for seed in text.split(",")]
    except ValueError:
        seeds = []
    if not seeds or min(seeds) < 0:
        raise InputError(
            f"{text!r} are no seeds", where="--seeds", mend="give numbers, for example 1,2"
        )
    return seeds
