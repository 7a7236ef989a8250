"""Encoded splits: flat arrays that a model reads, and their file form."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from xharness.errors import InputError
from xharness.specs.recipe import Settings
from xharness.tasks.pieces import (
    IndexArray,
    IntArray,
    PieceTokenizer,
    Ragged,
    Template,
    ranges,
    starts_of,
)

Types = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Encoding:
    """Windows of pieces, special tokens included.

    Attributes:
        ids: Piece ids of all windows, one after the other.
        starts: Window ``i`` is ``ids[starts[i]:starts[i + 1]]``.
        types: Token types, aligned with ``ids``; empty where the model takes none.
        counts: Truncations and fallbacks, by name.
    """

    ids: IntArray
    starts: IndexArray
    types: Types
    counts: dict[str, int]

    kind: ClassVar[str] = ""

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> IndexArray:
        """Pieces in each window."""
        return np.diff(self.starts)

    def windows(self, rows: IndexArray) -> IndexArray:
        """Return the windows of some rows: themselves, but for a kind whose rows have several windows each."""
        return rows

    def save(self, path: Path) -> None:
        """Write the arrays as safetensors, aside first and then renamed."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "counts"}
        aside = path.with_name(f".{path.name}.partial")
        metadata = {"kind": self.kind, "counts": json.dumps(self.counts, sort_keys=True)}
        save_file({name: np.ascontiguousarray(a) for name, a in arrays.items()}, aside, metadata)
        aside.replace(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what ``save`` wrote.

        Raises:
            InputError: The file is damaged or of another kind.
        """
        try:
            with safe_open(path, framework="numpy") as file:
                metadata = file.metadata()
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if metadata["kind"] != cls.kind:
                raise KeyError(metadata["kind"])
            return cls(**arrays, counts=json.loads(metadata["counts"]))
        except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"damaged cache file: {error}", where=path, mend="delete it"
            ) from error


def window_room(settings: Settings, tokenizer: PieceTokenizer, specials: int) -> int:
    """Return how many pieces a window holds beside its special tokens.

    Raises:
        InputError: Fewer than two.
    """
    room = min(settings.max_length, tokenizer.max_length) - specials
    if room < 2:
        raise InputError(
            f"windows of {room + specials} pieces have no room beside {specials} special tokens",
            where="max_length",
            mend="use --set max_length=N, or a model that takes longer inputs",
        )
    return room


def wrap_single(pieces: Ragged, template: Template) -> tuple[IntArray, IndexArray]:
    """Put the special tokens of one segment around every row; return ids and starts."""
    before, after = template.single
    lengths = pieces.lengths + len(before) + len(after)
    starts = starts_of(lengths)
    ids = np.empty(int(starts[-1]), np.int32)
    _fill(ids, starts[:-1], before)
    ids[ranges(starts[:-1] + len(before), pieces.lengths)] = pieces.values
    _fill(ids, starts[1:] - len(after), after)
    return ids, starts


def wrap_pair(
    first: Ragged, second: Ragged, template: Template, with_types: bool
) -> tuple[IntArray, IndexArray, Types, IndexArray]:
    """Put the special tokens of two segments around every pair of rows.

    Returns:
        Ids, starts, types (empty unless ``with_types``) and the position in its window at which each second
        segment begins.
    """
    before, between, after = template.pair
    second_at = len(before) + first.lengths + len(between)
    lengths = second_at + second.lengths + len(after)
    starts = starts_of(lengths)
    ids = np.empty(int(starts[-1]), np.int32)
    begin = starts[:-1]
    _fill(ids, begin, before)
    ids[ranges(begin + len(before), first.lengths)] = first.values
    _fill(ids, begin + second_at - len(between), between)
    ids[ranges(begin + second_at, second.lengths)] = second.values
    _fill(ids, starts[1:] - len(after), after)
    types = np.empty(0, np.uint8)
    if with_types:
        parts = np.stack(
            [
                np.full(len(first), len(before)),
                first.lengths,
                np.full(len(first), len(between)),
                second.lengths,
                np.full(len(first), len(after)),
            ],
            axis=1,
        )
        kinds = np.tile(np.array(template.pair_types, np.uint8), len(first))
        types = np.repeat(kinds, parts.reshape(-1))
    return ids, starts, types, second_at


def _fill(ids: IntArray, at: IndexArray, tokens: tuple[int, ...]) -> None:
    for shift, token in enumerate(tokens):
        ids[at + shift] = token
