"""Dropping layers, then the harness's own run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.tiny_encoders import write_encoder
from tests.small_run import command
from xharness.analysis.layers_command import Depth, LayersCommand, layer_statements
from xharness.errors import InputError
from xharness.records.store import read_records


def tiny_run(tmp_path: Path, **changes: Any) -> LayersCommand:
    run = command(
        tmp_path / "run",
        model=str(write_encoder(tmp_path / "tiny")),
        suite=None,
        tasks=("sample_pos",),
        recipe="sample",
        data="sample",
        languages="de,en",
        limit=4,
        limit_train=16,
        seeds="1,2",
    )
    return LayersCommand(run, **changes)


def test_each_depth_is_a_run_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Scores in the JSON file are the records'; the tables of the runs do not mix into the output."""
    layers = tiny_run(tmp_path, drop=1, json_file=tmp_path / "o.json", figure=tmp_path / "o.svg")
    text = layers.execute()
    assert capsys.readouterr().out == ""
    content = json.loads((tmp_path / "o.json").read_text())
    assert [(d["layers"], d["dropped"]) for d in content["depths"]] == [(2, 0), (1, 1)]
    for depth in content["depths"]:
        records = read_records([tmp_path / "run" / f"drop-{depth['dropped']}"])
        languages = {r.seed: r.languages for r in records}
        assert set(languages) == {1, 2}
        assert all(r.model["layers"] == depth["layers"] for r in records)
        assert all(r.model["name"] == f"tiny, {depth['layers']} layers" for r in records)
        # The task has more languages than were run: the mean is over those two, and says so.
        of_seeds = [languages[seed] for seed in (1, 2)]
        both = [(found["de"].figures["f1"] + found["en"].figures["f1"]) / 2 for found in of_seeds]
        assert depth["scores"] == {"POS (de en)": pytest.approx(both)}
    assert "layers" in text
    assert (tmp_path / "o.svg").is_file()


def test_a_second_call_does_nothing_again(tmp_path: Path) -> None:
    layers = tiny_run(tmp_path, drop=1)
    layers.execute()
    trained = {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("training.json")}
    layers.execute()
    assert len(trained) == 4
    assert {path: path.stat().st_mtime_ns for path in trained} == trained


def test_too_few_layers_are_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="2 of 2 layers cannot be dropped"):
        tiny_run(tmp_path, drop=2).execute()
    assert not (tmp_path / "run").exists()
    layers = tiny_run(tmp_path)
    with pytest.raises(InputError, match="must be fine-tuned"):
        replace(layers, run=replace(layers.run, finetune=False)).execute()


def test_statements_of_section_6_2() -> None:
    """One layer less is better in each seed, two less are worse in each, three less differ between seeds."""
    scores = ((60.0, 61.0), (62.0, 63.0), (50.0, 51.0), (40.0, 70.0))
    depths = [Depth(12 - k, k, {"XNLI": values}) for k, values in enumerate(scores)]
    assert [s.verdict for s in layer_statements("bert", depths)] == [
        "seen",
        "seen",
        "not told apart",
    ]


def test_the_mean_over_tasks_is_each_seeds_own() -> None:
    assert Depth(1, 0, {"a": (1.0, 3.0), "b": (5.0, 5.0)}).means == (3.0, 4.0)
    assert Depth(1, 0, {"a": (1.0, 3.0), "b": ()}).means == ()
