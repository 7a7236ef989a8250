"""Building token shards from a corpus; parts that are already there and fit are kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from xharness.data.lines import digest
from xharness.errors import InputError
from xharness.files import write_json
from xharness.pretraining.corpus import CorpusFiles, read_lines
from xharness.pretraining.shard_writing import ShardWriter
from xharness.pretraining.shards import (
    INDEX,
    SPLITS,
    Index,
    Part,
    Shards,
    SourceFile,
    Split,
    open_shards,
    read_index,
)
from xharness.pretraining.tokenising import Tokenising, token_rules
from xharness.pretraining.vocabulary import Vocabulary

#: Ids in one file.
SHARD_TOKENS = 1 << 28

_OURS = re.compile(r"\.?[A-Za-z0-9_-]+\.(?:train|dev)\.[0-9]+\.bin(?:\.partial)?")

_Parts = dict[str, dict[Split, Part]]


@dataclass(frozen=True)
class _Job:
    """A split of a language that is to be tokenised."""

    language: str
    split: Split
    paths: tuple[Path, ...]
    sources: tuple[SourceFile, ...]

    @property
    def stem(self) -> str:
        return f"{self.language}.{self.split}"


def build_shards(
    corpus: Mapping[str, CorpusFiles],
    vocabulary: Vocabulary,
    into: Path,
    *,
    processes: int = 1,
    separate_lines: bool = False,
    console: Console | None = None,
    shard_tokens: int = SHARD_TOKENS,
) -> Shards:
    """Tokenise a corpus; a part of the same text, tokenizer and options that is whole on disk is kept.

    The result does not depend on the number of processes. Killed half-way, the next call goes on after the last
    finished language and split. Calls for the same folder at the same time wait for each other.

    Args:
        corpus: The text.
        vocabulary: The tokenizer.
        into: The folder of shards, used for nothing else.
        processes: Processes to tokenise in; with 1 it is done in this one.
        separate_lines: Put the end token after each line; without it lines follow each other directly.
        console: Where to show a bar, and a line for each finished part.
        shard_tokens: Ids in one file at most.

    Returns:
        The shards of the corpus' languages.

    Raises:
        InputError: Text cannot be read, the folder cannot be written, or a process was ended.
    """
    rules = token_rules(vocabulary, separate_lines)
    header = Index(
        vocabulary=vocabulary.sha256,
        dtype=rules.dtype,
        separate_lines=separate_lines,
        languages={},
    )
    with _locked(into):
        before = _parts_before(into, header)
        parts = {name: dict(splits) for name, splits in before.items() if name not in corpus}
        jobs: list[_Job] = []
        for job in _all_jobs(corpus):
            part = before.get(job.language, {}).get(job.split)
            if part is not None and part.sources == job.sources and _whole(into, part):
                parts.setdefault(job.language, {})[job.split] = part
            else:
                jobs.append(job)
        _write_index(into, header, parts)
        _remove_leftovers(into, parts)
        if jobs:
            with Tokenising(rules, processes) as tokenising, _Display(console, jobs) as display:
                for job in jobs:
                    part = _build(job, into, tokenising, shard_tokens, display)
                    parts.setdefault(job.language, {})[job.split] = part
                    _write_index(into, header, parts)
                    display.finished(job, part)
        return open_shards(into, list(corpus))


@contextmanager
def _locked(into: Path) -> Iterator[None]:
    lock = FileLock(into / ".lock")
    try:
        into.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=into) from error
    try:
        yield
    finally:
        lock.release()


def _all_jobs(corpus: Mapping[str, CorpusFiles]) -> Iterator[_Job]:
    for language, files in sorted(corpus.items()):
        held_out = () if files.dev is None else (files.dev,)
        splits: tuple[tuple[Split, tuple[Path, ...]], ...] = (
            ("train", files.train),
            ("dev", held_out),
        )
        for split, paths in splits:
            if paths:
                sources = tuple(SourceFile(name=p.name, sha256=digest(p)) for p in paths)
                yield _Job(language, split, paths, sources)


def _parts_before(into: Path, header: Index) -> _Parts:
    """Return the parts of an earlier call with the same tokenizer and options."""
    try:
        index = read_index(into)
    except InputError:  # absent, or damaged and so built again
        return {}
    same = index.model_copy(update={"languages": {}}) == header
    return index.languages if same else {}


def _whole(into: Path, part: Part) -> bool:
    try:
        return all(digest(into / file.name) == file.sha256 for file in part.files)
    except InputError:
        return False


def _write_index(into: Path, header: Index, parts: _Parts) -> None:
    ordered = {
        language: {split: parts[language][split] for split in SPLITS if split in parts[language]}
        for language in sorted(parts)
    }
    index = header.model_copy(update={"languages": ordered})
    write_json(into / INDEX, index.model_dump(mode="json"))


def _remove_leftovers(into: Path, parts: _Parts) -> None:
    """Remove shards of other text or options, and half-written ones."""
    kept = {file.name for splits in parts.values() for p in splits.values() for file in p.files}
    for path in into.iterdir():
        if _OURS.fullmatch(path.name) and path.name not in kept:
            try:
                path.unlink()
            except OSError as error:
                raise InputError(f"cannot be removed: {error.strerror}", where=path) from error


def _build(
    job: _Job, into: Path, tokenising: Tokenising, shard_tokens: int, display: _Display
) -> Part:
    counts: Counter[str] = Counter()
    lines = chain.from_iterable(read_lines(path, counts) for path in job.paths)
    with ShardWriter(into, job.stem, shard_tokens) as writer:
        for batch in tokenising(lines):
            writer.write(batch.ids)
            counts["unknown"] += batch.unknown
            counts["left_out"] += batch.left_out
            display.read(counts["file_bytes"])
    if not writer.files:
        raise InputError("the tokenizer makes nothing of this text", where=job.paths[0])
    return Part(
        sources=job.sources,
        files=tuple(writer.files),
        tokens=sum(file.tokens for file in writer.files),
        lines=counts["lines"],
        blank_lines=counts["blank_lines"],
        bytes=counts["bytes"],
        unknown_tokens=counts["unknown"],
        special_tokens_in_text=counts["left_out"],
    )


class _Display:
    """A bar over the text's bytes on disk in a terminal, and a line for each finished part."""

    def __init__(self, console: Console | None, jobs: list[_Job]):
        self._console = console
        self._done = 0
        self._sizes = {job.stem: sum(p.stat().st_size for p in job.paths) for job in jobs}
        self._bar = Progress(
            TextColumn("tokenising"),
            BarColumn(),
            DownloadColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            disable=console is None or not console.is_terminal,
            transient=True,
        )
        self._task = self._bar.add_task("", total=sum(self._sizes.values()))

    def read(self, file_bytes: int) -> None:
        """Show how far the current part's files have been read."""
        self._bar.update(self._task, completed=self._done + file_bytes)

    def finished(self, job: _Job, part: Part) -> None:
        """Tell of a finished part."""
        self._done += self._sizes[job.stem]
        if self._console is not None:
            line = f"{job.stem}: {part.tokens} tokens of {part.lines} lines"
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()
