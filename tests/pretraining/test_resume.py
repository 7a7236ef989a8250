"""Killed at any moment and run again, a pre-training ends as if nothing had happened."""

from __future__ import annotations

import random
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.pretraining.tiny_run import (
    COUPLED,
    NO_DROPOUT,
    Fault,
    Material,
    TinyRun,
    assert_same_run,
    material,
)
from xharness.pretraining.corpus import CorpusFiles
from xharness.pretraining.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def given(corpus: dict[str, CorpusFiles], vocabulary: Vocabulary) -> Material:
    return material(corpus, vocabulary)


def run_with_kills(run: TinyRun, most: int, seed: int, straight: float, processes: int = 1) -> int:
    """Run to the end, killed at file operations in its folder or after some time; return how often."""
    draw = random.Random(seed)
    for number in range(most):
        moment: dict[str, Any] = {"faults": (Fault("output/", draw.randint(1, 50)),)}
        if number % 3 == 2:
            moment = {"kill_after": straight * draw.uniform(0.2, 0.8)}
        ended = run.pretrain(processes=processes, **moment)
        assert all(one.code in (0, 2, -signal.SIGKILL) for one in ended), ended
        if ended[0].code == 0:
            return number
    run.finish(processes=processes)
    return most


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="decoupled, dropout, micro-batches, whole words"),
        pytest.param(
            {"encoder": COUPLED, "checkpoint_every": 1, "micro_batch_size": None}, id="coupled"
        ),
    ],
)
def test_killed_runs_end_alike(tmp_path: Path, given: Material, changes: Mapping[str, Any]) -> None:
    straight = TinyRun(tmp_path / "straight", given, dict(changes))
    killed = TinyRun(tmp_path / "killed", given, dict(changes))
    assert run_with_kills(killed, 8, 1, straight.finish()) >= 3
    assert_same_run(straight, killed)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"encoder": NO_DROPOUT, "masking": {"whole_words": False}},
        {"encoder": COUPLED, "micro_batch_size": 1},
        {"encoder": {"freeze_input_embedding": True}, "checkpoint_every": 1},
        {"encoder": {"input_kind": "define", "input_factor_size": 8, "define_expansion_size": 32}},
        {"encoder": {"extra_layers": 2}, "checkpoint_every": 5, "evaluate_every": 1},
    ],
    ids=["plain", "no dropout", "coupled", "frozen", "define", "extra layers"],
)
def test_killed_often(
    tmp_path: Path, given: Material, changes: Mapping[str, Any], processes: int
) -> None:
    straight = TinyRun(tmp_path / "straight", given, dict(changes))
    seconds = straight.finish(processes=processes)
    for seed in range(2):
        killed = TinyRun(tmp_path / f"killed-{seed}", given, dict(changes))
        assert run_with_kills(killed, 20, seed, seconds, processes) >= 3
        assert_same_run(straight, killed)


@pytest.mark.slow
def test_killed_at_every_file_operation(tmp_path: Path, given: Material) -> None:
    """Each operation on the run's folder in turn, until one run has fewer."""
    straight = TinyRun(tmp_path / "straight", given, {"steps": 4, "checkpoint_every": 1})
    straight.finish()
    event = 1
    while True:
        killed = TinyRun(tmp_path / f"killed-{event}", given, straight.changes)
        if killed.pretrain(faults=(Fault("output/", event),))[0].code == 0:
            break
        killed.finish()
        assert_same_run(straight, killed)
        event += 1
    assert event > 50
