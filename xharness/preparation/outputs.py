"""What a preparation writes, and the report of what it wrote, dropped and repaired."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TextIO

from xharness.errors import InputError


@dataclass(frozen=True)
class PreparedFile:
    """One file written.

    Attributes:
        path: Where it lies.
        examples: Sentences, pairs, questions, lines or gold pairs in it.
        counts: What was dropped, repaired or fused on the way, by name; nothing that is zero.
    """

    path: Path
    examples: int
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class PreparationReport:
    """What one call of ``prepare`` did.

    Attributes:
        task: The task's name.
        files: The files written, in name order.
        ignored: Raw files that were passed over and outputs that came out empty, each with the
            reason.
        missing: Raw files that the task's official archive holds and this source lacks.
    """

    task: str
    files: tuple[PreparedFile, ...]
    ignored: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def examples(self) -> int:
        """Examples over all files."""
        return sum(file.examples for file in self.files)

    @property
    def counts(self) -> dict[str, int]:
        """The counters summed over all files, in name order."""
        total: Counter[str] = Counter()
        for file in self.files:
            total.update(file.counts)
        return dict(sorted(total.items()))


class OutputFiles:
    """The files of one task: written aside, and renamed together when the last one is complete.

    Used as a context manager: on an exception nothing of the new files stays, and files of an
    earlier preparation are untouched.

    Args:
        folder: Where the files go; made on the first write.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._pending: list[tuple[Path, PreparedFile]] = []
        self.ignored: list[str] = []
        self.missing: list[str] = []

    def __enter__(self) -> OutputFiles:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                for aside, file in self._pending:
                    aside.replace(file.path)
        except OSError as problem:
            raise _unwritable(self._folder, problem) from problem
        finally:
            for aside, _ in self._pending:
                aside.unlink(missing_ok=True)

    def add(
        self,
        name: str,
        blocks: Iterable[str],
        counts: Counter[str],
        *,
        separator: str = "",
        examples: int | None = None,
    ) -> int:
        """Write one file aside.

        Args:
            name: Its path below the folder.
            blocks: Its text, one block an example; drawn once, so it may be a generator.
            counts: Counters of this file; read after the last block, so the generator may fill it.
            separator: What stands between two blocks.
            examples: The number to report where a block is not an example.

        Returns:
            The number of blocks. With none, no file is written, as the official scripts do, and
            the file is named among the ignored.

        Raises:
            InputError: The folder cannot be written, or the text is not encodable.
        """
        path = self._folder / name
        aside = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            stream = aside.open("w", encoding="utf-8", newline="\n")
        except OSError as problem:
            raise _unwritable(path, problem) from problem
        written = 0
        kept = False
        try:
            with stream:
                written = _write(stream, blocks, separator)
            kept = written > 0
        except OSError as problem:
            raise _unwritable(path, problem) from problem
        except UnicodeEncodeError as problem:
            raise InputError(
                f"no character of UTF-8: {problem.object[problem.start]!r}",
                where=path,
                mend="the raw file escapes half of a surrogate pair",
            ) from problem
        finally:
            if not kept:
                aside.unlink(missing_ok=True)
        seen = {key: counts[key] for key in sorted(counts) if counts[key]}
        if not kept:
            told = ", ".join(f"{key} {count}" for key, count in seen.items())
            self.ignored.append(f"{name}: no example left" + (f" ({told})" if told else ""))
        else:
            total = written if examples is None else examples
            self._pending.append((aside, PreparedFile(path, total, seen)))
        return written

    def report(self, task: str) -> PreparationReport:
        """The report of what has been written so far."""
        files = sorted((file for _, file in self._pending), key=lambda file: file.path)
        return PreparationReport(task, tuple(files), tuple(self.ignored), tuple(self.missing))


def _write(stream: TextIO, blocks: Iterable[str], separator: str) -> int:
    written = 0
    for block in blocks:
        if written and separator:
            stream.write(separator)
        stream.write(block)
        written += 1
    return written


def _unwritable(path: Path, problem: OSError) -> InputError:
    return InputError(
        f"cannot write: {problem.strerror or problem}",
        where=path,
        mend="choose another --output folder",
    )
