"""Reading tag files into integer arrays: one tag a line, a blank line between sentences.

A full submission has ten million such lines, so lines become integers of two bytes without a Python object each: a line
of up to eight bytes is one machine word, and the few distinct words are told apart by a hash whose collisions are
checked for. A file is read in blocks, which bounds everything but these integers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xharness.errors import InputError
from xharness.scoring.lines import byte_blocks, decode, refuse_carriage_return

IntArray = NDArray[np.signedinteger[Any]]

#: Id of a blank line in every vocabulary.
BLANK = 0

#: Lines that are worked on at a time: their arrays stay in a processor's cache.
BLOCK_LINES = 1 << 17

_NEWLINE = 10
_WORD = 8
#: ``_ABOVE[n]`` fills the bytes of a little-endian word after the first n with 0xFF, which no UTF-8 text holds.
_ABOVE = np.array([(1 << 64) - (1 << (8 * n)) for n in range(_WORD + 1)], dtype=np.uint64)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio: spreads similar words (Knuth)
_HASH_BITS = 16


@dataclass(frozen=True)
class TagLines:
    """A tag file.

    Attributes:
        path: The file.
        ids: Id of each line's tag, ``BLANK`` for blank lines; those at the end are left out. (lines,)
        counts: How often something about the file needed mending.
    """

    path: Path
    ids: IntArray
    counts: Counter[str]

    def sentences(self) -> int:
        """Return the number of sentences: runs of lines that are not blank."""
        starts = int(self.ids[0] != BLANK)
        for block in blocks(len(self.ids) - 1):
            before, here = self.ids[block], self.ids[block.start + 1 : block.stop + 1]
            starts += int(np.count_nonzero((before == BLANK) & (here != BLANK)))
        return starts

    def occurrences(self, tags: int) -> NDArray[np.int64]:
        """Return how often each of the first ids of the vocabulary occurs, (tags,)."""
        found = np.zeros(tags, np.int64)
        for block in blocks(len(self.ids)):
            found += np.bincount(self.ids[block], minlength=tags)
        return found


def blocks(length: int) -> Iterator[slice]:
    """Yield slices that together cover ``length`` lines."""
    for start in range(0, length, BLOCK_LINES):
        yield slice(start, min(start + BLOCK_LINES, length))


def sentence_numbers(ids: IntArray) -> IntArray:
    """Return for each line the number of its sentence, from 0; a blank line has that of the sentence before it.

    Args:
        ids: Tag ids, ``BLANK`` between sentences. (lines,)
    """
    filled = ids != BLANK
    starts = filled.copy()
    starts[1:] &= ~filled[:-1]
    numbers: IntArray = np.cumsum(starts, dtype=np.int64) - 1
    return numbers


def new_vocabulary() -> dict[str, int]:
    """Return a tag vocabulary that holds the blank line only; reading files adds to it."""
    return {"": BLANK}


def read_tag_lines(path: Path, vocabulary: dict[str, int]) -> TagLines:
    """Read a tag file.

    Args:
        path: The file.
        vocabulary: Id of each tag, shared by the files that are to be compared; new tags are added.

    Raises:
        InputError: The file cannot be read, is not UTF-8, holds no tag, or a line holds a tabulator or an inner
            carriage return.
    """
    counts: Counter[str] = Counter()
    parts: list[IntArray] = []
    lines = 0
    for data in byte_blocks(path, counts):
        part = _block_ids(data, path, lines, vocabulary, counts)
        parts.append(part.astype(np.int16) if len(vocabulary) < 1 << 15 else part)
        lines += len(part)
    end = lines
    while parts and not parts[-1].any():
        end -= len(parts.pop())
    if not parts:
        raise InputError("no tag in the file", where=path, mend="write one tag a line")
    end += int(np.flatnonzero(parts[-1])[-1]) + 1 - len(parts[-1])
    # One blank line ends the last sentence; only those after it are too many.
    counts["trailing_blank_lines"] = max(0, lines - end - 1)
    return TagLines(path, np.concatenate(parts)[:end], counts)


def _block_ids(
    data: bytes, path: Path, before: int, vocabulary: dict[str, int], counts: Counter[str]
) -> IntArray:
    """Return the ids of a block's lines; ``before`` is the number of lines before it."""
    distinct, indices = distinct_lines(data)
    ids = np.empty(len(distinct), dtype=np.int32)
    occurrences = np.bincount(indices, minlength=len(distinct))
    for index, raw in enumerate(distinct):
        bare = raw.removesuffix(b"\r")
        if b"\r" in bare or b"\t" in bare.strip() or not bare.isascii():
            number = before + int(np.flatnonzero(indices == index)[0]) + 1
            _check_line(bare, path, number)
        tag = bare.decode("utf-8")
        stripped = tag.strip()
        ids[index] = vocabulary.setdefault(stripped, len(vocabulary))
        counts["crlf_lines"] += int(occurrences[index]) * (len(bare) != len(raw))
        counts["padded_lines"] += int(occurrences[index]) * (len(stripped) != len(tag))
    lines: IntArray = ids.take(indices)
    return lines


def _check_line(line: bytes, path: Path, number: int) -> None:
    where = f"{path}:{number}"
    decode(line, path, number)
    if b"\r" in line:
        raise refuse_carriage_return(where)
    if b"\t" in line.strip():
        raise InputError(
            f"more than a tag in the line: {decode(line, path, number)!r}",
            where=where,
            mend="write the tag alone, one a line",
        )


def distinct_lines(data: bytes) -> tuple[list[bytes], IntArray]:
    r"""Return the distinct lines of a file and, for every line, the index of its own among them.

    Args:
        data: The file; a last line without ``\n`` counts, an empty rest after the last ``\n`` does not.

    Returns:
        The distinct lines without their ``\n``, and an array of indices. (lines,)
    """
    if not data:
        return [], np.zeros(0, dtype=np.int32)
    if not data.endswith(b"\n"):
        data += b"\n"
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == _NEWLINE)
    starts = np.empty_like(ends)
    starts[0] = 0
    starts[1:] = ends[:-1] + 1
    lengths = ends - starts
    if lengths.max() > _WORD or b"\xff" in data or b"\0" in data:
        return _distinct_any_lines(data)
    padded = data + bytes(_WORD)
    # Every offset as a word of its own: a view, no copy. (bytes,)
    windows: NDArray[np.uint64] = np.ndarray((len(data),), "<u8", padded, strides=(1,))
    words = windows.take(starts)
    words |= _ABOVE.take(lengths)
    hashes = ((words * _MULTIPLIER) >> np.uint64(64 - _HASH_BITS)).view(np.int64)
    owner = np.zeros(1 << _HASH_BITS, dtype=np.uint64)  # no word is 0
    owner[hashes] = words
    if (owner.take(hashes) != words).any():  # two lines share a hash
        return _distinct_any_lines(data)
    places = np.flatnonzero(owner)
    index_of = np.zeros(1 << _HASH_BITS, dtype=np.int32)
    index_of[places] = np.arange(len(places), dtype=np.int32)
    lines = [int(word).to_bytes(_WORD, "little").rstrip(b"\xff") for word in owner[places]]
    return lines, index_of.take(hashes)


def _distinct_any_lines(data: bytes) -> tuple[list[bytes], IntArray]:
    lines = data.split(b"\n")
    lines.pop()
    places = {line: index for index, line in enumerate(dict.fromkeys(lines))}
    return list(places), np.fromiter(map(places.__getitem__, lines), np.int32, count=len(lines))
