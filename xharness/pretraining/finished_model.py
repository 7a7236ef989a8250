"""What a finished pre-training leaves: the model with its tokenizer, and a summary."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from transformers.utils.logging import disable_progress_bar

from xharness.encoder import DecoupledForMaskedLM
from xharness.errors import InputError
from xharness.files import folder_aside
from xharness.inference.device import Device
from xharness.pretraining.config import PretrainingConfig
from xharness.pretraining.vocabulary import Vocabulary

#: What of a tokenizer's folder goes beside the weights.
_TOKENIZER_FILES = ("tokenizer*", "special_tokens_map.json", "sentencepiece*", "*.model")

# Writing takes seconds; a bar for it would stand in every log.
disable_progress_bar()


def write_model(model: DecoupledForMaskedLM, vocabulary: Vocabulary, into: Path) -> None:
    """Write weights and tokenizer aside, then rename.

    Raises:
        InputError: They cannot be written.
    """
    with folder_aside(into) as aside:
        try:
            model.save_pretrained(aside)
        except SafetensorError as error:  # what it makes of a full disk
            raise OSError(str(error)) from error
        for pattern in _TOKENIZER_FILES:
            for path in sorted(vocabulary.path.glob(pattern)):
                shutil.copyfile(path, aside / path.name)


def summarise(
    config: PretrainingConfig,
    model: DecoupledForMaskedLM,
    metrics: list[dict[str, Any]],
    device: Device,
    seconds: float,
    share_of_peak: float,
) -> dict[str, Any]:
    """Return what is worth knowing of a finished pre-training.

    Args:
        config: Its configuration.
        model: Its model.
        metrics: The lines of ``metrics.jsonl``.
        device: Where it ran last.
        seconds: Wall time of all steps.
        share_of_peak: Of the machine's matrix products, a fraction.
    """
    held_out = [line for line in metrics if line["kind"] == "dev"]
    tokens = config.steps * config.batch_size * config.sequence_length
    return {
        "name": config.name,
        "steps": config.steps,
        "tokens": tokens,
        "seconds": seconds,
        "tokens_per_second": tokens / seconds,
        "share_of_matmul_peak": share_of_peak,
        "parameters": {
            "pretraining": sum(p.numel() for p in model.parameters()),
            "fine_tuning": model.rembert.parameters_kept(),
        },
        "held_out": held_out[-1] if held_out else None,
        "device": asdict(device),
    }


def read_summary(path: Path) -> dict[str, Any]:
    """Read the summary of a finished pre-training.

    Raises:
        InputError: It cannot be read.
    """
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            "damaged summary", where=path, mend="remove it; the same command writes it again"
        ) from error


def in_words(summary: Mapping[str, Any], folder: Path) -> str:
    """Return the summary as one line."""
    held = summary["held_out"]
    loss = f"held-out loss {held['mean_loss']:.3f}, " if held else ""
    parameters = summary["parameters"]
    return (
        f"{summary['name']}: {summary['tokens']:,} tokens in {summary['seconds'] / 60:.1f} min, {loss}"
        f"{parameters['pretraining']:,} parameters, {parameters['fine_tuning']:,} kept for fine-tuning: {folder}"
    )
