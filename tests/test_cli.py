"""The command line: help, exit codes, one line for every error, and no torch where none is needed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

VERBS = (
    "tasks",
    "validate",
    "run",
    "prepare",
    "score",
    "submit",
    "leaderboard",
    "pretrain",
    "export",
    "doctor",
)


def xharness(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "xharness", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("verb", VERBS)
def test_help_shows_an_example(verb: str) -> None:
    done = xharness(verb, "--help")
    assert done.returncode == 0
    assert f"Example: xharness {verb}" in " ".join(done.stdout.split())


def test_help_loads_neither_torch_nor_numpy() -> None:
    program = (
        "import sys\n"
        "from xharness import cli\n"
        "sys.argv = ['xharness', 'run', '--help']\n"
        "try:\n    cli.main()\nexcept SystemExit as stop:\n    assert stop.code == 0\n"
        "heavy = {'torch', 'transformers', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--model", "sample"), "--output"),
        (("run", "--model", "sample", "--output", "o", "--limit", "0"), "--limit"),
        (("runn",), "runn"),
        (("tasks", "--suite", "xtrem"), "did you mean 'xtreme'"),
        (("validate", "nowhere.yaml"), "nowhere.yaml: no such file"),
        (("score", "--predictions", "p", "--labels", "l", "--output", "s.json"), "--predictions"),
        (("prepare", "udpos", "--from", "nowhere", "--output", "o"), "nowhere"),
        (("prepare", "udpo", "--from", ".", "--output", "o"), "udpos"),
        (("submit", "nowhere", "--output", "o"), "nowhere"),
        (("compare", "nowhere", "nowhere"), "nowhere"),
        (("leaderboard", "nowhere", "--output", "o"), "nowhere"),
        (("pretrain", "nowhere.yaml", "--output", "o"), "nowhere.yaml"),
        (("export", "nowhere", "--to", "model-index", "--output", "o"), "nowhere"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = xharness(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("xharness: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_invalid_specification_is_exit_code_1(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("name: a\nkind: tagging\nsurces: {}\n", encoding="utf-8")
    done = xharness("validate", "a.yaml", folder=tmp_path)
    assert done.returncode == 1
    assert "a.yaml:3: surces: unknown key, did you mean 'sources'?" in done.stderr


def test_score_of_a_partial_folder(tmp_path: Path) -> None:
    for folder, lines in (
        ("predictions", "neutral\n" * 6),
        ("labels", "neutral\nentailment\n" * 3),
    ):
        path = tmp_path / folder / "xnli" / "test-de.tsv"
        path.parent.mkdir(parents=True)
        path.write_text(lines, encoding="utf-8")
    arguments = ("--predictions", "predictions", "--labels", "labels", "--output", "scores.json")
    done = xharness("score", *arguments, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    scores = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    assert scores["tasks"]["xnli"]["metrics"]["accuracy"] == {"de": 50.0}
    assert scores["tasks"]["xnli"]["score"] is None
    assert scores["overall"] is None
    assert {"task": "xnli", "language": "en"} in scores["missing"]


def test_scoring_loads_no_torch(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from xharness.scoring import score_submission, check_with_seqeval\n"
        "from xharness.specs.registry import benchmark_of_suite\n"
        "benchmark_of_suite('xtreme')\n"
        "heavy = {'torch', 'transformers', 'datasets', 'pandas', 'scipy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_version() -> None:
    assert xharness("--version").stdout.startswith("xharness 0.")
