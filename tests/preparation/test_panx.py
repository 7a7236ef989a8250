"""PAN-X: prefixes, empty tokens, archives."""

from __future__ import annotations

import tarfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.errors import InputError
from xharness.preparation import prepare
from xharness.preparation.panx import Row, drop_empty_tokens, read_wikiann

from .raw import read, tar_bytes, write


def convert(
    folder: Path, text: str, name: str = "vi/test", *, official: bool = False
) -> tuple[str, Counter[str]]:
    write(folder / "raw" / name, text)
    report = prepare("panx", folder / "raw", folder / "out", official_boundaries=official)
    (file,) = report.files
    return read(file.path), Counter(file.counts)


ODD = "vi:Hà\tB-LOC\nvi:Nội\tI-LOC\nvi:\tO\nvi:là\tO\n\n\nvi:x\tB-PER\n\n"


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_an_empty_token_parts_no_sentence_and_moves_no_tag(tmp_path: Path, split: str) -> None:
    text, counts = convert(tmp_path, ODD, f"vi/{split}")
    assert text == "Hà\tB-LOC\nNội\tI-LOC\nlà\tO\n\nx\tB-PER\n"
    assert counts == {"empty_tokens": 1}


def test_official_boundaries_part_the_test_sentence_only(tmp_path: Path) -> None:
    text, counts = convert(tmp_path / "a", ODD, official=True)
    assert text == "Hà\tB-LOC\nNội\tI-LOC\n\nlà\tO\n\nx\tB-PER\n"
    assert counts == {"empty_tokens": 1, "official_boundaries": 1}
    text, _ = convert(tmp_path / "b", ODD, "vi/dev", official=True)
    assert text == "Hà\tB-LOC\nNội\tI-LOC\nlà\tO\n\nx\tB-PER\n"


def test_odd_tokens_survive(tmp_path: Path) -> None:
    tokens = ["\u3000", "a\u00a0b", '"', ":", "#", "http://x", "a b", "\u200b", "\ufeff", "'"]
    raw = "".join(f"ja:{token}\tO\n" for token in tokens)
    text, counts = convert(tmp_path, raw, "ja/test")
    assert text == "".join(f"{token}\tO\n" for token in tokens)
    assert counts == {}


def test_windows_line_ends_and_a_missing_last_one(tmp_path: Path) -> None:
    text, counts = convert(tmp_path, "\ufeffvi:a \tO\r\n\r\nvi:b\tO")
    assert text == "a\tO\n\nb\tO\n"
    assert counts == {"byte_order_marks": 1, "crlf_lines": 2, "edge_blanks": 1}


def test_a_sentence_of_nothing_but_empty_tokens_is_dropped(tmp_path: Path) -> None:
    text, counts = convert(tmp_path, "vi:a\tO\n\nvi:\tO\nvi: \tO\n\nvi:b\tO\n")
    assert text == "a\tO\n\nb\tO\n"
    assert counts == {"dropped_sentences": 1, "edge_blanks": 1, "empty_tokens": 2}


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        ("/B-PER b/I-PER", "b/B-PER"),  # the start of the entity is gone
        ("a/B-PER /I-PER b/I-PER", "a/B-PER b/I-PER"),  # its middle
        ("a/B-PER /O b/I-PER", "a/B-PER b/B-PER"),  # what parted two entities
        ("a/B-PER /B-PER b/I-PER", "a/B-PER b/B-PER"),
        ("a/B-PER /B-PER /I-PER b/I-PER", "a/B-PER b/B-PER"),
        ("/B-PER /I-PER b/O c/I-PER", "b/O c/I-PER"),  # only the next tag is touched
        ("a/O /O b/O", "a/O b/O"),
        ("a/I-PER b/I-LOC", "a/I-PER b/I-LOC"),  # no empty token: nothing is mended
    ],
)
def test_entities_stay_what_they_were(rows: str, kept: str) -> None:
    def parse(text: str) -> list[Row]:
        return [Row(*item.split("/")) for item in text.split(" ")]

    assert drop_empty_tokens(parse(rows), Counter()) == parse(kept)


@given(st.lists(st.tuples(st.sampled_from(["", "w"]), st.sampled_from(["O", "B-X", "I-X", "I-Y"]))))
def test_as_many_entities_come_out_as_have_a_visible_token(rows: list[tuple[str, str]]) -> None:
    def spans(sentence: list[Row]) -> list[set[int]]:
        """The entities by the lenient reading: B- starts one, and so does I- after another tag."""
        found: list[set[int]] = []
        before = "O"
        for place, (_, tag) in enumerate(sentence):
            if tag != "O":
                if tag.startswith("B-") or before[2:] != tag[2:]:
                    found.append(set())
                found[-1].add(place)
            before = tag
        return found

    sentence = [Row(*item) for item in rows]
    visible = [place for place, row in enumerate(sentence) if row.token]
    expected = [{visible.index(p) for p in span if p in visible} for span in spans(sentence)]
    assert spans(drop_empty_tokens(sentence, Counter())) == [span for span in expected if span]


def test_another_editions_prefix_is_cut_and_counted(tmp_path: Path) -> None:
    text, counts = convert(tmp_path, "vi:a\tO\nzh-classical:b\tO\n")
    assert text == "a\tO\nb\tO\n"
    assert counts == {"foreign_prefixes": 1}


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("hello\tO", "no language prefix"),
        ("vi:a", "1 columns"),
        ("vi:a\tb\tO", "3 columns"),
        ("vi:a\tPER", "not IOB2"),
        ("vi:a\t", "not IOB2"),
    ],
)
def test_a_broken_row_is_named_with_its_line(line: str, what: str) -> None:
    with pytest.raises(InputError, match=what) as caught:
        list(read_wikiann(["vi:ok\tO", line], "vi", "vi/test", Counter()))
    assert caught.value.where == "vi/test:2"


def test_all_three_layouts_are_found(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    write(raw / "vi/train", "vi:a\tO\n")
    write(raw / "vi/dev", "vi:b\tO\n")
    write(raw / "de-test", "de:c\tO\n")
    members = {"train": b"sw:d\tO\n", "./dev": b"sw:e\tO\n", "sw/test": b"sw:f\tO\n", "extra": b"?"}
    (raw / "sw.tar.gz").write_bytes(tar_bytes({**members, "._train": b"\x00"}))
    (raw / "vi.tar.gz").write_bytes(b"not even an archive")
    report = prepare("panx", raw, tmp_path / "out")
    names = [file.path.name for file in report.files]
    assert names == [
        *("dev-sw.tsv", "dev-vi.tsv", "test-de.tsv", "test-sw.tsv", "train-sw.tsv", "train-vi.tsv")
    ]
    assert read(tmp_path / "out/panx/test-sw.tsv") == "f\tO\n"
    assert report.ignored == (f"{raw / 'vi.tar.gz'}: its unpacked files are beside it",)
    assert report.missing == ("de/train", "de/dev", "vi/test")


def test_a_split_found_twice_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "vi/test", "vi:a\tO\n")
    write(tmp_path / "vi-test", "vi:a\tO\n")
    with pytest.raises(InputError, match="second test file of vi"):
        prepare("panx", tmp_path, tmp_path / "out")


def test_an_unsafe_archive_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    link = tarfile.TarInfo("train")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
    write(tmp_path / "raw/af/test", "af:a\tO\n")
    (tmp_path / "raw/vi.tar.gz").write_bytes(tar_bytes({"train": link}))
    with pytest.raises(InputError, match="no plain file"):
        prepare("panx", tmp_path / "raw", tmp_path / "out")
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
