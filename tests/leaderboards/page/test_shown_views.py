"""The other views in a real Chromium: comparison, transfer gap, provenance, sources and copying."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest

from tests.leaderboards.page.conftest import Opener
from tests.leaderboards.page.examples import SOURCE
from tests.leaderboards.page.shown import MINUS, ROWS, figures, models, printed
from xharness.leaderboards.table import Cell, Tables

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def test_two_models_side_by_side(opened: Opener, small: Tables) -> None:
    page = opened(small, "table=xnli&view=compare")
    table = small.by_task["xnli"]
    one, other = (
        next(r for r in table.rows if r.model == name) for name in ("RemBERT", "own-three-seeds")
    )
    page.get_by_label("Model A").select_option(label="RemBERT (zero-shot)")
    page.get_by_label("Model B").select_option(label="own-three-seeds (zero-shot)")
    shown = figures(page)
    pairs = [(r.average, r.gap, *(r.cells[key] for key in table.columns)) for r in (one, other)]
    assert len(shown) == 2 + 15
    higher = 0
    for (a, b, difference), left, right in zip(shown, *pairs, strict=True):
        assert (a, b) == (printed(left), printed(right))
        assert left is not None
        assert right is not None
        assert left.value is not None
        assert right.value is not None
        assert difference == f"{right.value - left.value:+.1f}".replace("-", MINUS)
        higher += right.value > left.value and left not in pairs[0][:2]
    assert 0 < higher < 15
    summary = page.locator(".summary").inner_text()
    assert f"B is higher in {higher} and lower in {15 - higher} of 15 languages" in summary
    page.get_by_role("button", name="Swap").click()
    assert [row[0] for row in figures(page)] == [row[1] for row in shown]
    before = figures(page)
    page.reload()  # the address keeps the pair
    assert figures(page) == before


def assert_bars_measure(texts: list[str], page: Page) -> None:
    """Check that bars of all rows are as long as their figures, and on the side of zero that the sign says."""
    values = [float(text.replace(MINUS, "-")) for text in texts]
    bars: list[list[float]] = page.locator(ROWS).evaluate_all(
        """rows => rows.map(row => {
          const zero = row.querySelector(".bar .zero").getBoundingClientRect();
          const drawn = row.querySelector(".bar rect");
          const box = drawn ? drawn.getBoundingClientRect() : zero;
          return [box.left - zero.left, box.right - zero.left];
        })"""
    )
    points = max(map(abs, values)) / max(max(abs(left), abs(right)) for left, right in bars)
    for value, (left, right) in zip(values, bars, strict=True):
        assert points * left == pytest.approx(min(value, 0), abs=0.06 + 2 * points)
        assert points * right == pytest.approx(max(value, 0), abs=0.06 + 2 * points)


def test_a_bar_is_as_long_as_its_difference(opened: Opener, small: Tables) -> None:
    page = opened(small, "table=xnli&view=compare")
    assert_bars_measure([row[2] for row in figures(page)], page)


def test_a_hole_has_no_difference(opened: Opener, small: Tables) -> None:
    page = opened(small, "view=compare")
    page.get_by_label("Model A").select_option(label="RemBERT (zero-shot)")
    page.get_by_label("Model B").select_option(label="own-with-holes (zero-shot)")
    row = page.locator(ROWS, has_text="MLQA")
    assert row.locator("td.hole").count() == 2
    assert "2 are holes on one side" in page.locator(".summary").inner_text()


def test_the_gap_is_charted_and_told_in_numbers(opened: Opener, small: Tables) -> None:
    page = opened(small, "table=xnli&view=gap")
    table = small.by_task["xnli"]
    rows = {row.model: row for row in table.rows}
    shown = dict(zip(models(page), figures(page), strict=True))
    assert [row[0] for row in shown.values()] == [
        printed(row.gap)
        for row in sorted(rows.values(), key=lambda row: (row.gap or Cell(0)).value or 0)
    ]
    for model, (gap, english, others) in shown.items():
        assert gap == printed(rows[model].gap)
        assert english == printed(rows[model].cells["en"])
        rest = [cell.value for code, cell in rows[model].cells.items() if code != "en"]
        assert others == f"{sum(v for v in rest if v is not None) / len(rest):.1f}"
    assert_bars_measure([row[0] for row in shown.values()], page)


@pytest.mark.parametrize(
    ("table", "reason"), [("tatoeba", "not tested in English"), ("tasks", "one of languages")]
)
def test_where_there_is_no_gap_the_page_leads_on(
    opened: Opener, small: Tables, table: str, reason: str
) -> None:
    page = opened(small, f"table={table}&view=gap")
    assert reason in page.locator("#view").inner_text()
    page.locator("#view").get_by_role("link", name="XNLI").click()
    assert page.locator("#view tbody .bar rect").count() == 4


def test_provenance_opens_on_a_click_and_closes_by_key(opened: Opener, small: Tables) -> None:
    page = opened(small, "table=xnli")
    row = next(r for r in small.by_task["xnli"].rows if r.model == "own-three-seeds")
    button = page.get_by_role("button", name="3 seeds of own-three-seeds: how it was run")
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="own-three-seeds")
    assert dialog.is_visible()
    assert dialog.locator(":scope > details").count() == 3
    dialog.locator("summary", has_text="seed 2").click()
    record = next(record for record in row.records if record.seed == 2)
    dialog.get_by_text(record.spec_sha256).first.wait_for()
    text = dialog.inner_text()
    for told in (
        record.spec_sha256,
        record.content_sha256,
        record.command,
        "2.13.0",
        "float32",
        "1" * 64,
    ):
        assert told in text
    dialog.locator("details details summary", has_text="15 entries").first.click()
    for origin in record.data.test.values():
        for name, digest in origin.items():
            assert name in dialog.inner_text()
            assert digest in dialog.inner_text()
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert page.evaluate("document.activeElement.textContent").startswith("3 seeds")


def test_sources_are_safe_links(opened: Opener, small: Tables) -> None:
    page = opened(small)
    link = page.get_by_role("link", name="RemBERT paper, Table 16").first
    assert link.get_attribute("href") == SOURCE.rsplit(" ", 1)[1]
    assert "noopener" in (link.get_attribute("rel") or "")
    addresses = page.locator("a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    assert all(address.startswith(("#", "https://", "http://")) for address in addresses)
    assert page.get_by_text("javascript:alert(3) in a note").is_visible()


def copy(page: Page, label: str) -> str:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name=label).click()
    page.get_by_role("button", name="Copied").wait_for()
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


def test_what_is_shown_is_copied_as_csv(opened: Opener, small: Tables) -> None:
    page = opened(small, "hide=xnli&hide=pawsx")
    rows = list(csv.reader(io.StringIO(copy(page, "Copy CSV"), newline="")))
    assert rows[0][:5] == ["Model", "Setting", "Average", "Average sd", "Average n"]
    assert "XNLI" not in rows[0]
    assert "NER" in rows[0]
    assert [row[0] for row in rows[1:]] == models(page)
    by_name = {row.model: row for row in small.tasks.rows}
    for line in rows[1:]:
        cells = dict(zip(rows[0], line, strict=True))
        row = by_name.get(cells["Model"])
        assert row is not None
        for key, title in small.tasks.columns.items():
            if title not in cells:
                continue
            cell = row.cells[key]
            assert cells[title] == ("" if cell.value is None else f"{cell.value:.1f}")
            if f"{title} sd" in cells and cell.deviation is not None:
                assert cells[f"{title} sd"] == f"{cell.deviation:.1f}"
                assert cells[f"{title} n"] == str(cell.seeds)


def test_what_is_shown_is_copied_as_latex(opened: Opener, small: Tables) -> None:
    page = opened(small, "hide=tatoeba")
    lines = copy(page, "Copy LaTeX").splitlines()
    assert lines[0] == "\\begin{tabular}{ll" + "r" * 9 + "}"
    assert [lines[1], lines[3], lines[-2], lines[-1]] == [
        "\\toprule",
        "\\midrule",
        "\\bottomrule",
        "\\end{tabular}",
    ]
    body = lines[4:-2]
    assert len(body) == len(small.tasks.rows)
    assert all(line.count(" & ") == 10 and line.endswith(" \\\\") for line in body)
    assert any(line.startswith("\\textless{}script\\textgreater{}alert(1)") for line in body)
    quoted = (
        "a \\textquotedbl{}quoted\\textquotedbl{} \\& 'single' \\textbackslash{} name\\_1 100\\%"
    )
    assert any(line.startswith(quoted) for line in body)
    assert "\\textbf{71.5}" in next(line for line in body if line.startswith("FILTER"))
    assert "{\\scriptsize$\\pm$ 0.2}" in next(line for line in body if line.startswith("own-three"))


def test_the_text_is_offered_where_the_clipboard_is_closed(opened: Opener, small: Tables) -> None:
    page = opened(small)
    page.evaluate(
        "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')) }"
    )
    page.get_by_role("button", name="Copy CSV").click()
    text = page.get_by_label("Text to copy").input_value()
    assert text.startswith("Model,Setting,Average")
    assert page.evaluate("getSelection().toString()") == text.replace("\r\n", "\n")
