"""A record holds what makes it again: the command, the specification, the settings, the data and the software."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.small_run import command
from xharness import cli
from xharness.records.record import Record
from xharness.records.store import read_records
from xharness.runs.command import RunCommand
from xharness.runs.plan import spec_digest
from xharness.specs.recipe import Recipe
from xharness.specs.registry import benchmark_of_suite, load

#: What decides how fast a run is, kept among what was measured and not in the command.
MACHINE = {"device", "dtype", "tokens"}


@pytest.fixture
def nli(finished: Path) -> Record:
    (record,) = [r for r in read_records([finished]) if r.task == "sample_nli"]
    return record


def test_the_command_in_the_record_is_the_one_that_was_given(
    nli: Record, finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[RunCommand] = []
    monkeypatch.setattr(RunCommand, "execute", lambda self, dry_run=False: seen.append(self))
    program, *arguments = shlex.split(nli.command)
    assert program == "xharness"
    cli.app(arguments, standalone_mode=False)

    def options(run: RunCommand) -> dict[str, Any]:
        return {key: value for key, value in asdict(run).items() if key not in MACHINE}

    assert [options(run) for run in seen] == [options(command(finished))]


def test_specification_and_settings_are_those_of_the_record(nli: Record) -> None:
    task = benchmark_of_suite(nli.suite).task(nli.task)
    assert spec_digest(task) == nli.spec_sha256
    recipe = load(Recipe, nli.protocol.recipe)
    settings = recipe.resolve(task, {"epochs": 1})
    assert settings.model_dump(mode="json") == nli.protocol.settings


def test_everything_that_decides_a_score_is_named(nli: Record) -> None:
    assert len(nli.model["weights_sha256"]) == 64
    assert {"torch", "transformers", "tokenizers", "numpy", "xharness", "python"} <= set(
        nli.environment
    )
    assert {"device", "dtype", "threads"} <= set(nli.environment)
    assert nli.data.train_examples == 24
    assert nli.protocol.training is not None
    assert nli.protocol.training["effective_batch"] == nli.protocol.settings["batch_size"]
    assert nli.timings["finetune_seconds"] > 0


def test_dev_scores_that_tell_a_failed_training_are_kept(nli: Record) -> None:
    assert nli.protocol.training is not None
    scores = nli.protocol.training["dev_scores"]
    assert scores
    assert all(0 <= score <= 100 for _, score in scores)
    assert nli.protocol.training["chosen_step"] in [step for step, _ in scores]
