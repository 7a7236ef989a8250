"""Text as contiguous streams side by side, read in windows: what truncated backpropagation through time runs over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xharness.errors import InputError
from xharness.language_modelling.words import Ids

Array = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Window:
    """One step's words.

    Attributes:
        inputs: (time, streams).
        targets: (time, streams), each the word after its input.
    """

    inputs: Array
    targets: Array


@dataclass(frozen=True)
class Streams:
    """A text cut into streams of equal length.

    Attributes:
        inputs: (length, streams).
        targets: (length, streams).
        dropped: Words at the end that do not fill all streams.
    """

    inputs: Array
    targets: Array
    dropped: int

    def windows(self, length: int) -> Iterator[Window]:
        """Yield the windows in order; the last one may be shorter."""
        for start in range(0, len(self.inputs), length):
            stretch = slice(start, start + length)
            yield Window(self.inputs[stretch], self.targets[stretch])

    def steps(self, length: int) -> int:
        """Return the number of windows."""
        return -(-len(self.inputs) // length)


def cut_streams(ids: Ids, streams: int, end_id: int) -> Streams:
    """Cut a text so that stream j holds its j-th part.

    An end of line stands before the first word, so that every word is predicted, the first one too.

    Args:
        ids: (words,).
        streams: Their number.
        end_id: Number of ``<eos>``.
    """
    length = len(ids) // streams
    kept = length * streams
    before = np.concatenate(([end_id], ids[:-1]))
    inputs, targets = (
        np.ascontiguousarray(one[:kept].reshape(streams, length).T, np.int64)
        for one in (before, ids)
    )
    return Streams(inputs, targets, len(ids) - kept)


def require_batch(ids: Ids, streams: int, window: int, split: str) -> None:
    """Refuse a text that does not fill one step.

    Raises:
        InputError: It has fewer words than streams times window.
    """
    if len(ids) < streams * window:
        raise InputError(
            f"{len(ids)} words are less than one batch of {streams} streams of {window}",
            where=f"{split} text",
            mend="give more text, or smaller training.streams or training.window",
        )
