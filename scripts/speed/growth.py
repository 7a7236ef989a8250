"""How time and memory grow with the number of sentences that are predicted, written and scored.

Sentences are made as they are asked for, so what grows is the harness. The model is a tiny random one: the larger its
share of the work, the less would be seen.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

from tabulate import tabulate

from speed.measuring import Peak, Row, in_own_process, resident, seconds
from xharness.data.examples import Split, TaggingExample
from xharness.specs.registry import benchmark_of_suite
from xharness.specs.task import TaskSpec

#: Distinct words of the synthetic text.
WORDS = 20_000

TASK = "udpos"
LANGUAGES = ("en", "de", "fr", "es")


def show_growth(script: str, arguments: argparse.Namespace) -> None:
    """Run a few sizes, each in a process of its own, and print how time and memory grow."""
    most = arguments.sentences
    sizes = [(most // 8, 1), (most // 4, 1), (most // 8, 4), (most, 1)]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        common = ["--model", str(arguments.model), "--folder", folder]
        for count, languages in sizes:
            chosen = [*common, "--growth-of", str(count), "--examples", str(languages)]
            rows += in_own_process(script, chosen, arguments.threads)
    first = rows[0]
    table = []
    for row in rows:
        times = row["sentences"] / first["sentences"]
        table.append(
            [
                row["sentences"],
                row["languages"],
                f"{row['predict_seconds']:.1f}",
                f"{row['score_seconds']:.1f}",
                f"{row['seconds'] / first['seconds'] / times:.2f}",
                f"{row['predict_mib'] - row['resident_mib']:.0f}",
                f"{row['score_mib'] - row['resident_mib']:.0f}",
            ]
        )
    header = ["sentences", "languages", "predict and write s", "score s"]
    header += ["time over linear", "MiB beyond: predict", "score"]
    print(tabulate(table, header, disable_numparse=True))
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": rows}, indent=1) + "\n", encoding="utf-8")


class SyntheticSentences(Sequence[TaggingExample]):
    """Tagged sentences, made anew whenever they are asked for.

    Args:
        count: How many there are.
        labels: The tags.
    """

    def __init__(self, count: int, labels: Sequence[str]):
        self._count = count
        self._labels = labels

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> TaggingExample: ...
    @overload
    def __getitem__(self, index: slice) -> list[TaggingExample]: ...
    def __getitem__(self, index: int | slice) -> TaggingExample | list[TaggingExample]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        if not 0 <= index < self._count:
            raise IndexError(index)
        # Steps that share no factor with the number of words reach all of them.
        numbers = [(index * 7919 + place * 104_729) % WORDS for place in range(4 + index % 9)]
        return TaggingExample(
            str(index),
            tuple(map(_word, numbers)),
            tuple(self._labels[number % len(self._labels)] for number in numbers),
        )


def _word(number: int) -> str:
    consonants, vowels = "bdfgklmnprst", "aeiou"
    letters = []
    for _ in range(3):
        number, rest = divmod(number, len(consonants))
        letters.append(consonants[rest])
        number, rest = divmod(number, len(vowels))
        letters.append(vowels[rest])
    return "".join(letters)


def growth_rows(arguments: argparse.Namespace) -> list[Row]:
    """Predict, write and score that many sentences in each of some languages."""
    import torch

    from xharness.inference.device import choose_device
    from xharness.inference.progress import Silent
    from xharness.models.transformers import TransformersAdapter
    from xharness.scoring.scores import score_task
    from xharness.specs.recipe import Recipe
    from xharness.specs.registry import load

    torch.set_num_threads(arguments.threads)
    task = next(task for task in benchmark_of_suite("xtreme").tasks if task.name == TASK)
    languages = LANGUAGES[: arguments.examples]
    task = task.model_copy(update={"languages": languages})
    settings = load(Recipe, "xtreme").resolve(task)
    checkpoint = arguments.folder / "tiny"
    if not checkpoint.is_dir():
        _save_tiny(str(arguments.model), task, checkpoint)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XHARNESS_CACHE"] = str(folder / "cache")
        adapter = TransformersAdapter(str(checkpoint), choose_device("cpu"))
        adapter.predict(task, _split(task, "en", 100), settings, Silent())
        before, peak = resident(), Peak()
        began = seconds()
        for language in languages:
            split = _split(task, language, arguments.growth_of)
            found = adapter.predict(task, split, settings, Silent())
            _write(folder, task, split, found)
            del found
        predicted, predict_mib = seconds(), peak.mib()
        peak = Peak()
        score_task(task, folder / "predictions", folder / "gold")
        ended = seconds()
        return [
            {
                "sentences": arguments.growth_of * len(languages),
                "languages": len(languages),
                "predict_seconds": predicted - began,
                "score_seconds": ended - predicted,
                "seconds": ended - began,
                "resident_mib": before,
                "predict_mib": predict_mib,
                "score_mib": peak.mib(),
            }
        ]


def _split(task: TaskSpec, language: str, count: int) -> Split:
    return Split(task.name, "test", language, SyntheticSentences(count, task.labels))


def _write(folder: Path, task: TaskSpec, split: Split, found: Any) -> None:
    from xharness.files import write_text
    from xharness.tasks.predictions import gold_text, prediction_text

    name = f"{task.name}/{task.file_name(split.language)}"
    write_text(folder / "predictions" / name, prediction_text(task, found))
    write_text(folder / "gold" / name, gold_text(task, split) or "")


def _save_tiny(model: str, task: TaskSpec, into: Path) -> None:
    """Write a random encoder of one narrow block with the task's head and a checkpoint's tokenizer."""
    import torch
    from transformers import BertConfig, BertForTokenClassification

    from xharness.models.checkpoints import load_config, load_tokenizer, save_checkpoint

    tokenizer, _ = load_tokenizer(model, load_config(model))
    torch.manual_seed(0)
    labels = dict(enumerate(task.labels))
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        pad_token_id=tokenizer.pad_token_id,
        id2label=labels,
        label2id={label: i for i, label in labels.items()},
    )
    save_checkpoint(BertForTokenClassification(config), tokenizer, into)
