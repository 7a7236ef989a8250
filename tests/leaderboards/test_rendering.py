"""Tables as markdown, CSV, JSON and LaTeX."""

from __future__ import annotations

import csv
import json
import re
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records.examples import make_record
from xharness.leaderboards.published import read_published
from xharness.leaderboards.rendering.csv import csv_table
from xharness.leaderboards.rendering.json import json_table
from xharness.leaderboards.rendering.latex import latex_table
from xharness.leaderboards.rendering.markdown import markdown, markdown_table
from xharness.leaderboards.rendering.terminal import terminal
from xharness.leaderboards.table import Table, Tables, build_tables
from xharness.printable import printable
from xharness.specs.registry import benchmark_of_suite

HOSTILE = "<script>alert(1)</script>|`x`_*[a](b)$y$&%#{}~^\\\n\x1b[31m\u202e"


@pytest.fixture(scope="module")
def seven() -> Tables:
    benchmark = benchmark_of_suite("xtreme-seven")
    return build_tables([], benchmark, published=read_published())


def own(model: str = "m") -> Tables:
    """PAWS-X with two seeds that differ, XNLI with a hole."""
    first, second = (
        make_record("pawsx", seed, model, {"en": english})
        for seed, english in ((1, 71.0), (2, 64.0))
    )
    records = [first, second, make_record("xnli", 1, model, {"sw": None})]
    return build_tables(records, benchmark_of_suite("xtreme"))


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def markdown_row(text: str, model: str) -> dict[str, str]:
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("|   # |"))
    rows = [cells(line) for line in lines[start + 2 :] if line.startswith("|")]
    found = next(row for row in rows if row[1].startswith(model))
    return dict(zip(cells(lines[start]), found, strict=True))


def test_markdown_has_the_shape_of_table_16(seven: Tables) -> None:
    text = markdown_table(seven.tasks)
    row = markdown_row(text, "RemBERT")
    assert row["#"] == "2"
    assert row["XQuAD EM/F1"] == "64.0/79.6"
    assert row["TyDiQA-GoldP EM/F1"] == "**63.0/77.0**"  # the best, as a mean of both
    assert row["POS"] == "**76.5**"
    assert (row["average over tasks"], row["average over categories"]) == ("74.4", "75.4")
    filter_row = markdown_row(text, "FILTER")
    assert filter_row["model"] == "FILTER[^1][^2][^3][^4]"
    assert "[^1]: average over tasks (RemBERT paper, Table 16): printed 74.9" in text
    letter = row["source"].split(", ")[-1]
    assert f"- {letter}: [RemBERT paper, Table 16](https://arxiv.org/abs/2010.12821)" in text


def test_holes_are_listed_with_their_reason(seven: Tables) -> None:
    text = markdown_table(seven.tasks)
    line = next(line for line in text.splitlines() if line.startswith("- mT5-Base (zero-shot)"))
    assert "POS not published" in line
    assert "XQuAD, MLQA, TyDiQA-GoldP exact\\_match not published" in line
    assert markdown_row(text, "mT5-XXL")["XQuAD EM/F1"] == "-/82.5"
    assert "- m (zero-shot): sw no data" in markdown_table(own().by_task["xnli"])


def test_language_pages_have_gap_and_groups() -> None:
    text = markdown_table(own().by_task["pawsx"])
    # English 71 and 64, the others 50: gaps 21 and 14.
    assert markdown_row(text, "m")["gap"] == "17.5 ± 4.9"
    assert "## Mean by family" in text
    assert "| Korean (isolate) |" in re.sub(r" +", " ", text)


def test_csv_has_every_figure_at_full_precision(seven: Tables) -> None:
    rows = list(csv.DictReader(StringIO(csv_table(seven.tasks))))
    rembert = next(row for row in rows if row["model"] == "RemBERT")
    assert float(rembert["average"]) == (80.8 + 76.5 + 70.1 + 87.5 + 71.8 + 64.05 + 70.0) / 7
    assert (rembert["xquad.exact_match"], rembert["xquad.f1"]) == ("64.0", "79.6")
    assert rembert["rank"] == "2"
    holed = next(row for row in rows if row["model"] == "mT5-XXL")
    assert (holed["average"], holed["xquad"], holed["xquad.f1"]) == ("", "", "82.5")
    pawsx = next(iter(csv.DictReader(StringIO(csv_table(own().by_task["pawsx"])))))
    assert (pawsx["en"], pawsx["en.seeds"]) == ("67.5", "2")
    assert float(pawsx["en.sd"]) == pytest.approx(24.5**0.5)
    assert float(pawsx["family.Indo-European"]) == pytest.approx((67.5 + 3 * 50) / 4)


