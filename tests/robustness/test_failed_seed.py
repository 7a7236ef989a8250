"""A seed whose training diverges fails alone: the other seeds go on, and it is no part of any average."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.robustness.commands import receipts
from tests.small_run import command
from xharness.finetuning import training
from xharness.models import transformers
from xharness.records.store import read_record


def diverge(monkeypatch: pytest.MonkeyPatch, seed: int) -> list[int]:
    """Let the training of one seed diverge; return the seeds that were trained."""
    train = training.train
    seeds: list[int] = []

    def trained(*arguments: Any) -> Any:
        seeds.append(arguments[3])
        if arguments[3] == seed:
            raise training.DivergenceError("the loss is nan at step 1 of 1", where=f"seed {seed}")
        return train(*arguments)

    monkeypatch.setattr(transformers, "train", trained)
    return seeds


def test_the_other_seeds_go_on_and_none_is_trained_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = command(tmp_path, suite=None, tasks=("sample_nli",), languages="en,de", seeds="1,2,3")
    seeds = diverge(monkeypatch, 2)
    run.execute()
    assert seeds == [1, 2, 3]
    table = (tmp_path / "leaderboard.md").read_text("utf-8")
    assert "seed 2 failed: the loss is nan at step 1 of 1" in table
    whole, failed = (
        read_record(tmp_path / f"records/sample_nli-seed-{seed}.json") for seed in (1, 2)
    )
    assert whole.languages["de"].status == "scored"
    assert failed.score is None
    assert set(failed.averages.values()) == {None}
    assert {failed.languages[code].status for code in ("en", "de")} == {"missing"}
    assert "failed" in str(failed.languages["de"].reason)
    assert failed.protocol.training == {"failed": "the loss is nan at step 1 of 1"}
    assert not list((tmp_path / "checkpoints").glob("*/*seed-2*"))
    before = receipts(tmp_path)
    run.execute()
    assert seeds == [1, 2, 3]
    assert receipts(tmp_path) == before
    assert read_record(tmp_path / "records/sample_nli-seed-2.json") == failed
