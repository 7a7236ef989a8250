"""How time and memory grow with the number of sentences that are read, predicted, written and scored.

The model is a tiny random one: the larger its share of the work, the less would be seen of the harness.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tabulate import tabulate

from speed.measuring import Peak, Row, in_own_process, resident, seconds
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
    header = ["sentences", "languages", "read, predict, write s", "score s"]
    header += ["time over linear", "MiB beyond: predict", "score"]
    print(tabulate(table, header, disable_numparse=True))
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": rows}, indent=1) + "\n", encoding="utf-8")


def write_sentences(path: Path, count: int, labels: Sequence[str]) -> None:
    """Write a file of that many tagged sentences of 4 to 12 words."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [f"{_word(n)}\t{labels[n % len(labels)]}\n" for n in range(WORDS)]
    with path.open("w", encoding="utf-8") as file:
        for index in range(count):
            # Steps that share no factor with the number of words reach all of them.
            numbers = ((index * 7919 + place * 104_729) % WORDS for place in range(4 + index % 9))
            file.write("".join([*(rows[number] for number in numbers), "\n"]))


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

    from xharness.data.sources import FileDataSource
    from xharness.inference.device import choose_device
    from xharness.inference.progress import Silent
    from xharness.models.transformers import TransformersAdapter
    from xharness.scoring.scores import score_task
    from xharness.specs.recipe import Recipe
    from xharness.specs.registry import load
    from xharness.tasks.predictions import write_with_gold

    torch.set_num_threads(arguments.threads)
    task = next(task for task in benchmark_of_suite("xtreme").tasks if task.name == TASK)
    languages = LANGUAGES[: arguments.examples]
    task = task.model_copy(update={"languages": languages})
    settings = load(Recipe, "xtreme").resolve(task)
    checkpoint = arguments.folder / "tiny"
    if not checkpoint.is_dir():
        _save_tiny(str(arguments.model), task, checkpoint)
    with tempfile.TemporaryDirectory() as own:
        folder = Path(own)
        os.environ["XHARNESS_CACHE"] = str(folder / "cache")
        adapter = TransformersAdapter(str(checkpoint), choose_device("cpu"))
        warm, data = folder / "warm", folder / "data"
        write_sentences(warm / TASK / "test-en.tsv", 4096, task.labels)
        for language in languages:
            file = data / TASK / f"test-{language}.tsv"
            write_sentences(file, arguments.growth_of, task.labels)
        split = FileDataSource(warm).read(task, "test", "en", None)
        adapter.predict(task, split, settings, Silent())
        before, peak = resident(), Peak()
        began = seconds()
        for language in languages:
            split = FileDataSource(data).read(task, "test", language, None)
            parts = (adapter.predict(task, part, settings, Silent()) for part in split.parts())
            name = f"{TASK}/{task.file_name(language)}"
            ours, gold = folder / "predictions" / name, folder / "gold" / name
            write_with_gold(task, split, parts, ours, gold)
            del parts, split
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
