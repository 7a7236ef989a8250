"""The data of the page hold exactly what the tables hold."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.leaderboards.page.examples import HOSTILE, SOURCE, XTREME, own_records, printed_row
from xharness.errors import InputError
from xharness.leaderboards.cells import Cell
from xharness.leaderboards.page.data import page_data, source_links
from xharness.leaderboards.results import Source
from xharness.leaderboards.table import Tables, build_tables


def data_of(tables: Tables) -> dict[str, Any]:
    return page_data([tables])


def decoded(cell: Any) -> Cell | str:
    """Read a cell of the data as the page does: a cell, or why it is a hole."""
    if isinstance(cell, str):
        return cell
    if not isinstance(cell, list):
        return Cell(cell)
    value, seeds, third, parts = [*cell, None, None][:4]
    read = {k: v if isinstance(v, list) else [v] for k, v in (parts or {}).items()}
    return Cell(
        value,
        None if value is None else third,
        seeds,
        {name: part[0] for name, part in read.items()},
        {name: part[1] for name, part in read.items() if len(part) > 1},
    )


def same(cell: Any, original: Cell) -> bool:
    """Tell whether a cell of the data is the table's, to the last bit; a hole must say why."""
    read = decoded(cell)
    if isinstance(read, str):
        return bool(read) and original.value is None and not original.parts
    return read == original


def test_every_figure_of_every_table_is_there(small: Tables) -> None:
    shown = data_of(small)["suites"][0]["tables"]
    compared = 0
    for table, original in zip(shown, small.all, strict=True):
        assert [column["key"] for column in table["columns"][table["kind"]]] == list(
            original.columns
        )
        assert table["notes"] == list(original.notes)
        for row, source in zip(table["rows"], original.rows, strict=True):
            assert (row["model"], row["setting"]) == (source.model, source.setting)
            assert row.get("remarks", []) == list(source.remarks)
            for key, cell in zip(original.columns, row["cells"][table["kind"]], strict=True):
                assert same(cell, source.cells[key])
                compared += 1
            for group in ("families", "scripts"):
                names = [column["key"] for column in table["columns"].get(group, [])]
                found = getattr(source, group)
                for name, cell in zip(names, row["cells"].get(group, []), strict=True):
                    assert same(cell, found.get(name, Cell(None)))
            assert source.average is not None
            assert same(row["averages"]["average"], source.average)
            assert ("gap" in row) == (source.gap is not None)
            if source.gap is not None:
                assert same(row["gap"], source.gap)
    # Nine tasks and four categories; 167 languages in all, four rows of each (three where MLQA was not run).
    languages = sum(len(task.languages) for task in XTREME.tasks)
    mlqa = len(XTREME.task("mlqa").languages)
    assert compared == 9 * 10 + 4 * 3 + 4 * languages - mlqa


def test_a_hole_says_why(small: Tables) -> None:
    tables = {table["name"]: table for table in data_of(small)["suites"][0]["tables"]}
    rows = {row["model"]: row for row in tables["tasks"]["rows"]}
    places = [column["key"] for column in tables["tasks"]["columns"]["tasks"]]
    own = dict(zip(places, rows["own-with-holes"]["cells"]["tasks"], strict=True))
    assert own["panx"] == "th (no data)"
    assert own["mlqa"] == "not run"
    assert rows["own-with-holes"]["averages"]["average"] == "a figure that enters it is a hole"
    assert rows["partial <b>"]["cells"]["tasks"][1:] == ["not published"] * 8
    panx = {row["model"]: row for row in tables["panx"]["rows"]}["own-with-holes"]
    codes = [column["key"] for column in tables["panx"]["columns"]["languages"]]
    assert panx["cells"]["languages"][codes.index("th")] == "no data"


def test_others_are_the_mean_without_english(small: Tables) -> None:
    table = next(t for t in data_of(small)["suites"][0]["tables"] if t["name"] == "pawsx")
    codes = [column["key"] for column in table["columns"]["languages"]]
    for row in table["rows"]:
        values = {
            code: decoded(c) for code, c in zip(codes, row["cells"]["languages"], strict=True)
        }
        known = {code: cell.value for code, cell in values.items() if isinstance(cell, Cell)}
        others = [value for code, value in known.items() if code != "en" and value is not None]
        english, gap, rest = known["en"], decoded(row["gap"]), decoded(row["others"])
        assert isinstance(gap, Cell)
        assert isinstance(rest, Cell)
        assert english is not None
        assert rest.value == pytest.approx(sum(others) / len(others))
        assert gap.value == pytest.approx(english - sum(others) / len(others))


def test_parts_come_in_the_order_of_print_with_their_spread(small: Tables) -> None:
    tables = {table["name"]: table for table in data_of(small)["suites"][0]["tables"]}
    row = next(r for r in tables["tasks"]["rows"] if r["model"] == "own-three-seeds")
    xquad = row["cells"]["tasks"][list(small.tasks.columns).index("xquad")]
    assert list(xquad[3]) == ["exact_match", "f1"]
    assert xquad[3]["f1"][1] == pytest.approx(
        0.25
    )  # seeds 1, 2, 3 add a quarter, a half and nothing


def test_a_hole_keeps_the_parts_that_are_known(small: Tables) -> None:
    row = replace(small.tasks.rows[0], holes={"xquad": "exact_match not published"})
    cells = {**row.cells, "xquad": Cell(None, parts={"f1": 80.0})}
    tables = replace(small, tasks=replace(small.tasks, rows=(replace(row, cells=cells),)))
    shown = data_of(tables)["suites"][0]["tables"][0]["rows"][0]["cells"]["tasks"]
    assert shown[4] == [None, 0, "exact_match not published", {"f1": 80.0}]


