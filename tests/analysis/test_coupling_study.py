"""The report on the coupling study: what is judged, from which figures, and what the page holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from xharness.analysis.coupling_study import FINDINGS, Finding, Result, judge, write_report

LANGUAGES = ("de", "en")


def result(name: str, seed: int, score: float, accuracy: float = 20.0) -> Result:
    """Return a result whose tasks all have one score, in the second language 2 above the first's."""
    raw: dict[str, Any] = {
        "name": name,
        "seed": seed,
        "pretraining": {
            "held_out": {"mean_loss": 4.0, "mean_accuracy": accuracy},
            "seconds": 600,
            "parameters": {"pretraining": 2_000_000, "fine_tuning": 1_000_000},
        },
        "curve": {
            "train": [{"step": 50, "loss": 6.0}, {"step": 100, "loss": 5.0}],
            "dev": [{"step": 100, "mean_loss": 4.0, "mean_accuracy": accuracy}],
        },
        "tasks": {
            task: {
                "languages": {
                    code: {figure: score - 1 + 2 * number} for number, code in enumerate(LANGUAGES)
                }
            }
            for task, figure in (
                ("udpos", "f1"),
                ("panx", "f1"),
                ("tatoeba", "accuracy"),
                ("xnli", "accuracy"),
            )
        },
    }
    return Result(name, seed, raw)


FINDING = Finding("a beats b", "a", "b")


@pytest.mark.parametrize(
    ("better", "worse", "verdict"),
    [
        ((50, 52), (40, 49), "seen"),
        ((50, 52), (51, 49), "not told apart"),
        ((40, 41), (42, 49), "the reverse is seen"),
        ((50,), (40, 41), "not told apart"),  # one seed tells nothing apart
        ((50, 52), (), "cannot be tried"),
    ],
)
def test_a_finding_is_seen_when_every_seed_is_above(
    better: tuple[int, ...], worse: tuple[int, ...], verdict: str
) -> None:
    results = [result("a", seed, score) for seed, score in enumerate(better)]
    results += [result("b", seed, score) for seed, score in enumerate(worse)]
    assert judge(FINDING, results).verdict == verdict


def test_figures_are_means_and_deviations_over_seeds() -> None:
    results = [result("a", 1, 50), result("a", 2, 52), result("b", 1, 40), result("b", 2, 41)]
    # Means over two languages and four tasks are the scores; the deviation of 50 and 52 is the root of 2.
    assert judge(FINDING, results).figures == "a 51.0 ± 1.4, b 40.5 ± 0.7"


def test_a_finding_may_be_about_masked_lm_accuracy() -> None:
    finding = Finding("by accuracy", "a", "b", lambda one: one.held_out_accuracy)
    results = [result("a", seed, 10, accuracy=30 + seed) for seed in (1, 2)]
    results += [result("b", seed, 90, accuracy=20 + seed) for seed in (1, 2)]
    assert judge(finding, results).verdict == "seen"


def test_the_report_holds_tables_curves_and_findings(tmp_path: Path) -> None:
    results = [result("in32-out128", seed, 60 + seed) for seed in (1, 2)]
    results += [result("in32-out32", seed, 50 + seed) for seed in (1, 2)]
    folder = tmp_path / "study"
    folder.mkdir()
    write_report(
        results,
        ("in32-out128", "in32-out32", "coupled"),
        tmp_path / "study.md",
        folder / "curves.svg",
        {"de": 6.5, "en": 6.4},
    )
    page = (tmp_path / "study.md").read_text(encoding="utf-8")
    assert "61.5 ± 0.7" in page
    assert "1.00M" in page
    assert (
        "1 are seen at this scale, of 0 the reverse, 1 are not told apart, and 9 were not run."
        in page
    )
    assert "(study/curves.svg)" in page
    assert (folder / "curves.svg").read_text(encoding="utf-8").startswith("<?xml")
    judged = json.loads((folder / "statements.json").read_text(encoding="utf-8"))
    verdicts = [one["verdict"] for one in judged]
    assert len(judged) == len(FINDINGS)
    assert verdicts.count("seen") == 1  # the larger output; its masked-LM accuracy is equal
    assert verdicts.count("not told apart") == 1
    assert verdicts.count("cannot be tried") == len(FINDINGS) - 2


def test_a_report_without_results_says_so(tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    write_report([], ("coupled",), tmp_path / "study.md", tmp_path / "study" / "curves.svg", {})
    page = (tmp_path / "study.md").read_text(encoding="utf-8")
    assert "none yet" in page
    assert not (tmp_path / "study" / "curves.svg").exists()
