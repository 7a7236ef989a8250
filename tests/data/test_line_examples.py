"""Examples of large files: parsed anew from their file, they are those that a list would hold."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.data.files import read, write
from xharness.data import lines
from xharness.data.readers import line_examples
from xharness.data.readers.line_examples import StoredExamples
from xharness.errors import InputError

PATHS_MAY_BE_REUSED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

TAGGED = st.lists(
    st.sampled_from(["a\tO\n", "ä\tB-PER\n", "\tO\n", "日\tI-PER\r\n", "\n", "\n", "\r\n"]),
    min_size=1,
    max_size=40,
).map("".join)
PAIRS = st.lists(
    st.sampled_from(["a\tb\tneutral\n", "ä\t日\tentailment\r\n", "c\td\t-\n", "NS\td\tneutral\n"]),
    min_size=1,
    max_size=40,
).map("".join)


@PATHS_MAY_BE_REUSED
@given(data=st.data(), every=st.integers(1, 4), block=st.sampled_from([1, 9, 1 << 18]))
@pytest.mark.parametrize(("form", "content"), [("columns", TAGGED), ("pair_tsv", PAIRS)])
def test_stored_examples_are_those_of_the_list(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    content: Any,
    data: Any,
    every: int,
    block: int,
) -> None:
    start = data.draw(st.sampled_from(["", "\ufeff"]))
    path = write(
        tmp_path / "f", start + data.draw(content) + data.draw(st.sampled_from(["", "\n"]))
    )
    with monkeypatch.context() as patch:
        held, counts = read(form, path)
        patch.setattr(line_examples, "HELD_BYTES", -1)
        patch.setattr(line_examples, "MARK_EVERY", every)
        patch.setattr(lines, "_BLOCK_BYTES", block)
        stored, stored_counts = read(form, path)
        assert isinstance(stored, StoredExamples)
        assert stored_counts == counts
        assert len(stored) == len(held)
        assert list(stored) == held
        part = data.draw(st.slices(len(held)))
        assert stored[part] == held[part]
        for number in range(-len(held), len(held)):
            assert stored[number] == held[number]
        with pytest.raises(IndexError):
            stored[len(held)]


def test_faults_of_a_large_file_are_found_when_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_examples, "HELD_BYTES", -1)
    path = write(tmp_path / "f", "a\tO\n\nb\n")
    with pytest.raises(InputError, match=r"f:3: 1 columns where 2 are expected"):
        read("columns", path)
    path = write(tmp_path / "g", b"a\tO\n\n\xff\tO\n")
    with pytest.raises(InputError, match=r"g:3: byte 0xff is not UTF-8"):
        read("columns", path)


def test_a_large_file_that_changes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_examples, "HELD_BYTES", -1)
    path = write(tmp_path / "f", "a\tO\n\nb\tO\n")
    examples, _ = read("columns", path)
    assert len(examples[:1]) == 1
    write(path, "a\tO\n\nc\tO\n")
    os.utime(path, (1, 1))
    with pytest.raises(InputError, match="changed while it was in use"):
        examples[:1]
    path.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        list(examples)


def test_a_large_file_takes_no_memory_of_its_size(tmp_path: Path) -> None:
    path = write(tmp_path / "f", "word\tB-PER\n\n" * 1_500_000)
    assert path.stat().st_size > line_examples.HELD_BYTES
    tracemalloc.start()
    try:
        examples, _ = read("columns", path)
        assert sum(len(example.words) for example in examples[700_000:701_000]) == 1000
        assert len(examples) == 1_500_000
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