def test_rows_keep_their_key_in_every_table_and_company(small: Tables) -> None:
    def keys(tables: Tables) -> list[dict[str, str]]:
        shown = data_of(tables)["suites"][0]["tables"]
        return [{row["model"]: row["key"] for row in table["rows"]} for table in shown]

    found = keys(small)
    for table in found:
        assert len(set(table.values())) == len(table)
        for model, key in table.items():
            assert key == next(t[model] for t in found if model in t)
    alone = build_tables(own_records(1, "own-three-seeds", (1,)), XTREME)
    assert keys(alone)[0]["own-three-seeds"] == found[0]["own-three-seeds"]


def test_rows_that_look_alike_have_different_keys(small: Tables) -> None:
    row = printed_row("twin", small.tasks.columns, {})
    tables = replace(small, tasks=replace(small.tasks, rows=(row, row, replace(row, source=None))))
    keys = [row["key"] for row in data_of(tables)["suites"][0]["tables"][0]["rows"]]
    assert len(set(keys)) == 3


def test_suites_of_one_name_are_told_apart(small: Tables) -> None:
    strict = build_tables(
        [r.model_copy(update={"profile": "strict"}) for r in own_records(1, "m", (1,))], XTREME
    )
    data: dict[str, Any] = page_data([small, strict])
    suites = data["suites"]
    assert [suite["key"] for suite in suites] == ["xtreme", "xtreme-2"]
    assert [suite["title"] for suite in suites] == ["XTREME (official)", "XTREME (strict)"]


def test_each_record_is_there_once_with_its_provenance(small: Tables) -> None:
    data = data_of(small)
    suite = data["suites"][0]
    records = {record.content_sha256: record for row in small.tasks.rows for record in row.records}
    assert [record["content"] for record in suite["records"]] == list(records)
    for table in suite["tables"]:
        for row, original in zip(
            table["rows"], next(t for t in small.all if t.name == table["name"]).rows, strict=True
        ):
            assert [suite["records"][place]["content"] for place in row["records"]] == [
                record.content_sha256 for record in original.records
            ]
    for shown in suite["records"]:
        record = records[shown["content"]]
        sections = {name: data["parts"][place] for name, place in shown["sections"].items()}
        assert shown["spec"] == record.spec_sha256
        assert shown["seed"] == record.seed
        assert sections["command"] == record.command
        assert sections["environment"] == record.environment
        assert sections["data"]["test"] == record.data.test
        assert sections["protocol"]["settings"] == record.protocol.settings


def test_what_records_share_is_held_once(small: Tables) -> None:
    data = data_of(small)
    places = [record["sections"]["data"] for record in data["suites"][0]["records"]]
    assert len(set(places)) == len(XTREME.tasks) < len(places)


def test_counts_are_summed_over_languages() -> None:
    record = own_records(1, "m", (1,))[0]
    languages = {
        code: result.model_copy(update={"counts": {"examples": 10, "unanswered": i}})
        for i, (code, result) in enumerate(record.languages.items())
    }
    data = data_of(build_tables([record.model_copy(update={"languages": languages})], XTREME))
    counts = data["parts"][data["suites"][0]["records"][0]["sections"]["counts"]]
    assert counts == {"examples": 150, "unanswered": 105}  # 15 languages; 0 + 1 + ... + 14


def test_no_tables_are_an_error() -> None:
    with pytest.raises(InputError, match="there are no tables to show"):
        page_data([])


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_figure_that_is_no_number_is_an_error(small: Tables, value: float) -> None:
    row = printed_row("broken", small.tasks.columns, {"xnli": value})
    tables = replace(small, tasks=replace(small.tasks, rows=(row,)))
    with pytest.raises(InputError, match="XTREME by task, broken, xnli: the figure"):
        page_data([tables])


@pytest.mark.parametrize(
    ("source", "links"),
    [
        (SOURCE, [("RemBERT paper, Table 16", "https://arxiv.org/abs/2010.12821")]),
        ("Paper, Table 1", [("Paper, Table 1", None)]),
        (
            "A (https://a.org/x), B: http://b.org/y.",
            [("A", "https://a.org/x"), ("B", "http://b.org/y")],
        ),
        ("https://a.org/p_(q)", [("https://a.org/p_(q)", "https://a.org/p_(q)")]),
        ("javascript:alert(1)", [("javascript:alert(1)", None)]),
        ("data:text/html,x file:///etc ftp://a", [("data:text/html,x file:///etc ftp://a", None)]),
    ],
)
def test_sources_become_links(source: str, links: list[tuple[str, str | None]]) -> None:
    assert [(link["label"], link.get("href")) for link in source_links(source)] == links


def test_sources_with_an_address_of_their_own_are_taken_as_they_are(small: Tables) -> None:
    sources = (Source("Paper; a (b), Table 1", "https://a.org"), Source("Page", "https://b.org"))
    row = printed_row("m", small.tasks.columns, {})
    row = replace(row, source="; ".join(map(str, sources)), sources=sources)
    tables = replace(small, tasks=replace(small.tasks, rows=(row,)))
    shown = data_of(tables)["suites"][0]["tables"][0]["rows"][0]["sources"]
    assert [(link["label"], link["href"]) for link in shown] == [(s.title, s.url) for s in sources]


@given(st.text(alphabet=st.sampled_from("htps:/. ,;()ajvscrip\"'<>x1\n"), max_size=60))
def test_only_web_addresses_ever_become_links(source: str) -> None:
    for link in source_links(source):
        assert link.get("href", "https://").lower().startswith(("http://", "https://"))
        assert link["label"] in source


def test_hostile_names_are_kept_letter_by_letter(small: Tables) -> None:
    models = [row["model"] for row in data_of(small)["suites"][0]["tables"][0]["rows"]]
    assert set(HOSTILE) <= set(models)
