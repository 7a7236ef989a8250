"""The score that a checkpoint is chosen by: the task's own, on English dev, through the same prediction files."""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory

from xharness.data.examples import Split
from xharness.errors import InputError
from xharness.files import write_text
from xharness.scoring.scores import score_task
from xharness.specs.task import TaskSpec
from xharness.tasks.predictions import Predictions, gold_text, prediction_text


def dev_score(task: TaskSpec, dev: Split, predictions: Predictions) -> float:
    """Return the task's score on a dev split, in percent.

    Raises:
        InputError: The dev split has no gold labels.
    """
    gold = gold_text(task, dev)
    if gold is None:
        raise InputError(
            f"{task.name} dev {dev.language} has no labels to choose a checkpoint by",
            mend="use --set selection=last",
        )
    task = task.model_copy(update={"languages": (dev.language,)})
    with TemporaryDirectory(prefix="xharness-dev-") as folder:
        name = f"{task.name}/{task.file_name(dev.language)}"
        write_text(Path(folder) / "gold" / name, gold)
        write_text(Path(folder) / "predictions" / name, prediction_text(task, predictions))
        score = score_task(task, Path(folder) / "predictions", Path(folder) / "gold").score
    return -math.inf if score is None else score
