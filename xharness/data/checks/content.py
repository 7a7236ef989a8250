"""What is kept of a checked file to compare it with others: hashes and labels, no text."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

#: Gold of one label on more examples than this is a placeholder; ``xharness.scoring`` has the same rule.
HANDFUL = 5


@dataclass(frozen=True)
class Units:
    """The examples of a file, by hash.

    Attributes:
        hashes: (examples,) hash of each; valid within one process.
        lines: (examples,) line of each; 0 where it has none of its own.
    """

    hashes: npt.NDArray[np.int64]
    lines: npt.NDArray[np.int64]

    @classmethod
    def of(cls, keys: Iterable[tuple[Hashable, int]]) -> Units:
        """Make them from texts (or tuples of texts) and their lines."""
        rows = np.array([(hash(key), line) for key, line in keys], np.int64).reshape(-1, 2)
        return cls(rows[:, 0].copy(), rows[:, 1].copy())


@dataclass(frozen=True)
class Content:
    """What is kept of a file.

    Attributes:
        units: Examples by what they are called, such as ``pairs``.
        labels: Label of each row in order, where rows of several languages' files may be parallel.
        ids: Question ids.
    """

    units: dict[str, Units] = field(default_factory=dict)
    labels: tuple[str | None, ...] = ()
    ids: frozenset[str] = frozenset()
