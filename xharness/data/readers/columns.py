"""Tagged words: one word a line in columns, a blank line between sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xharness.data.examples import SplitName, TaggingExample
from xharness.data.lines import LineFile
from xharness.data.readers.labels import LabelReader
from xharness.data.readers.line_examples import parsed
from xharness.errors import InputError
from xharness.specs.task import TaskSpec


def read_columns(
    paths: Mapping[str, Path],
    task: TaskSpec,
    split: SplitName,
    options: Mapping[str, Any],
    counts: Counter[str],
) -> Sequence[TaggingExample]:
    """Read tagged sentences.

    Options: ``token`` and ``tag``: column positions; ``separator``: ``tab`` or ``space`` (runs of U+0020);
    ``comment``: lines that begin with this are skipped; ``skip_tokens``: whether rows whose first column is a
    range or decimal (``3-4``, ``8.1``) are skipped, as CoNLL-U needs.

    Only an empty line ends a sentence: a token such as U+3000 or a no-break space is a token. An empty token
    stays a word of its own, so that predictions keep one line for it, and is counted. A file in which no line
    has a tag column is read as unlabelled.

    Raises:
        InputError: Ragged lines or an unknown tag.
    """
    columns = _Columns(
        task,
        int(options.get("token", 0)),
        int(options.get("tag", 1)),
        options.get("separator", "tab") == "tab",
        options.get("comment"),
        bool(options.get("skip_tokens", False)),
    )
    return parsed(paths["file"], counts, columns.sentences)


@dataclass(frozen=True)
class _Columns:
    """Which columns there are, and what else lines may be."""

    task: TaskSpec
    token_at: int
    tag_at: int
    tabs: bool
    comment: str | None
    skip_ranges: bool

    def sentences(self, file: LineFile, before: int) -> Iterator[TaggingExample]:
        """Yield the sentences from a file's next line on, which begins one."""
        counts, label_of = file.counts, LabelReader(self.task, file.counts)
        words: list[str] = []
        tags: list[str] = []
        labelled: bool | None = None
        previous_blank = True
        for number, line in file:
            if not line:
                if previous_blank:
                    counts["extra_blank_lines"] += 1
                previous_blank = True
                if words:
                    before += 1
                    yield _sentence(before, words, tags if labelled else None)
                    words, tags = [], []
                continue
            if self.comment is not None and line.startswith(self.comment) and not words:
                continue
            previous_blank = False
            cells = line.split("\t") if self.tabs else [cell for cell in line.split(" ") if cell]
            if self.skip_ranges and cells and not cells[0].isdigit():
                counts["skipped_tokens"] += 1
                continue
            has_tag = len(cells) > self.tag_at
            if labelled is None:
                labelled = has_tag
            if len(cells) <= self.token_at or has_tag != labelled:
                raise InputError(
                    f"{len(cells)} columns where {(self.tag_at if labelled else self.token_at) + 1} are expected",
                    where=f"{file.path}:{number}",
                    mend="every line needs a token and a tag, or no line a tag",
                )
            word = cells[self.token_at]
            if not word:
                counts["empty_tokens"] += 1
            words.append(word)
            if labelled:
                tags.append(label_of(cells[self.tag_at], file.path, number))
        if words:
            yield _sentence(before + 1, words, tags if labelled else None)


def _sentence(number: int, words: list[str], tags: list[str] | None) -> TaggingExample:
    return TaggingExample(str(number), tuple(words), None if tags is None else tuple(tags))
