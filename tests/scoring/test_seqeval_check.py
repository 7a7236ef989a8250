"""The check against the seqeval library must find a difference, and say when it cannot check."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scoring.submission import write
from xharness.errors import InputError
from xharness.scoring import seqeval_check
from xharness.scoring.seqeval_check import check_with_seqeval
from xharness.scoring.spans import SpanCounts
from xharness.specs.registry import Benchmark, benchmark_of_tasks

ODD_TAGS = "B-PER\nI-PER\nE-PER\n\nB\nI\nB-\n\nO\n_\n.\nS-LOC\n\n\n"
OTHER_TAGS = "B-PER\nB-PER\nE-PER\n\nB\nB-LOC\nI\n\nI-LOC\n_\nX\nS-LOC\n"


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    for name in ("panx", "udpos"):
        write(tmp_path / f"labels/{name}/test-en.tsv", ODD_TAGS)
        write(tmp_path / f"predictions/{name}/test-en.tsv", OTHER_TAGS)
    return tmp_path


def benchmark() -> Benchmark:
    return benchmark_of_tasks(["panx", "udpos", "xnli"])


def check(folder: Path, profile: str = "official") -> int:
    return check_with_seqeval(folder / "predictions", folder / "labels", benchmark(), profile)


@pytest.mark.parametrize(("profile", "figures"), [("official", 7), ("strict", 4)])
def test_odd_tags_agree(submission: Path, profile: str, figures: int) -> None:
    assert check(submission, profile) == figures


def test_a_difference_is_named(submission: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = SpanCounts.figures

    def one_too_many(self: SpanCounts) -> dict[str, float]:
        return figures(SpanCounts(self.correct, self.predicted + 1, self.gold))

    monkeypatch.setattr(SpanCounts, "figures", one_too_many)
    with pytest.raises(InputError, match=r"panx/test-en.tsv: f1 is .* but .* by seqeval 1.2.2"):
        check(submission)


def test_other_release_cannot_check(submission: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seqeval_check, "SEQEVAL", "9.9")
    with pytest.raises(InputError, match=r"needs seqeval 9.9, installed is 1"):
        check(submission)


def test_old_profile_cannot_be_checked(submission: Path) -> None:
    with pytest.raises(InputError, match="cannot check the profile official-2020"):
        check(submission, "official-2020")
