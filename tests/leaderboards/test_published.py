"""Rows of papers: loading, joining, and the averages that their cells give."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

import pytest

from tests.records.examples import make_record
from xharness.errors import InputError
from xharness.leaderboards.published import Published, read_published
from xharness.leaderboards.rows import Row
from xharness.leaderboards.table import Tables, build_tables
from xharness.specs.registry import benchmark_of_suite

FILE = """\
title: A paper
citation: Somebody 2020
url: https://example.org/paper
rows:
  - model: A
    source: Table 1
    languages:
      pawsx: {accuracy: {en: 90.0, de: 80.0}}
  - model: B
    setting: translate-train
    source: Table 2
    averages:
      xtreme: {pawsx: {accuracy: 70.0}}
"""


@cache
def tables_of(suite: str) -> Tables:
    benchmark = benchmark_of_suite(suite)
    return build_tables([], benchmark, published=read_published())


def row(suite: str, model: str, setting: str = "zero-shot") -> Row:
    return next(r for r in tables_of(suite).tasks.rows if (r.model, r.setting) == (model, setting))


def read(folder: Path, text: str, name: str = "paper.yaml") -> list[Published]:
    (folder / name).write_text(text, encoding="utf-8")
    return read_published(folder)


@pytest.mark.parametrize(
    ("model", "setting", "tasks", "categories"),
    [
        ("RemBERT", "zero-shot", 74.39, 75.36),
        ("XLM-R Large (RemBERT Table 16)", "zero-shot", 70.14, 71.48),
        ("VECO", "extra translations", 74.14, 75.16),
        ("STiLTs", "extra task data", 72.66, 73.56),
        ("FILTER", "extra translations", 74.42, 75.62),
    ],
)
def test_both_averages_of_table_16_from_its_cells(
    model: str, setting: str, tasks: float, categories: float
) -> None:
    # Recomputed by hand from the cells of RemBERT's Table 16, a question task entering as (EM + F1) / 2.
    found = row("xtreme-seven", model, setting)
    assert found.average is not None
    assert found.average.value == pytest.approx(tasks, abs=0.005)
    assert found.averages["categories"].value == pytest.approx(categories, abs=0.005)


@pytest.mark.parametrize(
    ("model", "classification", "tagging", "qa"),
    [
        ("STiLTs", 83.95, 69.45, 67.27),
        ("FILTER", 87.65, 71.95, 67.25),
        ("VECO", 87.05, 70.40, 68.02),
        ("XLM-R Large (RemBERT Table 16)", 82.80, 69.60, 62.05),
        ("RemBERT", 84.15, 73.30, 68.62),
    ],
)
def test_categories_of_table_7_from_the_cells_of_table_16(
    model: str, classification: float, tagging: float, qa: float
) -> None:
    rows = tables_of("xtreme-seven").categories.rows
    found = next(r for r in rows if r.model == model and r.average and r.average.value)
    values = {name: cell.value for name, cell in found.cells.items()}
    assert values == pytest.approx(
        {"classification": classification, "tagging": tagging, "qa": qa}, abs=0.005
    )
    assert found.average == row("xtreme-seven", model, found.setting).averages["categories"]


def test_printed_averages_that_the_cells_do_not_give_are_marked_with_both_numbers() -> None:
    filter_row = row("xtreme-seven", "FILTER", "extra translations")
    assert (
        "average over tasks (RemBERT paper, Table 16): printed 74.9, its cells give 74.42"
        in filter_row.remarks
    )
    assert "qa (RemBERT paper, Table 7): printed 68.5, its cells give 67.25" in filter_row.remarks
    xlmr = row("xtreme-seven", "XLM-R Large (RemBERT Table 16)")
    assert "tagging (RemBERT paper, Table 7): printed 69.0, its cells give 69.60" in xlmr.remarks
    for model, setting in (
        ("RemBERT", "zero-shot"),
        ("VECO", "extra translations"),
        ("STiLTs", "extra task data"),
    ):
        assert row("xtreme-seven", model, setting).remarks == ()


def test_the_baseline_is_joined_from_its_sources_and_complete() -> None:
    found = row("xtreme", "XLM-R Large")
    assert found.average is not None
    # 68.25 is the mean of the nine printed averages; the cells of XQuAD by language move it by less than 0.02.
    assert found.average.value == pytest.approx(68.25, abs=0.02)
    assert found.source is not None
    assert "RemBERT paper, Table 16" in found.source
    assert "https://github.com/deepmind/xquad" in found.source
    assert any("printed 68.1" in remark for remark in found.remarks)


def test_published_transfer_gaps() -> None:
    # By hand from the printed cells: PAWS-X 14.1 for mBERT, 9.7 for XLM-R; XQuAD (25.0 + 20.9) / 2 for mBERT.
    def gap(task: str, model: str) -> float | None:
        rows = tables_of("xtreme").by_task[task].rows
        cell = next(r for r in rows if (r.model, r.setting) == (model, "zero-shot")).gap
        return None if cell is None else cell.value

    assert gap("pawsx", "XLM-R Large") == pytest.approx(9.67, abs=0.005)
    assert gap("pawsx", "mBERT") == pytest.approx(14.05, abs=0.005)
    assert gap("xquad", "mBERT") == pytest.approx(22.95, abs=0.05)
    assert gap("udpos", "XLM-R Large") is None  # only six of 33 languages are published


def test_f1_alone_is_shown_and_makes_no_score() -> None:
    found = row("xtreme-seven", "mT5-XXL")
    assert found.cells["xquad"].value is None
    assert found.cells["xquad"].parts == {"f1": 82.5}
    assert found.holes["xquad"] == "exact_match not published"
    assert found.average is not None
    assert found.average.value is None


def test_an_average_with_romanian_is_the_average_of_xtreme_r_alone() -> None:
    # The twelve F1 add up to 782.5; the README prints 65.2.
    assert row("xtreme-r", "mBERT").cells["xquad"].parts["f1"] == pytest.approx(782.5 / 12)
    # Over XTREME's eleven languages F1 is 64.5, as other papers print it, and EM 49.4.
    parts = row("xtreme", "mBERT").cells["xquad"].parts
    assert parts == pytest.approx({"f1": 709.8 / 11, "exact_match": 543.9 / 11})


def test_a_row_without_a_source_is_named_by_file_and_line(tmp_path: Path) -> None:
    text = FILE.replace("    source: Table 1\n", "")
    with pytest.raises(InputError, match=r"paper\.yaml:5: rows\.0\.source: this key is required"):
        read(tmp_path, text)
    with pytest.raises(InputError, match=r"paper\.yaml:6: rows\.0\.source"):
        read(tmp_path, FILE.replace("source: Table 1", "source: ''"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("en: 90.0", "en: 190.0", r":8: rows\.0\.languages\.pawsx\.accuracy\.en: .*100"),
        ("en: 90.0", "en: .nan", r":8: rows\.0\.languages\.pawsx\.accuracy\.en"),
        ("en: 90.0", "xx: 90.0", "'xx' is not a language"),
        ("pawsx: {accuracy: {en", "pawsz: {accuracy: {en", "no task named 'pawsz'"),
        ("accuracy: {en", "f1: {en", "'f1' is none of accuracy"),
        ("xtreme: {pawsx", "xtrem: {pawsx", "no suite named 'xtrem'"),
        ("https://example.org/paper", "javascript:alert(1)", r":3: url"),
        ("https://example.org/paper", "https://e.org/)](http://x", r":3: url"),
        ("setting: translate-train", "seting: x", r":10: rows\.1\.seting: unknown key"),
    ],
)
def test_what_is_wrong_in_a_row_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in FILE
    with pytest.raises(InputError, match=message):
        read(tmp_path, FILE.replace(old, new))


def test_two_sources_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    other = FILE.replace("en: 90.0", "en: 91.0").replace("A paper", "Another")
    read(tmp_path, FILE, "a.yaml")
    rows = read(tmp_path, other, "b.yaml")
    with pytest.raises(
        InputError, match=r"b\.yaml:5: A, pawsx en accuracy: 91\.0 here, 90\.0 at .*a\.yaml:5"
    ):
        build_tables([], benchmark_of_suite("xtreme"), published=rows)


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="rows: there is none"):
        read(tmp_path, FILE[: FILE.index("rows:")] + "rows: []\n")


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no published rows here"):
        read_published(tmp_path)


def test_own_and_published_rows_of_one_name_stay_apart() -> None:
    own = make_record("pawsx", model="RemBERT")
    rows = [
        found
        for found in build_tables(
            [own], benchmark_of_suite("xtreme"), published=read_published()
        ).tasks.rows
        if found.model == "RemBERT"
    ]
    assert [bool(found.records) for found in rows] in ([True, False], [False, True])
    assert {found.cells["pawsx"].value for found in rows} == {50.0, 87.5}


def test_the_strict_profile_is_not_put_beside_published_rows_unawares() -> None:
    record = make_record("udpos", profile="strict")
    suite, published = benchmark_of_suite("xtreme"), read_published()
    with pytest.raises(InputError, match="published rows are of the official scripts"):
        build_tables([record], suite, published=published)
    tables = build_tables([record], suite, published=published, mixed=True)
    assert any("mixed: published rows are of the official scripts" in n for n in tables.tasks.notes)


# What the reference calls each row, where rows here have another name.
_RENAMED = {
    "RemBERT (RemBERT Table 16)": ("RemBERT", "zero-shot"),
    "VECO (RemBERT Table 16)": ("VECO", "extra translations"),
    "FILTER": ("FILTER", "extra translations"),
    "STiLTs": ("STiLTs", "extra task data"),
    "X-STILTs": ("X-STILTs", "extra task data"),
    "ERNIE-M Large (after fine-tuning)": ("ERNIE-M Large", "retrieval after fine-tuning"),
    "RoBERTa-large-MNLI (translate-test)": ("RoBERTa-large-MNLI", "translate-test"),
}

Key = tuple[str, str, str, str | None, str, float]


def _renamed(model: str) -> tuple[str, str]:
    if model in _RENAMED:
        return _RENAMED[model]
    for prefix in ("Translate-train ", "Translate-test "):
        if model.startswith(prefix):
            return model.removeprefix(prefix), prefix.strip().lower()
    if model.endswith(" (translate-train-all)"):
        return model.removesuffix(" (translate-train-all)"), "translate-train-all"
    return model, "zero-shot"


def _reference(path: Path, *, sourced: bool) -> set[Key]:
    found = set()
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            if line["source"].startswith("sourced:") == sourced:
                average = line["language"].startswith("avg")
                language = None if average else line["language"]
                name = _renamed(line["model"])
                found.add((*name, line["task"], language, line["metric"], float(line["value"])))
    return found


def _committed() -> set[Key]:
    found: set[Key] = set()
    for published in read_published():
        name = (published.row.model, published.row.setting)
        found |= {(*name, task, code, figure, v) for task, code, figure, v in published.figures()}
        found |= {(*name, task, None, figure, v) for _, _, task, figure, v in published.averages()}
    return found


@pytest.mark.shared
def test_every_row_is_sourced_in_the_reference_and_none_is_from_memory(shared: Path) -> None:
    reference = shared / "reference"
    sourced = _reference(reference / "xtreme_published.csv", sourced=True)
    committed = _committed()
    assert sourced - committed == set()
    # Sourced in the text of the reference, not in its CSV: the mT5 table's PAWS-X, the VECO repository's XNLI, BUCC in
    # the summary of the VECO paper, and the baseline's figures in RemBERT's Table 16.
    text = (reference / "xtreme.md").read_text(encoding="utf-8")
    baseline = "XLM-R with EM, from [R] Table 16: POS 73.8, XQuAD 76.6/60.8, MLQA 71.6/53.2, TyDi 65.1/45.0 (F1/EM)."
    assert baseline in text
    assert "gives XNLI 79.9, XQuAD 77.5/61.9, Tatoeba 75.1." in text
    assert "summary of the VECO paper adds BUCC 66.0, Tatoeba 57.3, average 68.1." in text
    extra: set[Key] = {
        ("VECO Large (repository run)", "zero-shot", "xnli", None, "accuracy", 79.9),
        ("XLM-R Large", "zero-shot", "bucc2018", None, "f1", 66.0),
        ("XLM-R Large", "zero-shot", "mlqa", None, "f1", 71.6),
        ("XLM-R Large", "zero-shot", "mlqa", None, "exact_match", 53.2),
        ("XLM-R Large", "zero-shot", "tydiqa", None, "f1", 65.1),
        ("XLM-R Large", "zero-shot", "tydiqa", None, "exact_match", 45.0),
    }
    for model, name in (("mBERT", "mBERT"), ("XLM", "XLM"), ("XLM-R Large", "XLM-R")):
        cells = re.search(rf"^\| {name} \| ([0-9.]+) \| ([0-9.]+) \|", text, re.MULTILINE)
        assert cells is not None
        extra.add((model, "zero-shot", "pawsx", None, "accuracy", float(cells[2])))
    assert committed - sourced - extra == set()
    # A cell from memory may stand there for what another source prints of the same run, and for nothing else.
    unverified = _reference(reference / "xtreme_published.csv", sourced=False)
    assert (unverified & committed) - sourced - extra == set()


@pytest.mark.shared
def test_printed_averages_are_those_of_the_reference(shared: Path) -> None:
    text = (shared / "reference" / "rembert.md").read_text(encoding="utf-8")
    for published in read_published():
        if published.file.title != "RemBERT paper" or not published.row.printed:
            continue
        name = published.row.model.removesuffix(" Large (RemBERT Table 16)")
        lines = [line for line in text.splitlines() if re.match(rf"\| {name}( \(|\s*\|)", line)]
        cells = {cell.strip() for line in lines for cell in line.split("|")}
        for printed in published.row.printed:
            for value in printed.figures.values():
                assert f"{value:.1f}" in cells, (name, printed.source, value)
