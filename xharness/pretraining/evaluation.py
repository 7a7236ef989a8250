"""Loss and accuracy on held-out text, by language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from xharness.encoder import DecoupledForMaskedLM
from xharness.errors import InputError
from xharness.inference.device import Device
from xharness.pretraining.batches import BatchStream, MaskedBatch
from xharness.pretraining.shards import Shards

_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class HeldOut:
    """How well masked tokens of held-out text are predicted.

    Attributes:
        loss: Mean cross-entropy in nats.
        accuracy: Share predicted rightly, in percent.
        predictions: How many tokens.
    """

    loss: float
    accuracy: float
    predictions: int


def frequency_loss(shards: Shards, language: str, pieces: int) -> float:
    """Return the held-out loss, in nats, of guessing by a language's own piece frequencies: what no context tells.

    Frequencies are those of the training text, half an occurrence added to each piece.

    Args:
        shards: With training and held-out ids of the language.
        language: The language.
        pieces: Size of the vocabulary.
    """
    counts = np.full(pieces, 0.5)
    for start in range(0, tokens := shards.tokens(language, "train"), _AT_ONCE):
        ids = shards.read(language, "train", start, min(_AT_ONCE, tokens - start))
        counts += np.bincount(ids, minlength=len(counts))
    held_out = shards.read(language, "dev", 0, shards.tokens(language, "dev"))
    return float(-np.log(counts / counts.sum())[held_out].mean())


@torch.no_grad()
def evaluate(
    model: DecoupledForMaskedLM,
    stream: BatchStream,
    languages: Sequence[str],
    device: Device,
    rows: int,
    at_once: int,
) -> dict[str, HeldOut]:
    """Return each language's figures; the masks are always the same.

    Args:
        model: The model, left in the mode that it was in.
        stream: Gives the held-out batches.
        languages: Those that have held-out text.
        device: Where the model runs.
        rows: Rows of a language at most, its first ones.
        at_once: Rows computed at a time.

    Raises:
        InputError: The tokenizer knows no token of a language's rows.
    """
    training = model.training
    model.eval()
    found = {}
    for language in languages:
        loss, hits, count = 0.0, 0, 0
        for batch in _first_rows(stream.held_out(language), rows):
            for part in micro_batches(batch, at_once):
                arrays = (part.input_ids, part.positions, part.labels)
                inputs = [torch.from_numpy(array).to(device.torch) for array in arrays]
                with device.autocast():
                    mean, right = model.loss_at(*inputs)
                loss += float(mean) * len(part.labels)
                hits += int(right)
                count += len(part.labels)
        if not count:
            raise InputError(
                f"the tokenizer knows no token of the held-out text of {language}",
                where=language,
                mend="leave the language out, or use a tokenizer that knows its script",
            )
        found[language] = HeldOut(loss / count, 100 * hits / count, count)
    model.train(training)
    return found


def mean_figures(found: dict[str, HeldOut]) -> dict[str, float]:
    """Return the means over languages: ``mean_loss`` in nats, ``mean_accuracy`` in percent."""
    return {
        "mean_loss": sum(held.loss for held in found.values()) / len(found),
        "mean_accuracy": sum(held.accuracy for held in found.values()) / len(found),
    }


def micro_batches(batch: MaskedBatch, rows: int) -> Iterator[MaskedBatch]:
    """Cut a batch into parts of ``rows`` rows; the last may have fewer."""
    for first in range(0, len(batch.input_ids), rows):
        yield _rows(batch, first, first + rows)


def _first_rows(batches: Iterator[MaskedBatch], rows: int) -> Iterator[MaskedBatch]:
    for batch in batches:
        yield _rows(batch, 0, rows)
        rows -= len(batch.input_ids)
        if rows <= 0:
            return


def _rows(batch: MaskedBatch, first: int, stop: int) -> MaskedBatch:
    length = batch.input_ids.shape[1]
    inside = slice(*batch.positions.searchsorted([first * length, stop * length]))
    return MaskedBatch(
        batch.input_ids[first:stop],
        batch.positions[inside] - first * length,
        batch.labels[inside],
        batch.languages[first:stop],
    )
