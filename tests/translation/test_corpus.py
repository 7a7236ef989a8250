from __future__ import annotations

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.translation.toy_language import toy_config, write_corpus
from xharness.errors import InputError
from xharness.translation import corpus
from xharness.translation.config import load_config
from xharness.translation.corpus import read_parallel, read_translation_data


def files(folder: Path, source: bytes, target: bytes) -> tuple[Path, Path]:
    paths = (folder / "train.en", folder / "train.de")
    for path, content in zip(paths, (source, target), strict=True):
        path.write_bytes(content)
    return paths


def test_plain_and_compressed_files_read_alike(tmp_path: Path) -> None:
    text = "A dog.\nTwo\x85 cats.\n".encode()
    packed = tmp_path / "train.en.gz"
    packed.write_bytes(gzip.compress(text, mtime=0))
    source, target = files(tmp_path, text, b"Ein Hund.\nZwei Katzen.\n")
    plain, compressed = read_parallel(source, target), read_parallel(packed, target)
    # U+0085 ends no line.
    assert plain.source == compressed.source == ("A dog.", "Two\x85 cats.")
    assert plain.target == ("Ein Hund.", "Zwei Katzen.")
    assert len(plain) == 2


def test_byte_order_marks_and_carriage_returns_are_taken_off_and_counted(tmp_path: Path) -> None:
    read = read_parallel(*files(tmp_path, b"\xef\xbb\xbfa\r\nb\r\n", b"c\nd"))
    assert (read.source, read.target) == (("a", "b"), ("c", "d"))
    assert read.counts == {"byte_order_marks": 1, "carriage_returns": 2}


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (b"a\nb\n", b"a\n", "train.en: 2 lines, but"),
        (b"a\n\nb\n", b"a\nb\nc\n", "train.en:2: the line has no text"),
        (b"a\nb\nc\n", b"a\nb\n \t\n", "train.de:3: the line has no text"),
        (b"a\nb\n\n", b"a\nb\n\n", "train.en:3: the line has no text"),
        (b"a\n\xff\n", b"a\nb\n", "train.en:2: byte 0xff is not UTF-8"),
        (b"", b"", "train.en: no sentence"),
    ],
)
def test_files_that_are_not_parallel_text(
    tmp_path: Path, source: bytes, target: bytes, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_parallel(*files(tmp_path, source, target))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "content", [gzip.compress(b"a\n" * 99, mtime=0)[:-9], b"a\n", b"\x1f\x8b\x08junk"]
)
def test_a_damaged_archive_is_named(tmp_path: Path, content: bytes) -> None:
    packed = tmp_path / "train.en.gz"
    packed.write_bytes(content)
    with pytest.raises(InputError, match=r"train\.en\.gz: not a whole \.gz archive"):
        read_parallel(packed, packed)


def test_text_beyond_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "MAX_BYTES", 8)
    paths = files(tmp_path, b"a\n" * 4, b"a\n" * 4)
    assert len(read_parallel(*paths)) == 4
    packed = tmp_path / "bomb.gz"
    packed.write_bytes(gzip.compress(b"a\n" * 5, mtime=0))
    with pytest.raises(InputError, match="holds more than 8 bytes"):
        read_parallel(packed, packed)


def test_absent_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such data folder"):
        read_translation_data(tmp_path / "nowhere", toy_config())
    write_corpus(tmp_path)
    (tmp_path / "val.de").unlink()
    with pytest.raises(InputError, match=r"val\.de: no such file \(nor is there val\.de\.gz\)"):
        read_translation_data(tmp_path, toy_config())


line = st.text(st.characters(exclude_characters="\n\r\ufeff", exclude_categories=["Cs"])).filter(
    lambda text: bool(text.strip())
)


@settings(max_examples=50)
@given(st.lists(st.tuples(line, line), min_size=1))
def test_any_lines_come_back(pairs: list[tuple[str, str]]) -> None:
    sides = ["\n".join(side).encode() for side in zip(*pairs, strict=True)]
    with TemporaryDirectory() as folder:
        read = read_parallel(*files(Path(folder), sides[0], sides[1]))
    assert list(zip(read.source, read.target, strict=True)) == pairs


@pytest.mark.shared
def test_multi30k_has_the_published_sizes(shared: Path) -> None:
    # 29,000 / 1,014 / 1,000: Elliott et al. 2016 (Multi30k), task 1.
    from xharness.specs.paths import SPECS

    config = load_config(SPECS / "translation" / "three-way.yaml")
    data = read_translation_data(shared / "data" / "extra" / "multi30k", config)
    assert (len(data.train), len(data.dev), len(data.test)) == (29_000, 1_014, 1_000)
    assert data.test.source[0] == "A man in an orange hat starring at something."
