"""The page as a whole in a real Chromium: keyboard, hostile names, addresses, themes, phone and print."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.leaderboards.page.conftest import Opener
from tests.leaderboards.page.examples import HOSTILE
from tests.leaderboards.page.shown import ROWS, figures, header, models
from xharness.leaderboards.table import Tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


def test_the_table_is_sorted_by_keyboard_and_the_focus_stays(opened: Opener, small: Tables) -> None:
    page = opened(small, "table=pawsx")
    page.get_by_role("button", name="fr (French)").focus()
    page.keyboard.press("Enter")
    assert header(page, "fr (French)") == "descending"
    page.keyboard.press("Space")
    assert header(page, "fr (French)") == "ascending"
    focused = page.evaluate("document.activeElement.textContent")
    assert focused.startswith("fr")


def test_all_of_the_page_is_reached_by_tab(opened: Opener, small: Tables) -> None:
    page = opened(small, "table=pawsx")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "document.activeElement.getAttribute('data-focus') || document.activeElement.tagName"
            )
        )
    wanted = page.locator("#main [data-focus]:visible").evaluate_all(
        "all => all.map(e => e.dataset.focus)"
    )
    assert len(wanted) > 20
    assert set(wanted) <= reached


def test_hostile_names_are_text(opened: Opener, small: Tables) -> None:
    page = opened(small)
    shown = page.locator(f"{ROWS} th .name bdi").all_text_contents()
    assert set(HOSTILE) <= set(shown)
    for view in ("Heat map", "Compare"):
        page.get_by_role("link", name=view).click()
        page.locator("#views [aria-current]", has_text=view).wait_for()
        assert page.locator("script").count() == 2
        assert page.locator("img").count() == 0


def test_the_browser_refuses_markup_made_of_text(
    browser: Browser, on_disk: Callable[[Sequence[Tables]], Path], small: Tables
) -> None:
    page = browser.new_page()
    page.goto(on_disk([small]).as_uri())
    attempt = """() => {
      try { document.body.innerHTML = "<b>x</b>"; return "done" } catch (error) { return error.name }
    }"""
    assert page.evaluate(attempt) == "TypeError"
    page.close()


def test_the_address_keeps_the_view(opened: Opener, small: Tables) -> None:
    page = opened(small, "table=xnli")
    page.get_by_placeholder("filter by name").fill("e")
    page.get_by_role("button", name="sw (Swahili)").click()
    before, address = figures(page), page.url.split("#")[1]
    again = opened(small, address)
    assert figures(again) == before
    assert again.get_by_placeholder("filter by name").input_value() == "e"
    assert header(again, "sw (Swahili)") == "descending"
    again.get_by_role("link", name="Heat map").click()
    assert again.locator("#view td[data-heat]").count() > 0
    again.go_back()
    assert figures(again) == before


@pytest.mark.parametrize(
    "address",
    [
        "table=none&suite=none&view=none&sort=none&by=none",
        "%",
        "a=<script>&b=%22&hide=&setting=none",
        "sort=constructor",
    ],
)
def test_an_odd_address_shows_the_first_table(opened: Opener, small: Tables, address: str) -> None:
    page = opened(small, address)
    assert len(models(page)) == 10


def test_several_suites_stand_side_by_side(opened: Opener, small: Tables, large: Tables) -> None:
    page = opened((small, large), "q=own")
    page.get_by_role("navigation", name="Suites").get_by_role("link").nth(1).click()
    page.get_by_placeholder("filter by name").fill("")
    assert len(models(page)) == 30


def test_light_and_dark_by_system_and_by_choice(opened: Opener, small: Tables) -> None:
    def background(page: Page) -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light, dark = opened(small), opened(small, scheme="dark")
    assert background(light) == "rgb(253, 252, 249)"
    assert background(dark) == "rgb(20, 22, 26)"
    dark.get_by_label("Theme").select_option("light")
    assert background(dark) == background(light)
    dark.reload()
    assert background(dark) == background(light)
    dark.emulate_media(media="print")
    assert background(dark) == background(light)


def test_a_phone_scrolls_tables_and_not_the_page(opened: Opener, large: Tables) -> None:
    page = opened(large, "table=panx", width=390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    region = page.get_by_role("region", name="NER by language, table")
    region.focus()
    name = page.locator(f"{ROWS} th.model").first
    before = name.bounding_box()
    region.evaluate("region => { region.scrollLeft = 900 }")
    assert region.evaluate("region => region.scrollLeft") == 900
    assert name.bounding_box() == before  # the first column stays


def test_print_shows_the_table_alone(opened: Opener, small: Tables) -> None:
    page = opened(small, "table=xnli")
    page.emulate_media(media="print")
    assert not page.locator("#controls").is_visible()
    assert not page.locator("#views").is_visible()
    assert page.locator("#view table").is_visible()
    assert (
        page.locator(".scroll").evaluate("region => getComputedStyle(region).overflow") == "visible"
    )


def test_motion_is_left_out_on_request(opened: Opener, small: Tables) -> None:
    page = opened(small)
    duration = "getComputedStyle(document.querySelector('.sort')).transitionDuration"
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(duration) != "0s"
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(duration) == "0s"
