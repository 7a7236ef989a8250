"""Encoded splits: flat arrays that a model reads, and their file form."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from xharness.errors import InputError
from xharness.files import written_aside
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
        """Write the arrays as safetensors, aside first and then renamed.

        Raises:
            OSError: The file cannot be written.
        """
        arrays = {
            f.name: np.ascontiguousarray(getattr(self, f.name))
            for f in fields(self)
            if f.name != "counts"
        }
        metadata = {"kind": self.kind, "counts": json.dumps(self.counts, sort_keys=True)}
        metadata["sha256"] = _digest(arrays, metadata)
        # Processes share the cache, and two may encode the same split at the same time.
        with written_aside(path, f".{path.name}.{os.getpid()}.partial") as aside:
            try:
                save_file(arrays, aside, metadata)
            except SafetensorError as error:  # what the library makes of a full disk
                raise OSError(str(error)) from error

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what ``save`` wrote.

        Raises:
            InputError: The file is of another kind, or its content is not what was written: one flipped bit would
                otherwise change predictions.
        """
        try:
            with safe_open(path, framework="numpy") as file:
                metadata = file.metadata()
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if metadata["kind"] != cls.kind:
                raise KeyError(metadata["kind"])
            if metadata.pop("sha256") != _digest(arrays, metadata):
                raise ValueError("the content does not fit its digest")
            return cls(**arrays, counts=json.loads(metadata["counts"]))
        except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"damaged cache file: {error}", where=path, mend="delete it"
            ) from error


def _digest(arrays: Mapping[str, npt.NDArray[np.generic]], metadata: Mapping[str, str]) -> str:
    """Return the SHA-256 of arrays, their names, types and shapes, and of what stands beside them."""
    total = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        total.update(f"{name} {array.dtype} {array.shape}\n".encode())
        total.update(array.tobytes())
    return total.hexdigest()


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
