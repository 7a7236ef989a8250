"""Submission folders: copied whole, checked, refused when they do not fit."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.small_run import command
from xharness.errors import InputError
from xharness.specs.registry import benchmark_of_suite
from xharness.submission.folder import write_submission

SAMPLE = benchmark_of_suite("sample")


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of a finished run that a test may break."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


def test_every_file_is_copied_byte_for_byte(run: Path, tmp_path: Path) -> None:
    report = write_submission(run, tmp_path / "out", SAMPLE, None, partial=True)
    assert report.missing == ()
    assert report.files == {
        "sample_nli": 8, "sample_pos": 8, "sample_ner": 8, "sample_qa": 8,
        "sample_bitext": 2, "sample_retrieval": 7,
    }  # fmt: skip
    written = {
        str(p.relative_to(tmp_path / "out")): p.read_bytes()
        for p in (tmp_path / "out").rglob("test-*")
    }
    folder = run / "predictions" / "seed-1"
    assert written == {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("test-*")}


def test_limited_run_is_refused_unless_told(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="tested on at most 5 examples a language"):
        write_submission(run, tmp_path / "out", SAMPLE, None, partial=False)
    assert not (tmp_path / "out").exists()


def test_missing_file_is_refused_or_named(run: Path, tmp_path: Path) -> None:
    (run / "predictions" / "seed-1" / "sample_pos" / "test-ru.tsv").unlink()
    report = write_submission(run, tmp_path / "out", SAMPLE, 1, partial=True)
    assert report.missing == (("sample_pos", "ru"),)
    assert "missing: sample_pos ru" in list(report.lines())


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("sample_nli/test-de.tsv", "\n", "\nneutral\n", "test-de.tsv"),
        (
            "sample_nli/test-de.tsv",
            "\n",
            "l\n",
            r"test-de\.tsv:1: '\w+l' is no label of sample_nli",
        ),
        ("sample_pos/test-zh.tsv", "\n\n", "\n", "test-zh.tsv"),
    ],
)
def test_file_that_does_not_fit_is_refused(
    run: Path, tmp_path: Path, file: str, old: str, new: str, message: str
) -> None:
    path = run / "predictions" / "seed-1" / file
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        write_submission(run, tmp_path / "out", SAMPLE, None, partial=True)
    assert not (tmp_path / "out").exists()


def test_answers_must_be_an_object(run: Path, tmp_path: Path) -> None:
    path = run / "predictions" / "seed-1" / "sample_qa" / "test-en.json"
    path.write_text(json.dumps([]), encoding="utf-8")
    with pytest.raises(InputError, match=r"test-en\.json: answers by question id"):
        write_submission(run, tmp_path / "out", SAMPLE, None, partial=True)


def test_folder_that_is_there_is_never_overwritten(run: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match="exists already"):
        write_submission(run, tmp_path / "out", SAMPLE, None, partial=True)


def test_seed_must_be_one_of_the_runs(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no seed 7 .there are 1"):
        write_submission(run, tmp_path / "out", SAMPLE, 7, partial=True)


def test_one_of_several_seeds_must_be_named(tmp_path: Path) -> None:
    command(tmp_path / "run", suite=None, tasks=("sample_nli",), seeds="1,2").execute()
    with pytest.raises(InputError, match="seeds 1, 2 are there"):
        write_submission(tmp_path / "run", tmp_path / "out", SAMPLE, None, partial=True)
    report = write_submission(tmp_path / "run", tmp_path / "out", SAMPLE, 2, partial=True)
    assert report.files == {"sample_nli": 8}
