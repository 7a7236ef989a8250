"""Reading what the page shows, and what it ought to show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xharness.leaderboards.table import Cell, Row, Table

if TYPE_CHECKING:
    from playwright.sync_api import Page

MINUS = "\u2212"
ROWS = "#view tbody tr"


def printed(cell: Cell | None) -> str:
    """Return a figure to the precision that all renderings share."""
    if cell is None or cell.value is None:
        return "–"
    text = f"{cell.value:.1f}"
    return "0.0" if text == "-0.0" else text.replace("-", MINUS)


def models(page: Page) -> list[str]:
    return [text.strip() for text in page.locator(f"{ROWS} th .name bdi").all_text_contents()]


def figures(page: Page) -> list[list[str]]:
    """Return the figures of every row as shown, without what stands below them."""
    shown: list[list[str]] = page.locator(ROWS).evaluate_all(
        """rows => rows.map(row => Array.from(row.querySelectorAll("td:not(.rank, .bars)"),
           cell => (cell.querySelector(".value, [aria-hidden]") || cell).textContent))"""
    )
    return shown


def expected(table: Table, row: Row) -> list[str]:
    gap = [row.gap] if any(other.gap for other in table.rows) else []
    return [
        printed(cell) for cell in (row.average, *gap, *(row.cells[key] for key in table.columns))
    ]


def column(page: Page, name: str) -> list[str]:
    headers = page.locator("#view thead th:not(.rank, .model) bdi").all_text_contents()
    place = headers.index(name)
    return [row[place] for row in figures(page)]


def header(page: Page, name: str) -> str:
    """Return the direction that a column says it is sorted in."""
    cell = page.locator(
        "#view thead th", has=page.get_by_role("button", name=name, exact=False)
    ).first
    return cell.get_attribute("aria-sort") or "none"
