"""Sentence pairs: one pair a line, cells separated by tabs, no quoting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xharness.data.examples import PairExample, SplitName
from xharness.data.lines import LineFile
from xharness.data.readers.labels import NO_GOLD, LabelReader
from xharness.data.readers.line_examples import parsed
from xharness.errors import InputError
from xharness.specs.task import TaskSpec

#: PAWS-X puts this in place of a sentence that was not translated.
PLACEHOLDER = "NS"


def read_pair_tsv(
    paths: Mapping[str, Path],
    task: TaskSpec,
    split: SplitName,
    options: Mapping[str, Any],
    counts: Counter[str],
) -> Sequence[PairExample]:
    """Read sentence pairs.

    Options: ``columns``: position of ``premise``, ``hypothesis`` and ``label``; ``header``: whether the
    first line names columns; ``extra_columns``: whether further cells may follow.

    A file in which no line has a label column is read as unlabelled. Quotes are ordinary characters, as in
    the official files. Rows labelled ``-`` are dropped and counted; placeholder rows are kept and counted;
    blank lines at the end are dropped and counted.

    Raises:
        InputError: Too few or too many cells, or an unknown label.
    """
    path = paths["file"]
    columns = {"premise": 0, "hypothesis": 1, "label": 2, **options.get("columns", {})}
    first = 2 if options.get("header") else 1
    width = max(columns.values()) + 1
    rows = (line.split("\t") for number, line in LineFile(path, Counter()) if number >= first)
    labelled = any(len(row) >= width for row in rows)
    table = _Table(task, columns, first, labelled, bool(options.get("extra_columns")))
    return parsed(path, counts, table.pairs)


@dataclass(frozen=True)
class _Table:
    """Which columns there are, at which line they begin, and whether there are labels and more cells."""

    task: TaskSpec
    columns: Mapping[str, int]
    first: int
    labelled: bool
    extra: bool

    def pairs(self, file: LineFile, before: int) -> Iterator[PairExample]:
        """Yield the pairs from a file's next line on."""
        at = self.columns
        expected = max(at.values() if self.labelled else (at["premise"], at["hypothesis"])) + 1
        pair_of = PairReader(self.task, file.path, file.counts)
        blank: list[int] = []
        for number, line in file:
            if number < self.first:
                continue
            if not line:
                blank.append(number)
                continue
            row = line.split("\t")
            if blank:
                number, row = blank[0], [""]
            if len(row) < expected or (len(row) > expected and not self.extra):
                raise InputError(
                    f"{len(row)} cells where {expected} are expected",
                    where=f"{file.path}:{number}",
                    mend="cells are separated by one tab and hold none",
                )
            label = row[at["label"]] if self.labelled else None
            name = str(number - self.first + 1)
            pair = pair_of(name, row[at["premise"]], row[at["hypothesis"]], label, number)
            if pair is not None:
                yield pair
        file.counts["blank_trailing_lines"] += len(blank)


class PairReader:
    """The rules that hold for a sentence pair wherever it was stored.

    Args:
        task: The task whose labels are valid.
        source: What messages call the file or table.
        counts: Where drops and oddities are counted.
    """

    def __init__(self, task: TaskSpec, source: object, counts: Counter[str]):
        self._label_of = LabelReader(task, counts)
        self._source = source
        self._counts = counts

    def __call__(
        self, name: str, premise: str, hypothesis: str, label: str | None, line: int
    ) -> PairExample | None:
        """Return the pair, or ``None`` for one without a gold label, which is counted.

        Args:
            name: Id of the example.
            premise: First sentence.
            hypothesis: Second sentence.
            label: Label as stored; ``None`` where the source is unlabelled.
            line: Line or row, for messages.

        Raises:
            InputError: An unknown label.
        """
        if label is not None:
            label = label.strip()
            if label == NO_GOLD:
                self._counts["rows_without_gold_label"] += 1
                return None
            label = self._label_of(label, self._source, line)
        if PLACEHOLDER in (premise.strip(), hypothesis.strip()):
            self._counts["placeholder_rows"] += 1
        if not premise.strip() or not hypothesis.strip():
            self._counts["empty_sentences"] += 1
        return PairExample(name, premise, hypothesis, label)
