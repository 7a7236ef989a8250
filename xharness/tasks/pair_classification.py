"""Pair classification: one label for two sentences (XNLI, PAWS-X)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from xharness.data.examples import PairExample
from xharness.specs.recipe import Settings
from xharness.specs.task import TaskSpec
from xharness.tasks.encoding import Encoding, window_room, wrap_pair
from xharness.tasks.pieces import IndexArray, PieceTokenizer


@dataclass(frozen=True)
class PairEncoding(Encoding):
    """One window a pair.

    Attributes:
        labels: Label index of each pair, -1 where unknown.
    """

    labels: npt.NDArray[np.int64]

    kind: ClassVar[str] = "pair_classification"


def encode(
    examples: Sequence[PairExample], task: TaskSpec, tokenizer: PieceTokenizer, settings: Settings
) -> PairEncoding:
    """Encode pairs; the longer sentence is cut first where both do not fit, as the official script does."""
    texts = [e.premise for e in examples] + [e.hypothesis for e in examples]
    distinct = list(dict.fromkeys(texts))
    pieces = tokenizer.texts(distinct)
    index = {text: i for i, text in enumerate(distinct)}
    rows = np.array([index[text] for text in texts], np.int64).reshape(2, -1)
    room = window_room(settings, tokenizer, tokenizer.template.pair_specials)
    keep_first, keep_second = longest_first(pieces.lengths[rows[0]], pieces.lengths[rows[1]], room)
    first, second = pieces.take(rows[0], keep_first), pieces.take(rows[1], keep_second)
    ids, starts, types, _ = wrap_pair(first, second, tokenizer.template, tokenizer.uses_token_types)
    numbers = {label: i for i, label in enumerate(task.labels)}
    labels = np.array([numbers.get(e.label or "", -1) for e in examples], np.int64)
    cut = int(np.sum(pieces.lengths[rows].sum(axis=0) > room))
    return PairEncoding(ids, starts, types, {"truncated_pairs": cut} if cut else {}, labels)


def longest_first(
    first: IndexArray, second: IndexArray, room: int
) -> tuple[IndexArray, IndexArray]:
    """Return the lengths that remain when pieces are taken from the longer side until both fit.

    Where both are equally long, the first is cut last.
    """
    excess = np.maximum(first + second - room, 0)
    level = np.minimum(np.abs(first - second), excess)  # taken from the longer side alone
    from_first = np.where(first > second, level, 0)
    from_second = np.where(second > first, level, 0)
    rest = excess - level
    from_second = from_second + (rest + 1) // 2
    from_first = from_first + rest // 2
    return first - from_first, second - from_second


def labels_of(numbers: npt.NDArray[np.int64], task: TaskSpec) -> list[str]:
    """Return predicted labels from class indices, in example order."""
    return [task.labels[number] for number in numbers]
