"""A real Chromium for the page; every page opened must stay silent and away from the network."""

from __future__ import annotations

import operator
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from tests.leaderboards.page.examples import large_tables, small_tables
from xharness.leaderboards.page import render_page
from xharness.leaderboards.table import Tables

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page, Request

#: Opens a page made of tables: tables, what stands after # in the address, width, light or dark.
Opener = Callable[..., "Page"]

_NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium: the one that is named, one on PATH or playwright's own; the test skips without one."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        own = started.chromium.executable_path
        found = (os.environ.get("XHARNESS_CHROMIUM"), *map(shutil.which, _NAMES))
        path = next(filter(None, found), own if Path(own).exists() else None)
        if path is None:
            pytest.skip(
                f"no browser: XHARNESS_CHROMIUM is not set, none of {', '.join(_NAMES)} is on PATH"
            )
        # Containers that run as root allow Chromium no sandbox of its own; the page is our own file.
        launched = started.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def small() -> Tables:
    return small_tables()


@pytest.fixture(scope="session")
def large() -> Tables:
    return large_tables()


@pytest.fixture(scope="session")
def on_disk(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sequence[Tables]], Path]:
    """Write a page, and each only once."""
    folder = tmp_path_factory.mktemp("pages")
    written: list[tuple[Sequence[Tables], Path]] = []

    def write(suites: Sequence[Tables]) -> Path:
        for known, path in written:
            if len(known) == len(suites) and all(map(operator.is_, known, suites)):
                return path
        path = folder / f"{len(written)}.html"
        path.write_text(render_page(suites), encoding="utf-8")
        written.append((suites, path))
        return path

    return write


class _Pages:
    """Pages that tests hand on to one another: starting one costs more than most tests."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._idle: dict[tuple[int, str], list[Page]] = {}
        self._busy: list[tuple[tuple[int, str], Page]] = []
        self.troubles: list[str] = []

    def take(self, width: int, scheme: Literal["light", "dark"]) -> Page:
        idle = self._idle.setdefault((width, scheme), [])
        page = idle.pop() if idle else self._started(width, scheme)
        self._busy.append(((width, scheme), page))
        return page

    def give_back(self) -> None:
        """Take back the pages of a test, with nothing left of it."""
        for key, page in self._busy:
            page.evaluate("localStorage.clear()")
            page.emulate_media(media="screen", reduced_motion="no-preference")
            page.goto("about:blank")
            self._idle[key].append(page)
        self._busy.clear()

    def _started(self, width: int, scheme: Literal["light", "dark"]) -> Page:
        page = self._browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme
        ).new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: self.troubles.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        page.on("dialog", self._alert)
        page.on("request", self._request)
        return page

    def _alert(self, dialog: Dialog) -> None:
        self.troubles.append(f"alert: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        if not (request.is_navigation_request() or request.url.startswith("data:")):
            self.troubles.append(f"request: {request.url}")


@pytest.fixture(scope="session")
def pages(browser: Browser) -> _Pages:
    return _Pages(browser)


@pytest.fixture
def opened(pages: _Pages, on_disk: Callable[[Sequence[Tables]], Path]) -> Iterator[Opener]:
    """Open pages from disk; at the end none may have logged anything, asked for anything or shown an alert."""
    pages.troubles.clear()

    def open_page(
        tables: Tables | Sequence[Tables],
        address: str = "",
        *,
        width: int = 1400,
        scheme: Literal["light", "dark"] = "light",
    ) -> Page:
        page = pages.take(width, scheme)
        file = on_disk([tables] if isinstance(tables, Tables) else tables)
        page.goto(f"{file.as_uri()}#{address}")
        return page

    yield open_page
    pages.give_back()
    assert pages.troubles == []
