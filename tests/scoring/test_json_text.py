"""Skipping long texts must not change anything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.errors import InputError
from xharness.scoring.json_text import parse_json, place_of, without_strings

texts = st.text(st.sampled_from(list('ab"\\\n:{}, é“')), max_size=12) | st.sampled_from(
    ["context", '"context": "', '\\"context": "x', "\\", '\\\\"']
)
values = st.recursive(
    texts | st.integers() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(texts | st.just("context"), inner, max_size=4)
    ),
    max_leaves=12,
)


def emptied(value: Any) -> Any:
    """Empty the strings below the key ``context``."""
    if isinstance(value, dict):
        return {
            key: "" if key == "context" and isinstance(inner, str) else emptied(inner)
            for key, inner in value.items()
        }
    return [emptied(inner) for inner in value] if isinstance(value, list) else value


@given(values, st.booleans(), st.sampled_from([None, 1]))
def test_only_the_texts_of_the_key_are_emptied(
    value: Any, ascii_only: bool, indent: int | None
) -> None:
    data = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    assert json.loads(without_strings(data, "context")) == emptied(value)


@pytest.mark.parametrize(
    "data", [b'{"context": "abc', b'{"context": "abc\\"', b'{"context": "\\\\']
)
def test_unfinished_text_is_left_as_it_is(data: bytes) -> None:
    assert without_strings(data, "context") == data
    with pytest.raises(InputError, match="not JSON"):
        parse_json(data, Path("a.json"), skip="context")


def test_place_of_escaped_key() -> None:
    data = '{"a": 1,\n "é": 2,\n "\\u00e8": 3}'.encode()
    assert place_of("é", data, Path("f")) == "f:2"
    assert place_of("è", data, Path("f")) == "f:3"
    assert place_of("absent", data, Path("f")) == "f"
