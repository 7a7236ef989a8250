"""The page as a file: whole, safe and the same every time. No browser is needed here."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.leaderboards.page.examples import large_tables, small_tables
from xharness.errors import InputError
from xharness.leaderboards.page import render_page
from xharness.leaderboards.page.data import page_data
from xharness.leaderboards.page.document import embedded_json
from xharness.leaderboards.table import Tables


class Elements(HTMLParser):
    """Every start tag with its attributes, and the text of scripts and styles, as a browser tells them apart."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in self.raw:
            self.raw[tag].append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is not None:
            self.raw[self.cdata_elem][-1] += data


@pytest.fixture(scope="module")
def page(small: Tables) -> str:
    return render_page([small])


def test_the_same_tables_give_the_same_bytes(page: str) -> None:
    assert render_page([small_tables()]) == page


def test_the_data_in_the_page_are_the_data_of_the_tables(page: str, small: Tables) -> None:
    assert json.loads(Elements(page).raw["script"][0]) == page_data([small])


def test_names_end_no_element_and_start_none(page: str) -> None:
    elements = Elements(page)
    assert [tag for tag, _ in elements.tags if tag in ("script", "img", "b")] == [
        "script",
        "script",
    ]
    assert page.lower().count("</script") == 2
    assert "<script>alert" not in page
    assert "<img" not in page


def test_nothing_is_fetched(page: str) -> None:
    for tag, attributes in Elements(page).tags:
        for name in ("src", "href", "action", "data", "poster", "srcset", "style"):
            value = attributes.get(name)
            assert value is None or (name == "href" and value.startswith(("#", "data:"))), (
                tag,
                name,
            )
    style = Elements(page).raw["style"][0]
    assert "url(" not in style
    assert "@import" not in style


def test_the_policy_lets_only_the_own_script_and_style_run(page: str) -> None:
    elements = Elements(page)
    policy = next(
        a["content"] for t, a in elements.tags if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))

    def digest(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == digest(elements.raw["script"][1])
    assert rules["style-src"] == digest(elements.raw["style"][0])
    assert "unsafe" not in policy


def test_the_script_never_makes_markup_of_text(page: str) -> None:
    script = Elements(page).raw["script"][1]
    assert (
        re.findall(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", script
        )
        == []
    )


def test_every_script_of_the_folder_is_in_the_page(page: str) -> None:
    scripts = list(files("xharness.leaderboards.page").joinpath("scripts").iterdir())
    assert len(scripts) > 5
    for script in scripts:
        assert script.read_text(encoding="utf-8") in page


def test_a_large_leaderboard_stays_small() -> None:
    large = render_page([large_tables()])  # 30 models, all tasks and languages
    assert len(large.encode()) < 2_000_000
    data = Elements(large).raw["script"][0]
    assert len(large.encode()) - len(data.encode()) < 100_000


def test_no_tables_are_an_error() -> None:
    with pytest.raises(InputError, match="there are no tables to show"):
        render_page([])


@given(
    st.recursive(
        st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5
    )
)
def test_embedded_json_is_the_value_and_cannot_leave_its_element(value: object) -> None:
    text = embedded_json(value)
    assert json.loads(text) == value
    assert text.isascii()
    assert not set("<>&") & set(text)


def test_embedded_json_bears_half_a_surrogate_pair() -> None:
    assert json.loads(embedded_json("\ud800")) == "\ud800"
