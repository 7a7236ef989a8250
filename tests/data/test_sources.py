"""The data folder as a source: finding files, stand-ins, digests, limits."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.data.files import task_of, write
from xharness.data.examples import Bitext
from xharness.data.sources import FileDataSource
from xharness.errors import InputError
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec

ROW = "a\tb\tneutral\n"


def test_a_split_knows_where_it_came_from(tmp_path: Path) -> None:
    write(tmp_path / "xnli/test-de.tsv", ROW * 3)
    source = FileDataSource(tmp_path)
    task = load(TaskSpec, "xnli")
    split = source.read(task, "test", "de", 2)
    assert (len(split), split.size, split.available) == (2, 2, 3)
    assert split.origin == {"xnli/test-de.tsv": hashlib.sha256((ROW * 3).encode()).hexdigest()}
    assert source.has(task, "test", "de")
    assert not source.has(task, "test", "en")
    whole = source.read(task, "test", "de", None)
    assert whole.fingerprint != split.fingerprint


def test_an_absent_file_is_named_with_the_nearest(tmp_path: Path) -> None:
    write(tmp_path / "xnli/tests-de.tsv", ROW)
    with pytest.raises(
        InputError, match=r"test-de\.tsv: no such file.*nearest there: tests-de\.tsv"
    ):
        FileDataSource(tmp_path).read(load(TaskSpec, "xnli"), "test", "de", None)
    with pytest.raises(InputError, match="no such data folder"):
        FileDataSource(tmp_path / "absent")


@pytest.mark.parametrize("content", ["", "\n\n", "a\tb\t-\n"])
def test_a_file_without_examples_is_refused(tmp_path: Path, content: str) -> None:
    write(tmp_path / "xnli/test-de.tsv", content)
    with pytest.raises(InputError, match=r"test-de\.tsv: no example in the file"):
        FileDataSource(tmp_path).read(load(TaskSpec, "xnli"), "test", "de", None)


def test_a_wrong_digest_names_file_expected_and_found(tmp_path: Path) -> None:
    write(tmp_path / "xnli/test-de.tsv", ROW)
    found = hashlib.sha256(ROW.encode()).hexdigest()
    task = task_of("xnli", sha256={"xnli/test-de.tsv": "0" * 64})
    message = rf"xnli/test-de\.tsv: SHA-256 is {found}, the specification expects {'0' * 64}"
    with pytest.raises(InputError, match=message):
        FileDataSource(tmp_path).read(task, "test", "de", None)
    task = task_of("xnli", sha256={"xnli/test-de.tsv": found})
    assert len(FileDataSource(tmp_path).read(task, "test", "de", None)) == 1


def bucc(folder: Path, split: str, pairs: int, gold: int) -> None:
    name = f"bucc2018/de-en.{split}"
    write(folder / f"{name}.de", "".join(f"d{i}\tSatz {i}\n" for i in range(pairs)))
    write(folder / f"{name}.en", "".join(f"e{i}\tsentence {i}\n" for i in range(pairs)))
    write(folder / f"{name}.gold", "".join(f"d{i}\te{i}\n" for i in range(gold)))


def test_dev_stands_in_for_an_absent_test(tmp_path: Path) -> None:
    bucc(tmp_path, "dev", 4, 4)
    task = load(TaskSpec, "bucc2018")
    split = FileDataSource(tmp_path).read(task, "test", "de", None)
    assert split.stand_in == "dev"
    bucc(tmp_path, "test", 5, 5)
    split = FileDataSource(tmp_path).read(task, "test", "de", None)
    assert (split.stand_in, split.size) == (None, 5)


def test_a_limit_keeps_all_targets_and_never_cuts_a_corpus_to_mine(tmp_path: Path) -> None:
    source, task = FileDataSource(tmp_path), load(TaskSpec, "bucc2018")
    bucc(tmp_path, "test", 5, 5)
    bitext = source.read(task, "test", "de", 2).examples[0]
    assert bitext.source.ids == ("d0", "d1")  # type: ignore[union-attr]
    assert len(bitext.target.ids) == 5  # type: ignore[union-attr]
    assert bitext.gold == (("d0", "e0"), ("d1", "e1"))  # type: ignore[union-attr]
    bucc(tmp_path, "test", 5, 3)
    split = source.read(task, "test", "de", 2)
    assert split.size == 5


def test_a_task_without_files_or_with_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"unknown format 'pair_tvs'.*did you mean 'pair_tsv'"):
        FileDataSource(tmp_path).read(task_of("xnli", format="pair_tvs"), "test", "de", None)
    with pytest.raises(InputError, match="task tatoeba has no train split"):
        FileDataSource(tmp_path).read(load(TaskSpec, "tatoeba"), "train", "en", None)


def test_files_of_another_layout_are_found_where_the_first_is_absent(tmp_path: Path) -> None:
    task = load(TaskSpec, "tatoeba")
    source = FileDataSource(tmp_path)
    assert not source.has(task, "test", "de")
    folder = tmp_path / "tatoeba"
    folder.mkdir()
    # XTREME's own names, the English side sorted: line 1 does not translate line 1.
    (folder / "de-en.de").write_text("Hallo.\nBitte.\n", encoding="utf-8")
    (folder / "de-en.en").write_text("Hello.\nPlease.\n", encoding="utf-8")
    sorted_split = source.read(task, "test", "de", None)
    assert isinstance(sorted_split.examples[0], Bitext)
    assert sorted_split.examples[0].gold is None
    (folder / "tatoeba.deu-eng.deu").write_text("Hallo.\n", encoding="utf-8")
    (folder / "tatoeba.deu-eng.eng").write_text("Hello.\n", encoding="utf-8")
    aligned = source.read(task, "test", "de", None)
    assert isinstance(aligned.examples[0], Bitext)
    assert aligned.examples[0].gold == (("0", "0"),)
