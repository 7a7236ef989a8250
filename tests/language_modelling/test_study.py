"""Studies end to end on a small text: run, resumed, reported, and refused where results do not belong together."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import pytest
import yaml

from tests.language_modelling.tiny_models import ADAPTIVE, VOCABULARY
from tests.language_modelling.tiny_text import write_corpus
from xharness.analysis.word_similarity import read_sets
from xharness.errors import InputError
from xharness.language_modelling import define_study, tying_study
from xharness.language_modelling.study import Study, read_results
from xharness.language_modelling.study_command import Steps, located, run_study, study_parser

_PAIRS = "cat dog 9\nbird fish 3\nsees hears 7\nhorse mouse 5\nlikes unheard 1\n"

_EMBEDDINGS: dict[str, dict[str, object]] = {
    "small": {},
    "small-wt": {"tied": True},
    "small-pr": {"projection": 0.15},
    "small-wt-pr": {"tied": True, "projection": 0.15},
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "text")


def study_of(tmp_path: Path, embeddings: dict[str, dict[str, object]]) -> Study:
    """Write small configurations of a study."""
    configs = tmp_path / "configs"
    configs.mkdir()
    for name, embedding in embeddings.items():
        content = {
            "name": name,
            "text": {"vocabulary_size": VOCABULARY, "dev_words": 60},
            "model": {"hidden_size": 8, "layers": 1},
            "embedding": embedding,
            "training": {"epochs": 1, "streams": 4, "window": 10},
        }
        (configs / f"{name}.yaml").write_text(yaml.safe_dump(content))
    return Study(configs, tuple(embeddings), tmp_path / "results", tmp_path / "work")


def options(*arguments: str) -> argparse.Namespace:
    return study_parser("a study").parse_args(arguments)


@pytest.fixture
def tying(tmp_path: Path) -> tuple[Study, Steps]:
    path = tmp_path / "EN-OWN.txt"
    path.write_text(_PAIRS)
    steps = Steps(
        tying_study.rating(read_sets([path])),
        tying_study.write_tying_report,
        tying_study.compare_embeddings,
    )
    return study_of(tmp_path, _EMBEDDINGS), steps


def test_tying(tying: tuple[Study, Steps], data: Path) -> None:
    """A finished run is not made again; the page has every model, the n-gram baseline and a verdict on each finding."""
    study, steps = tying
    run_study(study, options("--data", str(data), "--seeds", "1", "--only", "small"), steps)
    first = study.result("small", 1).read_bytes()
    page = study.page.read_text()
    assert page.count("not run yet") == 12
    run_study(study, options("--data", str(data), "--seeds", "1,2"), steps)
    assert study.result("small", 1).read_bytes() == first
    page = study.page.read_text()
    assert "not run yet" not in page
    assert re.search(r"^\| kneser-ney +\| Interpolated Kneser-Ney, order 5 +\|", page, re.MULTILINE)
    raw = json.loads(first)
    words = raw["text"]["vocabulary"]
    assert f"{8 * words:,} saved, {words} x 8 = {8 * words:,}" in page
    rated = raw["word_similarity"]
    assert set(rated) == {"input", "output"}
    assert rated["input"]["EN-OWN"]["pairs"] == 4
    assert rated["input"]["EN-OWN"]["missing_words"] == 1
    tied = json.loads(study.result("small-wt", 2).read_text())
    assert set(tied["word_similarity"]) == {"tied"}
    agreement = json.loads((study.results / "agreement-1.json").read_text())
    assert set(agreement) == {"small", "small-pr"}
    assert set(agreement["small"]) == {"input_output", "input_tied", "output_tied"}
    assert all(-100 <= one["spearman"] <= 100 for one in agreement["small"].values())
    study.page.unlink()
    run_study(study, options("--report"), steps)
    assert study.page.read_text() == page


def test_define(tmp_path: Path, data: Path) -> None:
    adaptive = {
        "width": 8,
        "tied": True,
        "input": "adaptive",
        "classifier": "adaptive",
        "adaptive": ADAPTIVE,
    }
    unit = {"expansion": 16, "depth": 2, "groups": 2}
    kinds = {
        "define-3": "define",
        "define-7": "define",
        "define-3-unmixed": "unmixed",
        "hierarchical-3": "hierarchical",
        "grouped-3": "grouped",
        "linear-3": "linear",
    }
    embeddings: dict[str, dict[str, object]] = {
        name: {**adaptive, "define": {**unit, "transformation": kinds[name]}}
        if name in kinds
        else adaptive
        for name in define_study.NAMES
    }
    embeddings["standard"] = {"tied": True}
    for embedding in embeddings.values():
        if "adaptive" in embedding:
            embedding["adaptive"] = {"cutoffs": [5, 9], "division": 2}
    study = study_of(tmp_path, embeddings)
    steps = Steps(define_study.measure_unit, define_study.write_define_report)
    run_study(study, options("--data", str(data), "--seeds", "3"), steps)
    page = study.page.read_text()
    assert "not run yet" not in page
    for name in define_study.NAMES:
        raw = json.loads(study.result(name, 3).read_text())
        assert raw["cached_table_gap"] < 1e-5
        assert (raw["unit_parameters"] > 0) == (name not in ("standard", "adaptive"))


def test_results_that_do_not_belong_together(
    tying: tuple[Study, Steps], data: Path, tmp_path: Path
) -> None:
    study, steps = tying
    one = options("--data", str(data), "--seeds", "1", "--only", "small")
    run_study(study, one, steps)
    other = write_corpus(tmp_path / "other", train=100)
    run_study(study, options("--data", str(data), "--seeds", "1", "--only", "small-wt"), steps)
    path = study.configs / "small.yaml"
    before = path.read_text()
    path.write_text(before.replace("epochs: 1", "epochs: 2"))
    with pytest.raises(InputError, match=r"made with another training\.epochs than small\.yaml"):
        read_results(study)
    path.write_text(before)
    with pytest.raises(InputError, match=r"small-pr-seed-1\.json: other text than in small-"):
        run_study(study, options("--data", str(other), "--seeds", "1", "--only", "small-pr"), steps)
    study.result("small-pr", 1).write_text("[]")
    with pytest.raises(InputError, match="no JSON mapping"):
        read_results(study)
    study.result("small-pr", 1).write_text("{}")
    with pytest.raises(InputError, match="no result of a study"):
        read_results(study)
    study.result("small-pr", 1).write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        read_results(study)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], r"--data: no text to train on \(give a folder of en\.txt and en\.dev\.txt"),
        (["--only", "big"], r"--only: no configuration big \(there are small, small-wt"),
        (["--seeds", "1,x"], "--seeds: '1,x' are no seeds"),
        (["--seeds", "-1"], "--seeds: '-1' are no seeds"),
        (["--data", "/", "--threads", "0"], "--threads: 0 threads"),
        (["--data", "/", "--device", "abacus"], "--device: no device abacus"),
    ],
)
def test_wrong_use(tying: tuple[Study, Steps], arguments: list[str], message: str) -> None:
    study, steps = tying
    with pytest.raises(InputError, match=message):
        run_study(study, options(*arguments), steps)


def test_folders(tying: tuple[Study, Steps], tmp_path: Path) -> None:
    study, _ = tying
    moved = located(study, options("--output", str(tmp_path / "there"), "--work", str(tmp_path)))
    assert moved.page == tmp_path / "there.md"
    assert moved.folder("small", 2) == tmp_path / "small-seed-2"
    assert located(study, options()) == study
