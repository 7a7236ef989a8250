"""WikiANN rows without a token: no false sentence boundary, no token made of a tag, no odd token lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.pitfalls.submission import write
from xharness.data.readers import READERS
from xharness.preparation import prepare
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec


def read(path: Path) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    task = load(TaskSpec, "panx")
    found = READERS["columns"]({"file": path}, task, "test", {}, Counter())
    return [(e.words, e.tags) for e in found]  # type: ignore[union-attr,misc]


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_a_row_without_token_parts_nothing(tmp_path: Path, split: str) -> None:
    language = "en" if split == "train" else "vi"
    rows = (
        f"{language}:Sông\tB-LOC\n{language}:\tO\n{language}:dài\tO\n\n\n{language}:Huế\tB-LOC\n\n"
    )
    write(tmp_path / f"raw/{language}/{split}", rows)
    report = prepare("panx", tmp_path / "raw", tmp_path / "out")
    (file,) = report.files
    assert dict(file.counts)["empty_tokens"] == 1
    assert read(file.path) == [(("Sông", "dài"), ("B-LOC", "O")), (("Huế",), ("B-LOC",))]


@pytest.mark.parametrize("token", ["\u3000", "a\u00a0b", '"', ":", "#", "'", "\ufeff", "\u2028"])
def test_odd_tokens_go_through_preparation_and_reading(tmp_path: Path, token: str) -> None:
    write(tmp_path / "raw/ja/test", f"ja:x\tO\nja:{token}\tB-ORG\nja:y\tO\n\n")
    report = prepare("panx", tmp_path / "raw", tmp_path / "out")
    assert read(report.files[0].path) == [(("x", token, "y"), ("O", "B-ORG", "O"))]


def test_a_file_with_an_empty_token_keeps_a_word_for_it(tmp_path: Path) -> None:
    path = write(tmp_path / "f", "x\tO\n\tO\ny\tB-PER\n\n")
    assert read(path) == [(("x", "", "y"), ("O", "O", "B-PER"))]
