"""Lines of a file: where they end, and what is taken off and counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.files import write
from xharness.data.lines import decode, digest, read_bytes, read_lines
from xharness.errors import InputError


def lines_of(path: Path, content: str | bytes) -> tuple[list[str], Counter[str]]:
    counts: Counter[str] = Counter()
    return read_lines(write(path, content), counts), +counts


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("a\nb", ["a", "b"]),
        ("a\x1cb\x1d\x85\u2028c\x0b\n", ["a\x1cb\x1d\x85\u2028c\x0b"]),
        ("a\rb\n", ["a\rb"]),
    ],
)
def test_lines_end_at_line_feeds_only(tmp_path: Path, content: str, lines: list[str]) -> None:
    assert lines_of(tmp_path / "f", content) == (lines, {})


def test_byte_order_mark_and_carriage_returns_are_taken_off_and_counted(tmp_path: Path) -> None:
    lines, counts = lines_of(tmp_path / "f", "\ufeffa\r\n\r\n\ufeffb\n")
    assert lines == ["a", "", "\ufeffb"]
    assert counts == {"byte_order_marks": 1, "carriage_returns": 2}


def test_broken_utf8_is_named_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "f", b"a\nb\n\xff\n")
    with pytest.raises(InputError, match=r"f:3: byte 0xff is not UTF-8"):
        read_lines(path, Counter())
    assert decode("é".encode(), path, Counter()) == "é"


def test_absent_file_and_folder_are_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_bytes(tmp_path / "absent")
    for function in (read_bytes, digest):
        with pytest.raises(InputError, match="cannot be read"):
            function(tmp_path)


def test_digest_is_sha256(tmp_path: Path) -> None:
    # SHA-256 of "abc", FIPS 180-2 appendix B.1.
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert digest(write(tmp_path / "f", "abc")) == expected


@given(st.lists(st.text(alphabet=st.characters(exclude_characters="\n\r", codec="utf-8"))))
def test_lines_are_what_was_joined(lines: list[str]) -> None:
    content = "".join(f"{line}\n" for line in lines)
    path = Path("f")
    text = decode(content.encode(), path, Counter())
    expected = content.removeprefix("\ufeff")
    assert text == expected
