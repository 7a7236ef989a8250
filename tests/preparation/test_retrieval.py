"""Tatoeba and BUCC 2018."""

from __future__ import annotations

from pathlib import Path

import pytest

from xharness.errors import InputError
from xharness.preparation import prepare

from .raw import read, tar_bytes, write


def tatoeba(folder: Path, german: str, english: str) -> Path:
    write(folder / "raw/v1/tatoeba.deu-eng.deu", german)
    write(folder / "raw/v1/tatoeba.deu-eng.eng", english)
    return folder / "raw"


def test_tatoeba_keeps_both_sides_aligned(tmp_path: Path) -> None:
    raw = tatoeba(tmp_path, "Zwei.\r\nEins. \r\n\r\n", "Two.\nOne.\n")
    write(raw / "v1/tatoeba.epo-eng.epo", "Unu.\n")
    report = prepare("tatoeba", raw, tmp_path / "out")
    assert {file.path.name: (file.examples, read(file.path)) for file in report.files} == {
        "tatoeba.deu-eng.deu": (2, "Zwei.\nEins.\n"),
        "tatoeba.deu-eng.eng": (2, "Two.\nOne.\n"),
    }
    assert report.counts == {"crlf_lines": 3, "edge_blanks": 1, "trailing_blank_lines": 1}
    assert report.ignored == ("tatoeba.epo-eng: no language of the task",)


def test_tatoeba_refuses_what_would_shift_the_gold(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has 2 lines, .* has 1 lines"):
        prepare("tatoeba", tatoeba(tmp_path / "a", "x\ny\n", "x\n"), tmp_path / "out")
    with pytest.raises(InputError, match="blank line") as caught:
        prepare("tatoeba", tatoeba(tmp_path / "b", "x\n\ny\n", "x\nz\ny\n"), tmp_path / "out")
    assert str(caught.value.where).endswith(".deu:2")
    write(tmp_path / "c/tatoeba.deu-eng.deu", "x\n")
    with pytest.raises(InputError, match=r"tatoeba\.deu-eng\.eng is absent"):
        prepare("tatoeba", tmp_path / "c", tmp_path / "out")
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


BUCC = {
    "de": "de-1\t\u3000Eins\nde-2\tEins zwei\n",
    "en": "en-1\tOne\nen-2\tOne two\nen-3\tOne\n",
    "gold": "de-1\ten-1 \nde-2\ten-2\n",
}


def test_bucc_training_is_test_and_sample_is_dev(tmp_path: Path) -> None:
    for side, text in BUCC.items():
        write(tmp_path / f"raw/bucc2018/de-en/de-en.training.{side}", text)
    members = {f"bucc2018/de-en/de-en.sample.{side}": text.encode() for side, text in BUCC.items()}
    archive = tmp_path / "raw/bucc2018-de-en.sample-gold.tar.bz2"
    archive.write_bytes(tar_bytes({**members}, "w:bz2"))
    report = prepare("bucc2018", tmp_path / "raw", tmp_path / "out")
    folder = tmp_path / "out/bucc2018"
    for split in ("test", "dev"):
        assert read(folder / f"de-en.{split}.de") == BUCC["de"]
        assert read(folder / f"de-en.{split}.en") == BUCC["en"]
        assert read(folder / f"de-en.{split}.gold") == "de-1\ten-1\nde-2\ten-2\n"
    assert {file.path.name: file.examples for file in report.files}["de-en.test.en"] == 3
    assert report.counts == {"edge_blanks": 2}


@pytest.mark.parametrize(
    ("side", "text", "what", "line"),
    [
        ("gold", "de-1\ten-9\n", "gold id en-9 is no sentence", 1),
        ("gold", "en-1\tde-1\n", "gold id en-1 is no sentence", 1),
        ("en", "en-1\ta\nen-1\tb\n", "id en-1 repeats", 2),
        ("de", "de-1 Eins\n", "not an id, a tab and a text", 1),
        ("de", "\n\tEins\n", "not an id, a tab and a text", 2),
    ],
)
def test_bucc_a_broken_line_is_named(
    tmp_path: Path, side: str, text: str, what: str, line: int
) -> None:
    for name, content in {**BUCC, side: text}.items():
        write(tmp_path / f"raw/de-en.sample.{name}", content)
    with pytest.raises(InputError, match=what) as caught:
        prepare("bucc2018", tmp_path / "raw", tmp_path / "out")
    assert str(caught.value.where).endswith(f"de-en.sample.{side}:{line}")


def test_bucc_needs_all_three_files(tmp_path: Path) -> None:
    write(tmp_path / "raw/de-en.sample.de", BUCC["de"])
    with pytest.raises(InputError, match=r"de-en\.sample\.en is absent"):
        prepare("bucc2018", tmp_path / "raw", tmp_path / "out")
