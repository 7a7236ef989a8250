"""``run --processes``: a unit whose fine-tuning is shared by several processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.small_run import command
from xharness.records.store import read_records


@pytest.mark.slow
def test_a_unit_trains_in_two_processes(tmp_path: Path) -> None:
    made = command(tmp_path, processes=2)
    assert made.execute() == 0
    assert "--processes 2" in made.line()
    records = read_records([tmp_path])
    assert records
    for record in records:
        trained = record.environment["processes"]
        assert trained == 2
    # The checkpoint is one process' as any other, and the same command finds all done.
    assert made.execute() == 0