def test_json_is_a_list_of_rows(seven: Tables) -> None:
    rows = json.loads(json_table(seven.tasks))
    row = next(row for row in rows if row["model"] == "FILTER")
    assert row["average"] == pytest.approx(74.4214, abs=1e-4)
    assert row["averages"]["categories"] == pytest.approx(75.6167, abs=1e-4)
    assert row["parts"]["xquad"] == {"f1": 82.4, "exact_match": 68.0}
    assert row["setting"] == "extra translations"
    assert row["source"] == "RemBERT paper, Table 16, https://arxiv.org/abs/2010.12821"
    assert any("printed 74.9, its cells give 74.42" in remark for remark in row["remarks"])
    mine = json.loads(json_table(own().tasks))[0]
    assert (mine["cells"]["xnli"], mine["average"]) == (None, None)
    assert mine["seeds"]["pawsx"] == 2
    assert mine["deviations"]["pawsx"] == pytest.approx(24.5**0.5 / 7)
    assert json.loads(json_table(own().by_task["pawsx"]))[0]["gap"] == 17.5


@pytest.mark.parametrize("name", ["tasks", "categories", "xquad"])
def test_every_format_shows_the_same_numbers(seven: Tables, name: str) -> None:
    table = next(table for table in seven.all if table.name == name)
    by_csv = list(csv.DictReader(StringIO(csv_table(table))))
    by_json = json.loads(json_table(table))
    assert len(by_csv) == len(by_json) == len(table.rows)
    for line, row in zip(by_csv, by_json, strict=True):
        assert (line["model"], line["setting"]) == (row["model"], row["setting"])
        for column, value in row["cells"].items():
            assert line[column] == ("" if value is None else repr(value))
        assert line["average"] == ("" if row["average"] is None else repr(row["average"]))


def test_latex_is_booktabs_with_the_best_in_bold(seven: Tables) -> None:
    text = latex_table(seven.categories, "xtreme-seven-categories")
    assert text.count("\\begin{table}") == text.count("\\end{table}") == 1
    for rule in ("toprule", "midrule", "bottomrule"):
        assert f"\\{rule}" in text
    line = next(line for line in text.splitlines() if line.strip().startswith("RemBERT\\text"))
    assert "& 84.2 & \\textbf{73.3} & \\textbf{68.6} & 75.4 & 74.4 \\\\" in line
    assert "\\label{tab:xtreme-seven-categories}" in text
    assert "\\url{https://arxiv.org/abs/2010.12821}" in text


def test_wide_latex_tables_come_in_parts_that_hold_every_language() -> None:
    table = build_tables([make_record("panx")], benchmark_of_suite("xtreme")).by_task["panx"]
    text = latex_table(table, "x")
    headers = [line for line in text.splitlines() if line.strip().startswith("Model & Setting")]
    assert max(len(header.split("&")) for header in headers) <= 12
    titles = [title.strip(" \\") for header in headers for title in header.split("&")[2:]]
    assert titles[:42] == [*table.columns, "average", "gap"]
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert len(labels) == len(set(labels)) == len(headers)


def _tables() -> list[Table]:
    tables = own(HOSTILE)
    return [tables.tasks, tables.categories, tables.by_task["xnli"]]


@pytest.mark.parametrize("table", _tables(), ids=lambda table: table.name)
def test_a_hostile_name_is_escaped_in_every_text(table: Table) -> None:
    text = markdown_table(table)
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    # One header, one rule and one row a table: the name broke no line and opened no column.
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({len(cells(line)) for line in block.splitlines()}) == 1
    latex = latex_table(table, "x")
    assert "\\textless{}script\\textgreater{}" in latex
    assert "\\$y\\$\\&\\%\\#\\{\\}\\textasciitilde{}\\textasciicircum{}\\textbackslash{}" in latex
    for rendered in (text, latex, terminal(own(HOSTILE)), markdown(own(HOSTILE))):
        assert "\x1b" not in rendered
        assert "\u202e" not in rendered
    assert json.loads(json_table(table))[0]["model"] == HOSTILE
    assert next(iter(csv.DictReader(StringIO(csv_table(table), newline=""))))["model"] == HOSTILE


@given(st.text(max_size=30))
def test_printable_text_is_one_line_and_keeps_every_letter(text: str) -> None:
    shown = printable(text)
    assert len(shown) == len(text)
    assert len(shown.splitlines()) <= 1
    assert [c for c in shown if c.isalnum()] == [c for c in text if c.isalnum()]


@given(st.text(min_size=1, max_size=20))
def test_any_name_comes_back_from_csv_and_json(name: str) -> None:
    if "\ud800" <= max(name) <= "\udfff":
        return
    table = build_tables([make_record(model=name)], benchmark_of_suite("xtreme")).tasks
    assert json.loads(json_table(table))[0]["model"] == name
    reader = csv.reader(StringIO(csv_table(table), newline=""))
    assert list(reader)[1][1] == name


def test_run_pages_show_both_figures_of_a_question_task() -> None:
    tables = build_tables([make_record("xquad")], benchmark_of_suite("xtreme"))
    assert "XQuAD EM/F1" in markdown(tables)
    assert "50.0/50.0" in terminal(tables)
