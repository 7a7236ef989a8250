"""File names made from untrusted names."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.export.portable_names import portable_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("xlm-roberta-base", "xlm-roberta-base"),
        ("a/b", "a_b"),
        ("../../etc", "_.._etc"),
        ("..", "_"),
        ("<script>", "_script_"),
        ("con.txt", "_con.txt"),
        ("DATA", "_DATA"),
        ("a. ", "a._"),
    ],
)
def test_known_names(name: str, expected: str) -> None:
    assert portable_name(name) == expected


@given(st.text())
def test_any_name_is_one_component_that_leads_nowhere_else(name: str) -> None:
    safe = portable_name(name)
    assert 0 < len(safe) <= 97
    assert PurePosixPath(safe).parts == PureWindowsPath(safe).parts == (safe,)
    assert not safe.startswith(".")
    assert not safe.endswith((".", " "))
    assert not PureWindowsPath(safe).is_reserved()
    assert safe.casefold() != "data"
