"""Checks of tagged words in columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from xharness.data.checks.content import HANDFUL, Content, Units
from xharness.data.checks.findings import FileReport
from xharness.data.checks.raw_text import is_composed, read_lines
from xharness.data.examples import SplitName
from xharness.specs.task import TaskSpec

#: A sentence of more tokens is cut into several windows whatever the tokenizer.
LONG = 400


@dataclass(frozen=True)
class _Row:
    """What a line holds, and what is odd about it; each distinct line is looked at once."""

    word: str | None
    tag: str | None
    codes: tuple[str, ...]


def check_columns(
    reports: Mapping[str, FileReport], task: TaskSpec, split: SplitName, options: Mapping[str, Any]
) -> Content:
    """Check a file of one word a line; the columns are those that its reader takes."""
    report = reports["file"]
    lines = read_lines(report)
    if lines is None:
        return Content()
    rows = _RowReader(task, options)
    sentences: list[tuple[tuple[str, ...], int]] = []
    tags: set[str | None] = set()
    words: list[str] = []
    start, previous = 0, ""
    for number, line in [*enumerate(lines, start=1), (len(lines) + 1, None)]:
        if not line:
            if words:
                sentences.append((tuple(words), start))
            elif line is not None:
                at_end = not any(lines[number:])
                report.hit("blank_trailing_lines" if at_end else "extra_blank_lines", number)
            words, previous = [], ""
            continue
        row = rows(line, inside=bool(words))
        if row is None:
            continue
        for code in row.codes:
            report.hit(code, number, line)
        if row.word is None:
            continue
        if not words:
            start = number
        words.append(row.word)
        tag = row.tag
        tags.add(tag)
        if tag is not None:
            if tag.startswith("I-") and previous not in (tag, f"B-{tag[2:]}"):
                report.hit("orphan_inside_tags", number, line)
            previous = tag
    _check_sentences(sentences, report)
    if not sentences:
        if "ragged_rows" not in report:
            report.hit("no_examples")
    elif rows.labelled is False:
        report.hit("no_training_labels" if split == "train" else "no_gold")
    elif len(tags) == 1 and len(sentences) > HANDFUL:
        report.hit("constant_gold", sentences[0][1], str(next(iter(tags))), count=len(sentences))
    return Content({"sentences": Units.of(sentences)})


class _RowReader:
    """Reads lines as ``xharness.data.readers.columns`` does, and remembers each distinct one."""

    def __init__(self, task: TaskSpec, options: Mapping[str, Any]):
        self._task = task
        self._token, self._tag = int(options.get("token", 0)), int(options.get("tag", 1))
        self._tabs = options.get("separator", "tab") == "tab"
        self._comment: str | None = options.get("comment")
        self._skip_ranges = bool(options.get("skip_tokens", False))
        self._known: dict[str, _Row | None] = {}
        self.labelled: bool | None = None

    def __call__(self, line: str, inside: bool) -> _Row | None:
        """Return what a line holds; ``None`` for one that is skipped."""
        if self._comment is not None and not inside and line.startswith(self._comment):
            return None
        if line not in self._known:
            self._known[line] = self._read(line)
        return self._known[line]

    def _read(self, line: str) -> _Row | None:
        cells = line.split("\t") if self._tabs else [cell for cell in line.split(" ") if cell]
        if self._skip_ranges and cells and not cells[0].isdigit():
            return None
        has_tag = len(cells) > self._tag
        if self.labelled is None:
            self.labelled = has_tag
        if len(cells) <= self._token or has_tag != self.labelled:
            return _Row(None, None, ("ragged_rows",))
        word = cells[self._token]
        codes = list(_word_codes(word))
        tag = cells[self._tag] if has_tag else None
        if tag is not None and tag not in self._task.labels:
            codes.append("label_aliases" if tag in self._task.label_aliases else "unknown_labels")
            tag = self._task.label_aliases.get(tag, tag)
        return _Row(word, tag, tuple(codes))


def _word_codes(word: str) -> Iterator[str]:
    if not word:
        yield "empty_tokens"
    if "\ufeff" in word:
        yield "byte_order_marks_in_tokens"
    # A word of white space alone, such as U+3000, is a token that official readers took for a blank line.
    if any(character.isspace() for character in word):
        yield "inner_spaces"
    if word == "_":
        yield "placeholder_tokens"
    if not is_composed(word):
        yield "not_nfc"


def _check_sentences(sentences: list[tuple[tuple[str, ...], int]], report: FileReport) -> None:
    seen: set[tuple[str, ...]] = set()
    for words, line in sentences:
        if len(words) > LONG:
            report.hit("long_sentences", line)
        if words in seen:
            report.hit("repeated_sentences", line, " ".join(words))
        seen.add(words)
