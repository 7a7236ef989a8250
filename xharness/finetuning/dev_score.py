"""The score that a checkpoint is chosen by: the task's own, on English dev, through the same prediction files."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from xharness.data.examples import ChoiceExample, PairExample, Split, TaggingExample
from xharness.errors import InputError
from xharness.finetuning.training import TrainingReport
from xharness.scoring.scores import score_task
from xharness.specs.task import TaskSpec
from xharness.tasks.predictions import Predictions, write_with_gold


def dev_score(task: TaskSpec, dev: Split, predictions: Predictions) -> float:
    """Return the task's score on a dev split, in percent.

    Raises:
        InputError: The dev split has no gold labels.
    """
    task = task.model_copy(update={"languages": (dev.language,)})
    with TemporaryDirectory(prefix="xharness-dev-") as name:
        ours, gold = Path(name) / "predictions", Path(name) / "gold"
        file = f"{task.name}/{task.file_name(dev.language)}"
        written = write_with_gold(task, dev, [predictions], ours / file, gold / file)
        if gold / file not in written:
            raise InputError(
                f"{task.name} dev {dev.language} has no labels to choose a checkpoint by",
                mend="use --set selection=last",
            )
        score = score_task(task, ours, gold).score
    return -math.inf if score is None else score


def chance_score(task: TaskSpec, dev: Split) -> tuple[float, float] | None:
    """Return the dev score of always giving the most frequent label, and its standard error, in percent.

    The error is that of a proportion over the split's decisions. ``None`` for kinds without labels.
    """
    if task.kind == "pair_classification":
        labels = [str(e.label) for e in cast(Sequence[PairExample], dev.examples)]
        predictions = Predictions([_most_frequent(labels)] * len(labels))
        decisions = len(labels)
    elif task.kind == "multiple_choice":
        numbers = [str(e.label) for e in cast(Sequence[ChoiceExample], dev.examples)]
        predictions = Predictions([_most_frequent(numbers)] * len(numbers))
        decisions = len(numbers)
    elif task.kind == "tagging":
        sentences = [e.tags or () for e in cast(Sequence[TaggingExample], dev.examples)]
        tag = _most_frequent([tag for tags in sentences for tag in tags])
        predictions = Predictions([[tag] * len(tags) for tags in sentences])
        decisions = sum(map(len, sentences))
    else:
        return None
    score = dev_score(task, dev, predictions)
    share = min(max(score / 100, 0.0), 1.0)
    return score, 100 * math.sqrt(share * (1 - share) / decisions)


def judged(report: TrainingReport, chance: tuple[float, float] | None) -> TrainingReport:
    """Return the report with the verdict whether the training came out above chance.

    Args:
        report: What the training did.
        chance: Score of the most frequent label and its standard error, in percent.
    """
    if chance is None or not report.dev_scores:
        return report
    score, error = chance
    reached = dict(report.dev_scores)[report.chosen_step]
    return replace(report, dev_chance=score, degenerate=reached <= score + 2 * error)


def _most_frequent(labels: Sequence[str]) -> str:
    return Counter(labels).most_common(1)[0][0]
