"""YAML made to exhaust or mislead: refused in one line, at once."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from xharness.errors import InputError
from xharness.specs.suite import Suite
from xharness.specs.validation import SpecError, build
from xharness.specs.yaml_loading import load_document


def written(text: str, folder: Path) -> Path:
    path = folder / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_aliases_that_unfold_without_end_are_refused(tmp_path: Path) -> None:
    """Twenty-five lines, each twice the one before: 33 million values."""
    names = [f"a{number}" for number in range(25)]
    lines = ["a0: &a0 [x, x]"]
    lines += [f"{new}: &{new} [*{old}, *{old}]" for old, new in pairwise(names)]
    with pytest.raises(InputError, match="more than 100000 values, aliases unfolded"):
        load_document(written("\n".join(lines), tmp_path))


@pytest.mark.parametrize("character", ["\0", "\x01", "\x7f", "\ufffe"])
def test_a_character_that_yaml_forbids_is_told_in_one_line(character: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not valid YAML") as error:
        load_document(written(f"name: a{character}b\n", tmp_path))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("key", ["a[b", "a[0]", "["])
def test_an_unknown_key_with_a_bracket_is_named(key: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as error:
        build(Suite, load_document(written(f"'{key}': 1\n", tmp_path)))
    assert any("unknown key" in problem for problem in error.value.problems)
