"""Token shards: a corpus as flat arrays of ids on disk, memory-mapped."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from xharness.errors import InputError

INDEX = "index.json"

Split = Literal["train", "dev"]
SPLITS: tuple[Split, ...] = get_args(Split)

#: How ids are stored, little-endian: two bytes where the vocabulary fits.
DType = Literal["<u2", "<u4"]

TokenArray = npt.NDArray[np.unsignedinteger[Any]]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceFile(_Strict):
    """A text file that was tokenised."""

    name: str
    sha256: str


class ShardFile(_Strict):
    """A file of ids."""

    name: str = Field(pattern=r"^[A-Za-z0-9_-]+\.(train|dev)\.[0-9]+\.bin$")
    tokens: int = Field(gt=0)
    sha256: str


class Part(_Strict):
    """One split of one language.

    Attributes:
        sources: Its text files, in order.
        files: Its shards, in order.
        tokens: Ids in all shards.
        lines: Lines tokenised.
        blank_lines: Lines left out because they were blank.
        bytes: UTF-8 bytes of text, line ends included.
        unknown_tokens: How many ids are the unknown token.
        special_tokens_in_text: Special tokens that were written out in the text; they are left out.
    """

    sources: tuple[SourceFile, ...]
    files: tuple[ShardFile, ...]
    tokens: int
    lines: int
    blank_lines: int
    bytes: int
    unknown_tokens: int
    special_tokens_in_text: int


class Index(_Strict):
    """What a folder of shards holds.

    Attributes:
        version: Of this layout.
        vocabulary: SHA-256 of the tokenizer.
        dtype: How ids are stored.
        separate_lines: Whether the end token follows each line.
        languages: The parts by language and split.
    """

    version: Literal[1] = 1
    vocabulary: str
    dtype: DType
    separate_lines: bool
    languages: dict[str, dict[Split, Part]]


def read_index(folder: Path) -> Index:
    """Read a folder's index.

    Raises:
        InputError: There is none, or it is damaged.
    """
    path = folder / INDEX
    try:
        return Index.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"no index of token shards: {error.strerror}", where=path) from error
    except ValidationError as error:
        raise InputError("damaged index of token shards", where=path) from error


@dataclass(frozen=True)
class Shards:
    """Token ids of a corpus, one flat sequence a language and split.

    Attributes:
        folder: Where they lie.
        index: What the folder holds.
        languages: Those in view, sorted; the folder may hold more.
    """

    folder: Path
    index: Index
    languages: tuple[str, ...]

    def part(self, language: str, split: Split) -> Part | None:
        """Return the counts of a split, ``None`` where the language has none."""
        return self.index.languages[language].get(split)

    def lines(self, split: Split = "train") -> dict[str, int]:
        """Return the number of lines of each language that has the split."""
        parts = {language: self.part(language, split) for language in self.languages}
        return {language: part.lines for language, part in parts.items() if part is not None}

    def tokens(self, language: str, split: Split) -> int:
        """Return the number of ids, 0 where the language lacks the split."""
        part = self.part(language, split)
        return 0 if part is None else part.tokens

    def read(self, language: str, split: Split, start: int, length: int) -> TokenArray:
        """Return the ids ``start`` to ``start + length - 1``."""
        arrays, starts = self._arrays[language, split]
        at = bisect_right(starts, start) - 1
        ids: TokenArray = arrays[at][start - starts[at] : start - starts[at] + length]
        if len(ids) < length:  # goes on in the next file
            pieces = [ids]
            missing = length - len(ids)
            while missing:
                at += 1
                pieces.append(arrays[at][:missing])
                missing -= len(pieces[-1])
            ids = np.concatenate(pieces)
        return ids

    @cached_property
    def _arrays(self) -> Mapping[tuple[str, Split], tuple[list[TokenArray], list[int]]]:
        opened: dict[tuple[str, Split], tuple[list[TokenArray], list[int]]] = {}
        for language in self.languages:
            for split, part in self.index.languages[language].items():
                arrays = [self._mapped(file) for file in part.files]
                starts = [0, *accumulate(len(array) for array in arrays[:-1])]
                opened[language, split] = arrays, starts
        return opened

    def _mapped(self, file: ShardFile) -> TokenArray:
        path = self.folder / file.name
        try:
            # Slices of a memmap cost several times as much as those of a plain array over the same memory.
            array = cast(TokenArray, np.asarray(np.memmap(path, self.index.dtype, "r")))
        except (OSError, ValueError) as error:
            raise _damaged(path) from error
        if len(array) != file.tokens:
            raise _damaged(path)
        return array


def _damaged(path: Path) -> InputError:
    return InputError("token shard is absent or damaged", where=path, mend="build the shards again")


def open_shards(folder: Path, languages: Sequence[str] | None = None) -> Shards:
    """Open a folder of shards; every file's size is checked, its content when it is built.

    Args:
        folder: The folder that ``build_shards`` wrote.
        languages: Those wanted; all where ``None``.

    Raises:
        InputError: It has no usable index, a wanted language is not in it, or a file is absent or cut short.
    """
    index = read_index(folder)
    wanted = sorted(index.languages if languages is None else set(languages))
    for language in wanted:
        if "train" not in index.languages.get(language, {}):
            raise InputError(f"no token shards of {language}", where=folder / INDEX)
    shards = Shards(folder, index, tuple(wanted))
    _ = shards._arrays  # opening them all checks them
    return shards
