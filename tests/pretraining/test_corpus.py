"""Text files: which belong to a language, how they are read, what is wrong with them."""

from __future__ import annotations

import gzip
import lzma
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from xharness.errors import InputError
from xharness.pretraining import corpus as corpus_module
from xharness.pretraining.corpus import CorpusFiles, find_corpus, read_lines


def _zstd(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": _zstd,
}
PACKED: dict[str, Callable[[bytes], bytes]] = {"": bytes, **COMPRESSED}


def names(folder: Path, *files: str) -> Path:
    for name in files:
        (folder / name).write_text("text\n")
    return folder


def lines_of(path: Path) -> tuple[list[str], Counter[str]]:
    counts: Counter[str] = Counter()
    return list(read_lines(path, counts)), counts


# Which files


def test_files_by_language(tmp_path: Path) -> None:
    names(tmp_path, "de.txt", "de.dev.txt.gz", "zh-min-nan.txt.xz", "zh_TW.txt.zst", "README.md")
    names(tmp_path, "en.test.txt", "fr.dev.txt", ".it.txt", "es.tsv")
    assert find_corpus(tmp_path) == {
        "de": CorpusFiles("de", (tmp_path / "de.txt",), tmp_path / "de.dev.txt.gz"),
        "zh-min-nan": CorpusFiles("zh-min-nan", (tmp_path / "zh-min-nan.txt.xz",), None),
        "zh_TW": CorpusFiles("zh_TW", (tmp_path / "zh_TW.txt.zst",), None),
    }


def test_parts_are_in_order_of_their_numbers(tmp_path: Path) -> None:
    names(tmp_path, "de.10.txt", "de.2.txt.gz", "de.1.txt")
    parts = find_corpus(tmp_path)["de"].train
    assert [path.name for path in parts] == ["de.1.txt", "de.2.txt.gz", "de.10.txt"]


