"""Examples of a file of lines: held in a list, or, of a large file, parsed anew whenever they are asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar, overload

from xharness.data.lines import BEGINNING, LineFile, Place
from xharness.errors import InputError

E = TypeVar("E")

#: Yields the examples of a file from its next line on; the number is that of the examples before it. It must not read
#: ahead: when an example is yielded, the file's next line is the first that has no part in it.
Parse = Callable[[LineFile, int], Iterator[E]]

#: Examples of files up to this size are held in memory, where they take about ten times as much.
HELD_BYTES = 16 << 20

#: Of one example in so many, a stored sequence knows the place in the file.
MARK_EVERY = 1024


def parsed(path: Path, counts: Counter[str], parse: Parse[E]) -> Sequence[E]:
    """Return all examples of a file, which is checked from beginning to end.

    Args:
        path: The file.
        counts: What is dropped, mended or odd in it.
        parse: Its format.

    Raises:
        InputError: The file cannot be read or breaks the format.
    """
    file = LineFile(path, counts)
    try:
        large = path.stat().st_size > HELD_BYTES
    except OSError:
        large = False  # reading it will tell
    examples = parse(file, 0)
    return _stored(file, examples, parse) if large else list(examples)


def _stored(file: LineFile, examples: Iterator[E], parse: Parse[E]) -> StoredExamples[E]:
    stamp = _stamp(file.path)
    marks, count = [BEGINNING], 0
    for _ in examples:
        count += 1
        if count % MARK_EVERY == 0:
            marks.append(file.next)
    return StoredExamples(file.path, parse, marks, count, stamp)


class StoredExamples(Sequence[E]):
    """Examples that stay in their file; of each request the part of the file is parsed that it needs.

    The slice asked for last is kept.

    Args:
        path: The file, known to be without faults.
        parse: Its format.
        marks: The place of every ``MARK_EVERY``-th example.
        count: How many examples there are.
        stamp: Size and time of change that the file must still have.
    """

    def __init__(
        self,
        path: Path,
        parse: Parse[E],
        marks: Sequence[Place],
        count: int,
        stamp: tuple[int, int],
    ):
        self._path, self._parse, self._marks = path, parse, marks
        self._count, self._stamp = count, stamp
        self._latest: tuple[range, list[E]] = (range(0), [])

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> E: ...
    @overload
    def __getitem__(self, index: slice) -> list[E]: ...
    def __getitem__(self, index: int | slice) -> E | list[E]:
        if isinstance(index, slice):
            numbers = range(*index.indices(self._count))
            self._check_unchanged()
            # Whoever works part by part asks for each part several times, one part after the other.
            if numbers != self._latest[0]:
                self._latest = (range(0), [])
                self._latest = (numbers, self._numbered(numbers))
            return list(self._latest[1])
        number = range(self._count)[index]
        return next(self._from(number))

    def __iter__(self) -> Iterator[E]:
        return self._from(0)

    def _numbered(self, numbers: range) -> list[E]:
        if not numbers:
            return []
        first, last = min(numbers[0], numbers[-1]), max(numbers[0], numbers[-1])
        found = list(islice(self._from(first), 0, last - first + 1, abs(numbers.step)))
        return found if numbers.step > 0 else found[::-1]

    def _from(self, number: int) -> Iterator[E]:
        """Yield the examples from one on.

        Raises:
            InputError: The file is no longer what was read.
        """
        self._check_unchanged()
        if not self._count:
            return iter(())
        block = number // MARK_EVERY
        before = block * MARK_EVERY
        file = LineFile(self._path, Counter(), self._marks[block])
        return islice(self._parse(file, before), number - before, None)

    def _check_unchanged(self) -> None:
        if _stamp(self._path) != self._stamp:
            raise InputError("changed while it was in use", where=self._path, mend="start again")


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=path) from error
    return found.st_size, found.st_mtime_ns
