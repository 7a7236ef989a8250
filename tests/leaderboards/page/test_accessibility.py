"""axe-core finds nothing serious on the page, in any view, in light and dark, on a desk and on a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.leaderboards.page.conftest import Opener
from xharness.leaderboards.table import Tables

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def findings(page: Page) -> list[str]:
    """Return axe-core's serious and critical findings with the elements that they are about."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("width", "views"),
    [(1400, ["Table", "Heat map", "Compare", "Transfer gap"]), (390, ["Table", "Compare"])],
)
def test_no_view_has_a_serious_finding(
    opened: Opener, small: Tables, scheme: str, width: int, views: list[str]
) -> None:
    page = opened(small, "table=pawsx", scheme=scheme, width=width)
    for view in views:
        page.get_by_role("navigation", name="Views").get_by_role("link", name=view).click()
        page.locator("#views [aria-current]", has_text=view).wait_for()
        assert page.locator("#view table").is_visible()
        assert findings(page) == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 390)])
def test_what_opens_has_no_serious_finding(
    opened: Opener, small: Tables, scheme: str, width: int
) -> None:
    page = opened(small, scheme=scheme, width=width)
    page.locator(".holes summary").click()
    page.locator(".columns summary").click()
    assert findings(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="1 seed of own-with-holes: how it was run").click()
    page.get_by_role("dialog").locator("summary", has_text="XNLI").click()
    assert findings(page) == []


def test_axe_would_find_something(opened: Opener, small: Tables) -> None:
    page = opened(small, "table=pawsx")
    page.evaluate("document.getElementById('status').style.color = '#ddd'")
    assert any(finding.startswith("color-contrast") for finding in findings(page))
