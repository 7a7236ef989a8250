"""Splits: what is trained on, developed on and tested on, and what cannot be used."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language_modelling.tiny_text import write_corpus
from xharness.errors import InputError
from xharness.language_modelling.config import TextSettings
from xharness.language_modelling.text import _dev_start, _up_to, read_splits


def test_dev_is_the_end_of_the_training_text(tmp_path: Path) -> None:
    """Lines of 3 words and an end are 4 each; 5 words of dev are two lines, 12 of train are three."""
    text = "".join(f"w{number} x y\n" for number in range(9))
    (tmp_path / "en.txt.xz").write_bytes(lzma.compress(text.encode()))
    (tmp_path / "en.dev.txt").write_text("w0 y\n  \nw8 x z\n")
    splits = read_splits(tmp_path, "en", TextSettings(train_words=15, dev_words=5))
    assert splits.vocabulary.words[2:] == ("x", "y", "w0", "w1", "w2")
    assert (splits.train.lines, splits.dev.lines, splits.test.lines) == (3, 2, 2)
    assert splits.dev.ids.tolist() == [0, 2, 3, 1] * 2  # w3 and w4 were never seen
    assert splits.test.ids.tolist() == [4, 3, 1, 0, 2, 0, 1]
    assert splits.counts["blank_lines"] == 1
    summary = splits.as_json()
    assert summary["dev"]["unknown"] == 2
    assert summary["test"]["words"] == 7


@given(st.lists(st.integers(0, 6), max_size=30), st.integers(1, 40), st.integers(1, 40))
def test_cuts(lengths: list[int], most: int, dev: int) -> None:
    """Never more than asked for; the dev part is the shortest end of whole lines that has its words."""
    lines = [["w"] * length for length in lengths]
    taken = list(_up_to(iter(lines), most))
    assert taken == lines[: len(taken)]
    sizes = [length + 1 for length in lengths]
    assert sum(sizes[: len(taken)]) <= most
    assert len(taken) == len(lines) or sum(sizes[: len(taken) + 1]) > most
    first = _dev_start(lines, dev)
    if first:
        assert sum(sizes[first:]) >= dev > sum(sizes[first + 1 :])
    else:
        assert sum(sizes[1:]) < dev


def test_what_cannot_be_used(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "all")
    with pytest.raises(InputError, match="no more than the 50000 words of the development part"):
        read_splits(folder, "en", TextSettings())
    with pytest.raises(InputError, match="no text for de"):
        read_splits(folder, "de", TextSettings())
    (folder / "en.dev.txt").unlink()
    with pytest.raises(InputError, match=r"add en\.dev\.txt"):
        read_splits(folder, "en", TextSettings(dev_words=20))


def test_lines_without_words_are_counted(tmp_path: Path) -> None:
    """A zero-width mark is no white space, so the line is not blank, but no word either."""
    folder = write_corpus(tmp_path)
    path = folder / "en.dev.txt"
    path.write_text("\u00a0\u200b\nThe cat.\n")
    settings = TextSettings(dev_words=20)
    splits = read_splits(folder, "en", settings)
    assert splits.test.lines + splits.counts.get("lines_without_words", 0) == 2
