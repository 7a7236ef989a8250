"""Multiple choice: which of some answers fits a context and a question (XCOPA, Social IQa)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from xharness.data.examples import ChoiceExample, PairExample
from xharness.specs.recipe import Settings
from xharness.specs.task import TaskSpec
from xharness.tasks import pair_classification
from xharness.tasks.encoding import Encoding
from xharness.tasks.pieces import IndexArray, PieceTokenizer, ranges, starts_of


@dataclass(frozen=True)
class ChoiceEncoding(Encoding):
    """One window a choice; an example's windows are batched, trained on and decided together.

    The number of choices may differ from example to example.

    Attributes:
        first_windows: Example ``i`` has the windows ``first_windows[i]`` up to ``first_windows[i + 1]``.
        labels: Index of the right choice of each example, -1 where unknown.
    """

    first_windows: IndexArray
    labels: npt.NDArray[np.int64]

    kind: ClassVar[str] = "multiple_choice"

    def __len__(self) -> int:
        """Return the number of examples."""
        return len(self.labels)

    @property
    def choices(self) -> IndexArray:
        """Number of choices of each example."""
        return np.diff(self.first_windows)

    @property
    def lengths(self) -> IndexArray:
        """Pieces that each example takes in a batch: its longest window, once for every choice."""
        if not len(self):
            return np.zeros(0, np.int64)
        windows = np.diff(self.starts)
        longest = np.maximum.reduceat(windows, self.first_windows[:-1])
        return np.asarray(longest * self.choices, np.int64)

    def windows(self, rows: IndexArray) -> IndexArray:
        """Return all windows of some examples, in order."""
        return ranges(self.first_windows[rows], self.choices[rows])


def encode(
    examples: Sequence[ChoiceExample], task: TaskSpec, tokenizer: PieceTokenizer, settings: Settings
) -> ChoiceEncoding:
    """Encode each choice as a pair: context, a blank and the question; then the choice.

    That is the official input (``run_xcopa.py``), cut as sentence pairs are, the longer side first.
    """
    pairs = [
        PairExample(e.id, f"{e.context} {e.question}", choice, None)
        for e in examples
        for choice in e.choices
    ]
    encoded = pair_classification.encode(pairs, task, tokenizer, settings)
    cut = encoded.counts.get("truncated_pairs", 0)
    return ChoiceEncoding(
        encoded.ids,
        encoded.starts,
        encoded.types,
        {"truncated_choices": cut} if cut else {},
        starts_of([len(e.choices) for e in examples]),
        np.array([-1 if e.label is None else e.label for e in examples], np.int64),
    )
