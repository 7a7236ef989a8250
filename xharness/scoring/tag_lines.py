"""Reading tag files into integer arrays: one tag a line, a blank line between sentences.

A full submission has ten million such lines, so lines become integers of two bytes without a Python object each: a line
of up to eight bytes is one machine word, and the few distinct words are told apart by a hash whose collisions are
checked for. Files are read in blocks, and two that are to be compared in step, so memory does not grow with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
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


class TagFile:
    """A tag file whose lines are read a block at a time; blank ones at its end are left out.

    Args:
        path: The file.
        vocabulary: Id of each tag, shared by the files that are to be compared; new tags are added as they come.

    Attributes:
        path: The file.
        counts: How often something about the file needed mending; complete when all was read.
    """

    def __init__(self, path: Path, vocabulary: dict[str, int]):
        self.path = path
        self.counts: Counter[str] = Counter()
        self._vocabulary = vocabulary

    def __iter__(self) -> Iterator[IntArray]:
        """Yield the tag ids of some lines, (lines of the block,): ``BLANK`` for blank lines.

        Raises:
            InputError: The file cannot be read, is not UTF-8, holds no tag, or a line holds a tabulator or an inner
                carriage return.
        """
        lines = blank = 0
        for data in byte_blocks(self.path, self.counts):
            ids = _block_ids(data, self.path, lines, self._vocabulary, self.counts)
            lines += len(ids)
            filled = np.flatnonzero(ids != BLANK)
            if not len(filled):
                blank += len(ids)
                continue
            for part in blocks(blank):
                yield np.full(part.stop - part.start, BLANK, np.int32)
            end = int(filled[-1]) + 1
            yield ids[:end]
            blank = len(ids) - end
        if lines == blank:
            raise InputError("no tag in the file", where=self.path, mend="write one tag a line")
        # One blank line ends the last sentence; only those after it are too many.
        self.counts["trailing_blank_lines"] = max(0, blank - 1)


def in_step(predictions: TagFile, gold: TagFile) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the gold and the predicted tag ids of the same lines, a block at a time, both (lines of the block,).

    Raises:
        InputError: A file is unusable, or sentences differ between the two; the message names the first line that does.
    """
    line = 0
    gold_blocks, blocks_here = iter(gold), iter(predictions)
    truth, ids = next(gold_blocks, None), next(blocks_here, None)
    while truth is not None and ids is not None:
        size = min(len(truth), len(ids))
        _check_same_sentences(ids[:size], truth[:size], predictions.path, gold.path, line)
        yield truth[:size], ids[:size]
        line += size
        truth, ids = truth[size:], ids[size:]
        if not len(truth):
            truth = next(gold_blocks, None)
        if not len(ids):
            ids = next(blocks_here, None)
    if truth is not None or ids is not None:
        raise _other_sentences(predictions.path, gold.path, line + 1, "file", ends=ids is None)


def _check_same_sentences(
    ids: IntArray, truth: IntArray, path: Path, gold_path: Path, before: int
) -> None:
    differs = np.flatnonzero((ids == BLANK) != (truth == BLANK))
    if differs.size:
        at = int(differs[0])
        ends = bool(ids[at] == BLANK)
        raise _other_sentences(path, gold_path, before + at + 1, "sentence", ends=ends)


def _other_sentences(
    path: Path, gold_path: Path, line: int, what: str, *, ends: bool
) -> InputError:
    here, there = ("ends", "goes on") if ends else ("goes on", "ends")
    return InputError(
        f"the {what} {here} here but {there} at {gold_path}:{line}",
        where=f"{path}:{line}",
        mend="write one tag for each gold tag",
    )


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
