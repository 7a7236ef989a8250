"""The one entry, atomic writing and the reading of raw text."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.errors import InputError
from xharness.preparation import TASKS, prepare
from xharness.preparation.outputs import OutputFiles
from xharness.preparation.sources import decode, find_files, split_lines

from .raw import block, read, row, write


def test_tasks() -> None:
    assert TASKS == ("bucc2018", "panx", "pawsx", "tatoeba", "tydiqa", "udpos", "xnli")


def test_an_unknown_task_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one of bucc2018, panx"):
        prepare("mlqa", tmp_path, tmp_path)
    with pytest.raises(InputError, match="panx only"):
        prepare("xnli", tmp_path, tmp_path, official_boundaries=True)


@pytest.mark.parametrize("task", TASKS)
def test_a_source_that_is_absent_or_empty_is_named(tmp_path: Path, task: str) -> None:
    with pytest.raises(InputError, match="no such file or folder") as caught:
        prepare(task, tmp_path / "absent", tmp_path / "out")
    assert caught.value.where == str(tmp_path / "absent")
    (tmp_path / "raw").mkdir()
    with pytest.raises(InputError) as caught:
        prepare(task, tmp_path / "raw", tmp_path / "out")
    assert caught.value.where == str(tmp_path / "raw")
    assert not (tmp_path / "out").exists()


def test_a_single_file_may_be_the_source(tmp_path: Path) -> None:
    path = write(tmp_path / "en_x-ud-test.conllu", block(row("1", "a", "X")))
    assert prepare("udpos", path, tmp_path / "out").examples == 1


def test_an_error_leaves_an_earlier_preparation_as_it_was(tmp_path: Path) -> None:
    raw, out = tmp_path / "raw", tmp_path / "out"
    write(raw / "de_x-ud-test.conllu", block(row("1", "alt", "X")))
    prepare("udpos", raw, out)
    write(raw / "de_x-ud-test.conllu", block(row("1", "neu", "X")))
    write(raw / "en_x-ud-test.conllu", "broken\n")
    with pytest.raises(InputError, match=r"en_x-ud-test\.conllu:1"):
        prepare("udpos", raw, out)
    assert [path.name for path in (out / "udpos").iterdir()] == ["test-de.tsv"]
    assert read(out / "udpos/test-de.tsv") == "alt\tX\n"


def test_nothing_lies_aside_after_an_exception_in_the_middle_of_a_file(tmp_path: Path) -> None:
    def blocks() -> Iterator[str]:
        yield "half"
        raise KeyboardInterrupt

    def write_two() -> None:
        with OutputFiles(tmp_path / "x") as files:
            files.add("a", ["1"], Counter())
            files.add("b", blocks(), Counter())

    with pytest.raises(KeyboardInterrupt):
        write_two()
    assert list((tmp_path / "x").iterdir()) == []


def test_an_output_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "en_x-ud-test.conllu", block(row("1", "a", "X")))
    write(tmp_path / "out", "a file")
    with pytest.raises(InputError, match="cannot write"):
        prepare("udpos", path, tmp_path / "out")


def test_the_same_source_gives_the_same_bytes_and_report(tmp_path: Path) -> None:
    write(tmp_path / "raw/en_x-ud-test.conllu", block(row("1", "a b", "X")))
    first = prepare("udpos", tmp_path / "raw", tmp_path / "out")
    data = first.files[0].path.read_bytes()
    assert prepare("udpos", tmp_path / "raw", tmp_path / "out") == first
    assert first.files[0].path.read_bytes() == data


def test_bytes_that_are_no_utf8_are_named_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "en_x-ud-test.conllu"
    path.write_bytes(b"# a\n# b\xe4\n")
    with pytest.raises(InputError, match="not UTF-8") as caught:
        prepare("udpos", path, tmp_path / "out")
    assert caught.value.where == f"{path}:2"


def test_hidden_files_are_no_data(tmp_path: Path) -> None:
    write(tmp_path / "b/._x", "")
    write(tmp_path / "a/x", "")
    assert find_files(tmp_path, lambda path: True) == [tmp_path / "a/x"]


@given(st.text())
def test_lines_end_at_line_feeds_only(text: str) -> None:
    counts: Counter[str] = Counter()
    lines = split_lines(text, counts)
    assert len(lines) == text.count("\n") + (not text.endswith("\n") and text != "")
    back = "\n".join(lines)
    assert back.replace("\r", "") == text.removesuffix("\n").replace("\r", "")
    assert text.count("\r") - back.count("\r") == counts["crlf_lines"]


def test_one_byte_order_mark_is_taken_off() -> None:
    counts: Counter[str] = Counter()
    assert decode("\ufeff\ufeffa".encode(), "x", counts) == "\ufeffa"
    assert counts == {"byte_order_marks": 1}


def test_no_torch_is_imported() -> None:
    code = "import sys, xharness.preparation; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
