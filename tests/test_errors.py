"""The error that users see: one line, whatever it quotes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.errors import InputError
from xharness.printable import on_one_line
from xharness.specs.recipe import Recipe
from xharness.specs.validation import SpecError, build
from xharness.specs.yaml_loading import load_document


@given(st.text(), st.text(), st.text())
def test_is_one_line(what: str, where: str, mend: str) -> None:
    assert len(str(InputError(what, where=where, mend=mend)).splitlines()) <= 1


def test_shows_what_would_break_the_line_or_steer_the_terminal() -> None:
    error = InputError("bad\nvalue", where="a\x1b[2J.tsv", mend="drop\u2028it \u202e")
    assert str(error) == r"a\x1b[2J.tsv: bad\nvalue (drop\u2028it \u202e)"


def test_leaves_the_text_of_all_languages() -> None:
    """The joiners of Persian and Hindi are no letters either, and belong to their words."""
    for text in ("می\u200cخواهم", "क्\u200dष", "日本語", "e\u0301", "a\u00a0b", "\\n"):
        assert on_one_line(text) == text


def test_a_key_with_line_ends_is_named_on_one_line(tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text('"a\\n\\nb": 1\n"c\\rd": 2\n', encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        build(Recipe, load_document(path))
    found = "\n".join(caught.value.problems)
    assert r"a\n\nb: unknown key" in found
    assert r"c\rd: unknown key" in found
    assert len(found.splitlines()) == len(caught.value.problems)
