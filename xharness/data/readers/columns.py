"""Tagged words: one word a line in columns, a blank line between sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xharness.data.examples import SplitName, TaggingExample
from xharness.data.lines import read_lines
from xharness.data.readers.labels import LabelReader
from xharness.errors import InputError
from xharness.specs.task import TaskSpec


def read_columns(
    paths: Mapping[str, Path],
    task: TaskSpec,
    split: SplitName,
    options: Mapping[str, Any],
    counts: Counter[str],
) -> list[TaggingExample]:
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
    path = paths["file"]
    token_at, tag_at = int(options.get("token", 0)), int(options.get("tag", 1))
    separator = "\t" if options.get("separator", "tab") == "tab" else None
    comment = options.get("comment")
    skip_ranges = bool(options.get("skip_tokens", False))
    label_of = LabelReader(task, counts)
    examples: list[TaggingExample] = []
    words: list[str] = []
    tags: list[str] = []
    labelled: bool | None = None

    def close() -> None:
        if words:
            sentence_tags = tuple(tags) if labelled else None
            examples.append(TaggingExample(str(len(examples) + 1), tuple(words), sentence_tags))
            words.clear()
            tags.clear()

    previous_blank = True
    for number, line in enumerate(read_lines(path, counts), start=1):
        if not line:
            if previous_blank:
                counts["extra_blank_lines"] += 1
            previous_blank = True
            close()
            continue
        if comment is not None and line.startswith(comment) and not words:
            continue
        previous_blank = False
        cells = line.split("\t") if separator else [cell for cell in line.split(" ") if cell]
        if skip_ranges and cells and not cells[0].isdigit():
            counts["skipped_tokens"] += 1
            continue
        has_tag = len(cells) > tag_at
        if labelled is None:
            labelled = has_tag
        if len(cells) <= token_at or has_tag != labelled:
            raise InputError(
                f"{len(cells)} columns where {(tag_at if labelled else token_at) + 1} are expected",
                where=f"{path}:{number}",
                mend="every line needs a token and a tag, or no line a tag",
            )
        word = cells[token_at]
        if not word:
            counts["empty_tokens"] += 1
        words.append(word)
        if labelled:
            tags.append(label_of(cells[tag_at], path, number))
    close()
    return examples
