"""Tasks, data and checkpoints that the ways are compared on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xharness.data.examples import Split
from xharness.data.sources import FileDataSource
from xharness.specs.recipe import Recipe, Settings
from xharness.specs.registry import benchmark_of_suite, load
from xharness.specs.task import TaskSpec
from xharness.tasks.encoding import Encoding

TASKS = ("udpos", "xnli", "xquad")
SAMPLE_TASKS = ("sample_pos", "sample_nli", "sample_qa")

#: One language with blanks between words and one without.
LANGUAGES = ("en", "zh")

#: Of the examples asked for, questions are fewer: their windows are up to ten times as long.
QUESTION_SHARE = 4


@dataclass(frozen=True)
class Material:
    """One task, ready to be worked on.

    Attributes:
        task: Its specification.
        settings: Recipe ``short``'s: those of the official scripts, but for rates and a single epoch; or the sample's.
        splits: What is predicted, a language each.
        train: What is trained on.
    """

    task: TaskSpec
    settings: Settings
    splits: Sequence[Split]
    train: Split

    @property
    def examples(self) -> int:
        """Examples to be predicted."""
        return sum(map(len, self.splits))


def material(
    name: str, data: Path, examples: int, train_examples: int, languages: Sequence[str] = LANGUAGES
) -> Material:
    """Read a task's data, the first examples of each split.

    Args:
        name: Task of suite ``xtreme`` or ``sample``.
        data: Folder in the official layout.
        examples: Test examples a language; of questions a part.
        train_examples: The same for the training split.
        languages: Languages that are predicted.
    """
    suite, recipe = ("sample", "sample") if name in SAMPLE_TASKS else ("xtreme", "short")
    chosen = {"selection": "last"} if suite == "sample" else {"selection": "last", "epochs": 1}
    task = next(task for task in benchmark_of_suite(suite).tasks if task.name == name)
    share = QUESTION_SHARE if task.kind == "question_answering" else 1
    source = FileDataSource(data)
    return Material(
        task=task,
        settings=load(Recipe, recipe).resolve(task, chosen),
        splits=[source.read(task, "test", tag, examples // share) for tag in languages],
        train=source.read(task, "train", "en", train_examples // share),
    )


def looked_at(encoding: Encoding) -> Any:
    """Return at how many positions of each window the head looks, (windows,)."""
    from xharness.tasks.pair_classification import PairEncoding
    from xharness.tasks.tagging import TaggingEncoding

    if isinstance(encoding, TaggingEncoding):
        return np.diff(encoding.word_starts)
    if isinstance(encoding, PairEncoding):
        return np.ones(len(encoding), np.int64)
    return encoding.lengths


def needed_flops(checkpoint: str, found: Material, splits: Sequence[Split]) -> int:
    """Return the floating-point operations that encoding some splits once needs."""
    from speed.measuring import encoder_flops
    from xharness.models.checkpoints import load_config, load_tokenizer
    from xharness.models.kinds import HEADED_KINDS

    config = load_config(checkpoint)
    _, pieces = load_tokenizer(checkpoint, config)
    encode = HEADED_KINDS[found.task.kind].encode
    total = 0
    for split in splits:
        encoding = encode(split.examples, found.task, pieces, found.settings)
        total += encoder_flops(config, encoding.lengths, looked_at(encoding))
    return total


def save_with_heads(checkpoint: str, data: Path, into: Path) -> None:
    """Give a checkpoint the head of each task, initialised by one seed, and write them into folders by task."""
    from transformers import set_seed

    from xharness.models.checkpoints import (
        load_config,
        load_tokenizer,
        load_with_head,
        save_checkpoint,
    )

    tokenizer, _ = load_tokenizer(checkpoint, load_config(checkpoint))
    for name in TASKS:
        set_seed(0)
        task = material(name, data, QUESTION_SHARE, QUESTION_SHARE, ("en",)).task
        save_checkpoint(load_with_head(checkpoint, task), tokenizer, into / name)
