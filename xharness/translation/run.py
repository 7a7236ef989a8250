"""One translation model from its configuration to its scores."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file

from xharness.errors import InputError
from xharness.files import unwritable, write_json, write_text, written_aside
from xharness.inference.device import Device
from xharness.pretraining.config import differences
from xharness.translation.batches import IntArray, encode_pairs, with_end
from xharness.translation.config import SearchSettings, TranslationConfig
from xharness.translation.corpus import ParallelText, TranslationData, read_translation_data
from xharness.translation.modeling import TranslationModel
from xharness.translation.quality import Quality, corpus_quality
from xharness.translation.search import Hypothesis, translate
from xharness.translation.training import Epoch, Trained, TranslationTraining
from xharness.translation.vocabulary import JointVocabulary, train_vocabulary


def train_and_score(
    config: TranslationConfig,
    data: Path,
    folder: Path,
    device: Device,
    report: Callable[[str], None],
    vocabulary: Path | None = None,
) -> dict[str, Any]:
    """Train a model, translate the test split and score it.

    A training that was cut off continues after its last whole epoch, and ends in the same weights.

    Args:
        config: The configuration.
        data: Folder of the parallel files.
        folder: Holds checkpoints, the model and its translations.
        device: Where it runs.
        report: Told of what a user should know, in a line.
        vocabulary: Folder of the vocabulary, for runs that share one; inside ``folder`` where absent.

    Returns:
        What is to be kept of it, as JSON.

    Raises:
        InputError: The data or the configuration cannot be used, or the folder holds another training.
    """
    texts = read_translation_data(data, config)
    pieces = train_vocabulary(
        [*texts.train.source, *texts.train.target],
        config.vocabulary,
        vocabulary or folder / "vocabulary",
        threads=torch.get_num_threads(),
    )
    _claim(folder, config, texts, pieces, device)
    train = encode_pairs(
        pieces.encode(texts.train.source),
        pieces.encode(texts.train.target),
        config.training.max_length,
    )
    dev = encode_pairs(pieces.encode(texts.dev.source), pieces.encode(texts.dev.target), None)
    torch.manual_seed(config.training.seed)
    model = TranslationModel(config.model, pieces.size).to(device.torch)
    greedy = config.search.model_copy(update={"beam": 1})

    def dev_bleu(now: TranslationModel) -> float:
        return _translated(now, pieces, texts.dev, config.target, greedy, device)[1].bleu

    trained = TranslationTraining(
        config, model, train, dev, device, folder / "checkpoints", report, dev_bleu
    ).run()
    _save(model, folder / "model.safetensors")
    hypotheses, quality, lines = _translated(
        model, pieces, texts.test, config.target, config.search, device
    )
    write_text(folder / f"{config.splits.test}.{config.target}", "\n".join(lines) + "\n")
    report(f"{config.name}: BLEU {quality.bleu:.2f}, chrF {quality.chrf:.2f}")
    return {
        "name": config.name,
        "seed": config.training.seed,
        "config": config.model_dump(mode="json"),
        "data": {
            name: {"pairs": len(text), "sha256": text.origin, "counts": text.counts}
            for name, text in (("train", texts.train), ("dev", texts.dev), ("test", texts.test))
        },
        "left_out": train.left_out,
        "vocabulary": {"pieces": pieces.size, "sha256": pieces.sha256},
        "parameters": model.parameter_counts(),
        "training": _described(trained),
        "test": {**asdict(quality), "cut": sum(hypothesis.cut for hypothesis in hypotheses)},
        "environment": {
            **device.describe(),
            "torch": torch.__version__,
            "python": platform.python_version(),
        },
    }


def _translated(
    model: TranslationModel,
    vocabulary: JointVocabulary,
    text: ParallelText,
    target: str,
    search: SearchSettings,
    device: Device,
) -> tuple[list[Hypothesis], Quality, list[str]]:
    sources: Sequence[IntArray] = [with_end(row) for row in vocabulary.encode(text.source)]
    hypotheses = translate(model, sources, search, device)
    lines = vocabulary.decode([hypothesis.pieces for hypothesis in hypotheses])
    return hypotheses, corpus_quality(lines, text.target, target), lines


def _described(trained: Trained) -> dict[str, Any]:
    epochs: tuple[Epoch, ...] = trained.epochs
    steps = epochs[-1].steps
    seconds, cpu_seconds = sum(e.seconds for e in epochs), sum(e.cpu_seconds for e in epochs)
    return {
        "steps": steps,
        "chosen": trained.chosen,
        "dev_loss": trained.dev_loss,
        "dev_losses": trained.dev_losses,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "cpu_seconds_a_step": cpu_seconds / steps,
        "target_pieces_a_cpu_second": trained.pieces * len(epochs) / cpu_seconds,
        "epochs": [asdict(epoch) for epoch in epochs],
    }


def _claim(
    folder: Path,
    config: TranslationConfig,
    texts: TranslationData,
    vocabulary: JointVocabulary,
    device: Device,
) -> None:
    """Write down what a folder's training is of, or refuse to go on with another."""
    now: dict[str, Any] = {
        "config": config.model_dump(mode="json", exclude={"title", "search"}),
        "data": {**texts.train.origin, **texts.dev.origin},
        "vocabulary": vocabulary.sha256,
        "dtype": device.dtype,
    }
    path = folder / "training.json"
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        write_json(path, now)
        return
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot be read: {error}", where=path, mend="remove the folder"
        ) from error
    if before != now:
        keys = differences(before, now) if isinstance(before, dict) else ["everything"]
        raise InputError(
            f"the folder holds another training; different: {', '.join(keys)}",
            where=folder,
            mend="give another folder",
        )


def _save(model: TranslationModel, path: Path) -> None:
    weights = {name: parameter.detach().cpu() for name, parameter in model.named_parameters()}
    try:
        with written_aside(path) as aside:
            save_file(weights, aside)
    except OSError as error:
        raise unwritable(path, error) from error
    except SafetensorError as error:  # what it makes of a full disk
        raise unwritable(path, OSError(str(error))) from error
