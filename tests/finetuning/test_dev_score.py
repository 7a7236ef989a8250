"""Chance on English dev, and the verdict on a training that stays there."""

from __future__ import annotations

import pytest

from xharness.data.examples import PairExample, Split, TaggingExample
from xharness.finetuning.dev_score import chance_score, judged
from xharness.finetuning.training import TrainingReport
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec


def report(score: float) -> TrainingReport:
    return TrainingReport(
        steps=2, windows=4, warmup_steps=0, effective_batch=2, losses=(1.0,),
        dev_scores=((1, 10.0), (2, score)), chosen_step=2, memory_halvings=0, seconds=0.1,
    )  # fmt: skip


def test_chance_of_pairs_is_the_majority_share() -> None:
    labels = ["neutral"] * 6 + ["entailment"] * 2 + ["contradiction"] * 2
    pairs = [PairExample(str(i), "a", "b", label) for i, label in enumerate(labels)]
    chance = chance_score(load(TaskSpec, "xnli"), Split("xnli", "dev", "en", pairs))
    assert chance is not None
    assert chance[0] == pytest.approx(60.0)
    assert chance[1] == pytest.approx(100 * (0.6 * 0.4 / 10) ** 0.5)


def test_chance_of_entities_is_nothing_found() -> None:
    sentences = [TaggingExample(str(i), ("Anna", "lives"), ("B-PER", "O")) for i in range(4)]
    sentences.append(TaggingExample("4", ("here", "now"), ("O", "O")))
    assert chance_score(load(TaskSpec, "panx"), Split("panx", "dev", "en", sentences)) == (0.0, 0.0)


def test_questions_have_no_chance_score() -> None:
    assert chance_score(load(TaskSpec, "xquad"), Split("xquad", "dev", "en", [])) is None


@pytest.mark.parametrize(("score", "degenerate"), [(33.0, True), (38.9, True), (39.1, False)])
def test_two_standard_errors_decide(score: float, degenerate: bool) -> None:
    found = judged(report(score), (33.0, 3.0))
    assert (found.degenerate, found.dev_chance) == (degenerate, 33.0)


def test_without_chance_there_is_no_verdict() -> None:
    assert judged(report(33.0), None) == report(33.0)
