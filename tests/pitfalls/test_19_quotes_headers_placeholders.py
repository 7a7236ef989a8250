"""Rows that begin with a quote, files with and without a header, placeholder rows: rows in are rows out plus drops."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.pitfalls.submission import write
from xharness.data.examples import PairExample
from xharness.data.readers import READERS
from xharness.errors import InputError
from xharness.preparation import prepare
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec

ROWS = [
    ('"An open quote', "that never ends", "0"),
    ("NS", "NS", "0"),
    ('say ""yes""', '"no"', "1"),
    ("NS", "a sentence", "1"),
    ("", "", "0"),
    ("inner\u2028break", "x\x1d", "1"),
]


def read(path: Path) -> tuple[list[PairExample], Counter[str]]:
    counts: Counter[str] = Counter()
    found = READERS["pair_tsv"]({"file": path}, load(TaskSpec, "pawsx"), "test", {}, counts)
    return list(found), +counts  # type: ignore[arg-type]


def test_every_row_is_read_as_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / "f", "".join("\t".join(row) + "\n" for row in ROWS))
    examples, counts = read(path)
    assert [(e.premise, e.hypothesis, e.label) for e in examples] == ROWS
    assert counts == {"placeholder_rows": 2, "empty_sentences": 1}


def test_dropped_rows_are_counted(tmp_path: Path) -> None:
    rows = [*ROWS, ("no", "majority", "-")]
    path = write(tmp_path / "f", "".join("\t".join(row) + "\n" for row in rows))
    examples, counts = read(path)
    assert len(examples) + counts["rows_without_gold_label"] == len(rows)


@pytest.mark.parametrize("header", [True, False])
def test_the_first_row_is_lost_neither_with_header_nor_without(
    tmp_path: Path, header: bool
) -> None:
    lines = ["id\tsentence1\tsentence2\tlabel\n"] if header else []
    lines += [f"{i}\t{first}\t{second}\t{label}\n" for i, (first, second, label) in enumerate(ROWS)]
    write(tmp_path / "raw/de/test_2k.tsv", "".join(lines))
    report = prepare("pawsx", tmp_path / "raw", tmp_path / "out")
    (file,) = report.files
    assert dict(file.counts)["placeholder_rows"] == 2
    assert [e.premise for e in read(file.path)[0]] == [row[0].strip() for row in ROWS]


def test_a_tab_inside_a_sentence_is_refused_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "f", "a\tb\t0\nc\td\te\t1\n")
    with pytest.raises(InputError, match=r"f:2: 4 cells where 3 are expected"):
        read(path)
