"""The states of every layer at every piece, computed once and kept in a file that probes read piece by piece."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from xharness.analysis.encoders import OpenedEncoder, layer_states
from xharness.data.examples import TaggingExample
from xharness.errors import InputError
from xharness.inference.device import Device
from xharness.inference.memory import with_less_memory
from xharness.inference.progress import Progress
from xharness.specs.recipe import Settings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.pieces import IndexArray, ranges, starts_of
from xharness.tasks.tagging import TaggingEncoding, batch_positions, encode

#: States are kept in half precision: half the file, and rounding far below what a probe can tell.
_STORED = np.float16


@dataclass(frozen=True)
class Activations:
    """States of the pieces of words.

    Attributes:
        states: Mapped from a file: (pieces, layers + 1, width), layer 0 being the first block's input.
        word_starts: Word ``i`` has the pieces ``word_starts[i]:word_starts[i + 1]``, one at least.
        counts: Words without pieces and sentences cut, by name.
    """

    states: npt.NDArray[np.float16]
    word_starts: IndexArray
    counts: Counter[str]


def store_activations(
    encoder: OpenedEncoder,
    sentences: Sequence[Sequence[str]],
    settings: Settings,
    path: Path,
    progress: Progress,
) -> Activations:
    """Run sentences through the encoder and keep the states of all layers in a file.

    Args:
        encoder: The encoder.
        sentences: Words of each; a long sentence goes on in a further window.
        settings: For ``max_length``.
        path: The file.
        progress: Told of windows done.

    Raises:
        InputError: A state is too large for half precision or no number, or the file cannot be written.
    """
    examples = [TaggingExample(str(i), tuple(words), None) for i, words in enumerate(sentences)]
    # Words without tags are cut alike for every tagging task.
    encoding = encode(examples, load(TaskSpec, "udpos"), encoder.pieces, settings)
    sizes = _pieces_of_words(encoding, len(encoder.pieces.template.single[1]))
    starts = starts_of(sizes)
    shape = (int(starts[-1]), encoder.layers + 1, encoder.width)
    try:
        states = np.lib.format.open_memmap(path, mode="w+", dtype=_STORED, shape=shape)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=path) from error

    def work(device: Device) -> None:
        for rows, _, found in layer_states(encoder, encoding, device, progress):
            row, position, word = batch_positions(encoding, rows)
            of_piece = torch.from_numpy(np.repeat(row, sizes[word]))
            at = torch.from_numpy(ranges(position, sizes[word]))
            # (pieces of the batch, layers + 1, width)
            taken = torch.stack([state[of_piece, at].float() for state in found], dim=1)
            if not bool((taken.abs() <= np.finfo(_STORED).max).all()):  # NaN fails too
                raise InputError(
                    "a state is beyond half precision, or no number",
                    where=encoder.reference,
                    mend="use --dtype float32, or a checkpoint whose weights are finite",
                )
            states[ranges(starts[word], sizes[word])] = taken.cpu().numpy()

    _, halvings = with_less_memory(encoder.device, work)
    counts = Counter({**encoding.counts, "memory_halvings": halvings})
    return Activations(states, starts, +counts)


def _pieces_of_words(encoding: TaggingEncoding, after: int) -> IndexArray:
    """Return how many pieces each word has: up to the next word of its window, or to the special tokens."""
    ends = np.append(encoding.word_positions[1:], 0)
    last = encoding.word_starts[1:] - 1
    filled = np.diff(encoding.word_starts) > 0
    ends[last[filled]] = encoding.lengths[filled] - after
    return ends - encoding.word_positions