def test_only_the_wanted_languages_sorted(tmp_path: Path) -> None:
    names(tmp_path, "de.txt", "en.txt", "fr.txt")
    assert list(find_corpus(tmp_path, ["fr", "de"])) == ["de", "fr"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["de.txt", "de.txt.gz"], "de.txt and de.txt.gz are the same text twice"),
        (["de.dev.txt.xz", "de.dev.txt.zst", "de.txt"], "de.dev.txt.xz and de.dev.txt.zst"),
        (["de.1.txt", "de.01.txt"], "de.01.txt and de.1.txt"),
        (["de.txt", "de.1.txt"], "de.1.txt and de.txt"),
    ],
)
def test_the_same_text_twice(tmp_path: Path, files: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        find_corpus(names(tmp_path, *files))


def test_no_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no text .*<language>\.txt"):
        find_corpus(names(tmp_path, "de.dev.txt", "notes"))
    with pytest.raises(InputError, match="No such file"):
        find_corpus(tmp_path / "absent")


def test_a_language_without_text_is_named_with_those_there(tmp_path: Path) -> None:
    names(tmp_path, "de.txt", "en.txt", "sw.dev.txt")
    with pytest.raises(InputError, match=r"no text for sw \(add sw.txt .*there are de, en"):
        find_corpus(tmp_path, ["de", "sw"])


# Reading


@pytest.mark.parametrize("ending", PACKED)
def test_lines_and_counts_of_every_kind_of_file(tmp_path: Path, ending: str) -> None:
    content = "\ufeffein Satz\r\n\n \t\u3000\n第二\u2028行\x85\nlast".encode()
    path = tmp_path / f"de.txt{ending}"
    path.write_bytes(PACKED[ending](content))
    lines, counts = lines_of(path)
    assert lines == ["ein Satz", "第二\u2028行\x85", "last"]
    assert counts == {
        "lines": 3,
        "blank_lines": 2,
        "byte_order_marks": 1,
        "carriage_returns": 1,
        "bytes": len(content),
        "file_bytes": path.stat().st_size,
    }


@pytest.mark.parametrize("ending", COMPRESSED)
def test_archives_of_several_members_are_read_to_the_end(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"de.txt{ending}"
    path.write_bytes(PACKED[ending](b"one\ntw") + PACKED[ending](b"o\nthree\n"))
    assert lines_of(path)[0] == ["one", "two", "three"]


@given(
    st.lists(st.text(st.characters(exclude_characters="\n\r\ufeff", codec="utf-8"), max_size=12)),
    st.integers(1, 7),
    st.booleans(),
)
def test_any_lines_come_back_whatever_the_chunks(
    lines: list[str], chunk: int, last_newline: bool
) -> None:
    """The right lines are those that were written and are not blank."""
    content = "\n".join(lines) + ("\n" if last_newline else "")
    kept = [line for line in lines if line and not line.isspace()]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus_module, "_CHUNK", chunk)
        path = Path(folder) / "x.txt"
        path.write_bytes(content.encode())
        if kept:
            assert lines_of(path)[0] == kept
        else:
            with pytest.raises(InputError, match="holds no text"):
                lines_of(path)


def test_reading_is_a_stream(tmp_path: Path) -> None:
    """The first lines come before a fault further on is met."""
    path = tmp_path / "de.txt.xz"
    text = "".join(f"{n} {random.random()}\n" for n in range(100_000))
    whole = lzma.compress(text.encode(), preset=0)
    path.write_bytes(whole[: len(whole) // 2])
    lines = read_lines(path, Counter())
    assert next(lines).startswith("0 ")
    with pytest.raises(InputError, match=r"not a whole \.xz archive"):
        list(lines)


@pytest.mark.parametrize("ending", COMPRESSED)
@pytest.mark.parametrize("kept", [0.3, 0.99])
def test_an_archive_cut_short(tmp_path: Path, ending: str, kept: float) -> None:
    whole = PACKED[ending]("".join(f"{random.random()}\n" for _ in range(1000)).encode())
    path = tmp_path / f"de.txt{ending}"
    path.write_bytes(whole[: int(kept * len(whole))])
    with pytest.raises(InputError, match=f"not a whole {ending} archive"):
        lines_of(path)


@pytest.mark.parametrize("ending", COMPRESSED)
def test_what_is_no_archive_and_what_follows_one(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"de.txt{ending}"
    path.write_bytes(b"plain text all the same\n" * 9)
    with pytest.raises(InputError, match=f"not a whole {ending} archive"):
        lines_of(path)
    damaged = bytearray(PACKED[ending](random.randbytes(5000).hex().encode()))
    damaged[len(damaged) // 2] ^= 0xFF
    path.write_bytes(damaged)
    with pytest.raises(InputError, match=f"not a whole {ending} archive"):
        lines_of(path)


@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_the_line_that_is_not_utf8_is_named(
    tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_module, "_CHUNK", chunk)
    path = tmp_path / "de.txt.gz"
    path.write_bytes(gzip.compress("eins\n\nzwei\nfünf\nsechs\n".encode("latin-1")))
    with pytest.raises(InputError, match=r"de\.txt\.gz:4: byte 0xfc is not UTF-8"):
        lines_of(path)


@pytest.mark.parametrize("content", [b"", b"\n \n\r\n", b"\xef\xbb\xbf"])
def test_a_file_without_text(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "de.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"de\.txt: holds no text"):
        lines_of(path)


def test_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_module, "_CHUNK", 16)
    monkeypatch.setattr(corpus_module, "_LONGEST_LINE", 64)
    path = tmp_path / "de.txt"
    path.write_text("short\n" + "x" * 100)
    with pytest.raises(InputError, match=r"de\.txt:2: line of more than 64 bytes"):
        lines_of(path)


def test_an_absent_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        lines_of(tmp_path / "de.txt")


@pytest.mark.shared
def test_real_text(shared: Path) -> None:
    """The line counts are those of the data's own README."""
    files = find_corpus(shared / "data" / "pretrain")
    assert len(files) == 21
    assert all(file.dev is not None for file in files.values())
    lines, counts = lines_of(files["et"].train[0])
    assert len(lines) == counts["lines"] == 20297
    assert counts["blank_lines"] == 0
