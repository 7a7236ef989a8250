"""SIGKILL at random moments: the rerun goes on where the run stopped, and ends in the same record."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.robustness.commands import Commands, leftovers, receipts, results, run_arguments
from tests.robustness.conftest import Undisturbed


@pytest.mark.parametrize("kills", [4, pytest.param(30, marks=pytest.mark.slow)])
def test_a_killed_run_ends_in_the_same_records_and_repeats_no_stage(
    kills: int, commands: Commands, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    expected, ended = results(undisturbed.folder), undisturbed.ended
    chance = random.Random(kills)
    done = 0
    while done < kills:
        output = tmp_path / f"after-{done}"
        finished: dict[str, tuple[int, bytes]] = {}
        while True:
            # Every other kill falls on a moment in time, for the work between two events on files.
            if done == kills:
                again = commands.one(run_arguments(output))
            elif done % 2:
                moment = chance.uniform(0.1, 1.0) * ended.seconds
                again = commands.one(run_arguments(output), kill_after=moment)
            else:
                event = chance.randint(1, ended.events)
                again = commands.one(run_arguments(output), below=(output,), at=event)
            now = receipts(output)
            assert {name: now[name] for name in finished} == finished
            if again.code == 0:
                break
            assert again.code == -9, again.output
            done += 1
            finished = now
        assert results(output) == expected
        assert set(receipts(output)) == set(receipts(undisturbed.folder))
        assert leftovers(output) == []


def test_a_run_is_killed_at_every_kind_of_moment(undisturbed: Undisturbed) -> None:
    """Each stage writes its files, then its receipt, so there are more events than receipts."""
    assert undisturbed.ended.events > 3 * len(receipts(undisturbed.folder)) > 0
