"""The tidy file of all cells."""

from __future__ import annotations

from io import BytesIO

import pyarrow.parquet

from tests.records.examples import make_record
from xharness.leaderboards.parquet import TidyCell, parquet, tidy_cells
from xharness.leaderboards.published import read_published


def read(content: bytes) -> list[dict[str, object]]:
    return pyarrow.parquet.read_table(BytesIO(content)).to_pylist()  # type: ignore[no-any-return]


def test_every_figure_is_a_row_and_a_hole_is_null() -> None:
    record = make_record("xquad", 3, "m", {"th": None}).sealed()
    rows = read(parquet(tidy_cells([record], [])))
    assert len(rows) == 11 * 2
    assert list(rows[0]) == list(TidyCell._fields)
    assert {(r["model"], r["task"], r["seed"], r["origin"]) for r in rows} == {
        ("m", "xquad", 3, "record")
    }
    assert {r["source"] for r in rows} == {record.content_sha256}
    assert {r["value"] for r in rows if r["language"] == "th"} == {None}
    assert {r["metric"] for r in rows if r["language"] == "th"} == {"exact_match", "f1"}
    assert {r["value"] for r in rows if r["language"] != "th"} == {50.0}


def test_published_figures_keep_source_and_what_they_average_over() -> None:
    rows = read(parquet(tidy_cells([], read_published())))
    xquad = [
        r for r in rows if (r["model"], r["setting"], r["task"]) == ("mBERT", "zero-shot", "xquad")
    ]
    averages = {(r["suite"], r["metric"]): r["value"] for r in xquad if r["language"] is None}
    # The README's average has Romanian, the mT5 table's has not.
    assert averages == {
        ("xtreme-r", "f1"): 65.2,
        ("xtreme-r", "exact_match"): 50.3,
        ("xtreme", "f1"): 64.5,
    }
    english = next(r for r in xquad if r["language"] == "en" and r["metric"] == "f1")
    assert english["value"] == 83.5
    assert english["source"] == "XQuAD README, tables of results, https://github.com/deepmind/xquad"
    assert (english["seed"], english["profile"], english["origin"]) == (None, None, "published")


def test_the_order_of_the_input_does_not_matter() -> None:
    records = [make_record(task, seed).sealed() for task in ("xnli", "pawsx") for seed in (1, 2)]
    published = read_published()
    content = parquet(tidy_cells(records, published))
    assert content == parquet(tidy_cells(records[::-1], published[::-1]))


def test_no_cell_is_a_file_with_the_columns() -> None:
    assert pyarrow.parquet.read_schema(BytesIO(parquet([]))).names == list(TidyCell._fields)
