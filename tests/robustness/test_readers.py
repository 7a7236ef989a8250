"""Every reader reads or refuses whatever a file holds: real files, what fuzzing found, and what hypothesis makes."""

from __future__ import annotations

import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.robustness.fuzz_targets import SEPARATOR, Target, targets

TARGETS = targets()
SPECIFICATIONS = {"task", "suite", "recipe", "gate"}


@pytest.mark.parametrize("name", TARGETS)
def test_a_real_file_is_read(name: str, tmp_path: Path) -> None:
    target = TARGETS[name]
    assert any(target.run(seed, tmp_path) for seed in target.seeds)


#: What broke a reader once, by reader.
FOUND = {
    # Nesting and numbers that Python itself refuses.
    "xquad_r": [
        b"[" * 100_000 + SEPARATOR + b"{}",
        b"1" * 5000 + SEPARATOR + b"{}",
        b'{"data": [{"paragraphs": [{"context": "a", "sentence_breaks": [[Infinity, 1]], "qas": []}]}]}'
        + SEPARATOR
        + b"{}",
    ],
    "record": [b"[" * 100_000, b"1" * 5000, b'{"schema_version": 1, "suite": "\\ud83d"}'],
}


@pytest.mark.parametrize(("name", "content"), [(n, c) for n, cs in FOUND.items() for c in cs])
def test_what_was_found_is_refused(name: str, content: bytes, tmp_path: Path) -> None:
    assert not TARGETS[name].run(content, tmp_path)


def harmed(target: Target, chance: random.Random, piece: bytes) -> bytes:
    """Return one of a reader's files with some bytes removed, doubled or replaced by a piece."""
    content = chance.choice(target.seeds)
    start = chance.randrange(len(content))
    end = min(len(content), start + chance.choice((0, 1, 8, 64)))
    middle = chance.choice((b"", content[start:end] * 2, piece))
    return content[:start] + middle + content[end:]


PIECES = st.one_of(
    st.binary(max_size=12),
    st.sampled_from([b"\0", b"\r", b"\xff", b"\xef\xbb\xbf", b"\n\n", b"\t\t", b'"', b"[" * 3000]),
    st.sampled_from([None, -1, 1e999, 10**400, "\ud83d", [], {}, [[[]]]]).map(
        lambda value: json.dumps(value).encode()
    ),
)


@pytest.mark.parametrize("name", sorted(set(TARGETS) - SPECIFICATIONS))
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), piece=PIECES)
def test_a_harmed_file_is_read_or_refused(name: str, seed: int, piece: bytes) -> None:
    with TemporaryDirectory() as folder:
        TARGETS[name].run(harmed(TARGETS[name], random.Random(seed), piece), Path(folder))


def test_an_error_of_several_lines_is_no_refusal(tmp_path: Path) -> None:
    """The check that every case above rests on can fail."""
    from xharness.errors import InputError

    class SeveralLinesError(InputError):
        def __str__(self) -> str:
            return "one\ntwo"

    def read(paths: Any) -> None:
        raise SeveralLinesError("one")

    with pytest.raises(AssertionError, match="several lines"):
        Target(read, (b"",)).run(b"", tmp_path)
