"""The report of the translation study and its verdicts."""

from __future__ import annotations

from typing import Any

import pytest

from xharness.translation.study import CLAIMS, Claim, StudyResult, judge, render_report

ORDER = ("no-tying", "decoder", "three-way", "define", "define-decoder")
DECODER = next(claim for claim in CLAIMS if claim.smaller == "decoder")
DEFINE = next(claim for claim in CLAIMS if claim.smaller == "define")


def result(name: str, parameters: int, bleu: float, seed: int = 1) -> StudyResult:
    epoch = {"number": 2, "dev_bleu": 12.34}
    raw: dict[str, Any] = {
        "name": name,
        "seed": seed,
        "config": {"model": {"width": 10}},
        "vocabulary": {"pieces": 100},
        "parameters": {"total": parameters, "trained": parameters, "embeddings": 0},
        "training": {
            "epochs": [epoch],
            "steps": 1200,
            "dev_loss": 2.3456,
            "chosen": "epoch 2",
            "cpu_seconds": 120.0,
            "seconds": 240.0,
            "cpu_seconds_a_step": 0.1,
        },
        "test": {"bleu": bleu, "chrf": 50.0, "bleu_signature": "tok:13a", "chrf_signature": "nc:6"},
    }
    return StudyResult(name, seed, raw)


@pytest.mark.parametrize(
    ("parameters", "bleu", "verdict", "figures"),
    [
        (4000, 29.5, "seen", "1,000 parameters fewer, 20.0 %; BLEU decoder 29.55 ± 0.07"),
        (4000, 31.5, "seen", "1,000 parameters fewer, 20.0 %; BLEU decoder 31.55 ± 0.07"),
        (4000, 28.5, "the reverse is seen", "1,000 parameters fewer, 20.0 %; BLEU decoder 28.55"),
        (4000, 29.0, "not told apart", "1,000 parameters fewer, 20.0 %; BLEU decoder 29.05"),
        (3900, 30.0, "the reverse is seen", "1,100 parameters fewer, 22.0 %, not 1 V x d = 1,000;"),
    ],
)
def test_tying_must_save_exactly_one_matrix_at_a_like_bleu(
    parameters: int, bleu: float, verdict: str, figures: str
) -> None:
    """The larger model has 30.0 and 30.1, and one point less is alike."""
    results = [result("no-tying", 5000, 30.0 + seed / 10, seed) for seed in (0, 1)]
    results += [result("decoder", parameters, bleu + seed / 10, seed) for seed in (0, 1)]
    judged = judge(DECODER, results)
    assert judged.verdict == verdict
    assert judged.figures.startswith(figures)
    assert judged.figures.endswith("no-tying 30.05 ± 0.07")


def test_one_seed_tells_no_scores_apart_and_yet_refutes_a_wrong_saving() -> None:
    untied = result("no-tying", 5000, 30.0)
    assert judge(DECODER, [untied, result("decoder", 4000, 33.0)]).verdict == "not told apart"
    assert judge(DECODER, [untied, result("decoder", 4001, 33.0)]).verdict == "the reverse is seen"


def test_a_model_that_saves_nothing_refutes_the_claim() -> None:
    judged = judge(DEFINE, [result("no-tying", 5000, 30.0), result("define", 5200, 33.0)])
    assert judged.verdict == "the reverse is seen"
    assert judged.figures.startswith("200 parameters more; BLEU define 33.00")


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_was_not_run_is_said(claim: Claim) -> None:
    judged = judge(claim, [result(claim.larger, 5000, 30.0)])
    assert (judged.verdict, judged.figures) == ("cannot be tried", "not run yet")


def test_the_page_has_every_model_in_order_and_a_hole_is_a_hole() -> None:
    results = [
        result("three-way", 3000, 31.26),
        result("no-tying", 5000, 30.0, 1),
        result("no-tying", 5000, 32.0, 2),
    ]
    page = render_report(results, ORDER, "no-tying")
    rows = [line.split("|")[1:-1] for line in page.splitlines() if line.startswith("| ")]
    cells = {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows}
    # Standard deviation of 30 and 32 over n - 1: the square root of 2.
    assert cells["no-tying"][:4] != cells["three-way"][:4]
    models = [line for line in page.splitlines() if line.startswith("| no-tying")]
    assert "31.00 ± 1.41" in models[0]
    tied = next(line for line in page.splitlines() if line.startswith("| three-way"))
    assert [cell.strip() for cell in tied.split("|")[2:6]] == ["3,000", "3,000", "40.0 %", "31.26"]
    missing = next(line for line in page.splitlines() if line.startswith("| define-decoder"))
    assert {cell.strip() for cell in missing.split("|")[2:-1]} == {"-"}
    assert "`tok:13a`" in page
    assert "12.3 (2)" in page
    assert page.count("not run yet") == 3


def test_a_page_without_results_can_be_made() -> None:
    page = render_report([], ORDER, "no-tying")
    assert "none yet" in page
    assert page.count("not run yet") == len(CLAIMS)
