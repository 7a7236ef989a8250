"""Aligned lines and corpora to mine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.data.files import read, write
from xharness.errors import InputError


def sides(folder: Path, **contents: str) -> dict[str, Path]:
    return {part: write(folder / part, content) for part, content in contents.items()}


def test_aligned_lines(tmp_path: Path) -> None:
    (bitext,), counts = read(
        "parallel_lines", sides(tmp_path, source="a\x1db\nc\n\n", target="A\nC")
    )
    assert bitext.source.texts == ("a\x1db", "c")
    assert bitext.gold == (("0", "0"), ("1", "1"))
    assert counts == {"blank_trailing_lines": 1}


def test_lines_without_alignment_have_no_gold(tmp_path: Path) -> None:
    paths = sides(tmp_path, source="a\nb\n", target="A\n\nC\n")
    (bitext,), counts = read("parallel_lines", paths, aligned=False)
    assert bitext.gold is None
    assert bitext.target.ids == ("0", "1", "2")
    assert counts == {"empty_sentences": 1}


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [("a\nb\n", "A\n", "2 lines, but .*target has 1"), ("", "A\n", "source: no sentence")],
)
def test_unequal_sides_are_refused(tmp_path: Path, source: str, target: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read("parallel_lines", sides(tmp_path, source=source, target=target))


def test_corpora_keep_repeated_sentences_and_mend_gold_ids(tmp_path: Path) -> None:
    paths = sides(
        tmp_path, source="z-1\tsame\nz-2\tsame\n\n", target="e-1\tA\tb\n", gold="z-2 \t e-1\n"
    )
    (bitext,), counts = read("identified_lines", paths)
    assert bitext.source.texts == ("same", "same")
    assert bitext.target.texts == ("A\tb",)
    assert bitext.gold == (("z-2", "e-1"),)
    assert counts == {"blank_lines": 1, "padded_gold_ids": 1}


def test_gold_may_be_absent(tmp_path: Path) -> None:
    (bitext,), _ = read("identified_lines", sides(tmp_path, source="z\ta\n", target="e\tA\n"))
    assert bitext.gold is None


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ({"source": "z\ta\nz\tb\n"}, "source:2: id 'z' occurs twice"),
        ({"source": "z a\n"}, "source:1: an id and a tab are expected"),
        ({"gold": "e\tz\n"}, "gold:1: id 'e' is in no corpus"),
        ({"gold": "z\te\tx\n"}, r"gold:1: id 'e\\tx' is in no corpus"),
        ({"gold": "\n"}, "gold: no gold pair"),
        ({"target": "\n"}, "target: no sentence"),
    ],
)
def test_broken_corpora_are_refused(tmp_path: Path, contents: dict[str, str], message: str) -> None:
    whole = {"source": "z\ta\n", "target": "e\tA\n", "gold": "z\te\n", **contents}
    with pytest.raises(InputError, match=message):
        read("identified_lines", sides(tmp_path, **whole))
