"""XNLI and PAWS-X: tables with named columns to pair files."""

from __future__ import annotations

from pathlib import Path

import pytest

from xharness.errors import InputError
from xharness.preparation import PreparationReport, prepare

from .raw import read, write

HEADER = [
    *("language", "gold_label", "sentence1_binary_parse", "sentence2_binary_parse"),
    *("sentence1_parse", "sentence2_parse", "sentence1", "sentence2", "promptID", "pairID"),
    *("genre", "label1", "label2", "label3", "label4", "label5"),
    *("sentence1_tokenized", "sentence2_tokenized", "match"),
]


def xnli_row(language: str, label: str, premise: str, hypothesis: str) -> str:
    cells = dict.fromkeys(HEADER, "p")
    cells |= {"language": language, "gold_label": label}
    cells |= {"sentence1": premise, "sentence2": hypothesis, "match": "True"}
    return "\t".join(cells[name] for name in HEADER)


def xnli(folder: Path, *rows: str, split: str = "test") -> PreparationReport:
    text = "\n".join(["\t".join(HEADER), *rows]) + "\n"
    write(folder / f"raw/XNLI-1.0/xnli.{split}.tsv", text)
    return prepare("xnli", folder / "raw", folder / "out")


def test_xnli_languages_go_to_files_of_their_own(tmp_path: Path) -> None:
    xnli(tmp_path, xnli_row("sw", "neutral", "Dev", "x"), split="dev")
    write(
        tmp_path / "raw/XNLI-MT-1.0/multinli/multinli.train.en.tsv",
        "premise\thypo\tlabel\nA b .\tC d .\tcontradictory\nE\tF\tentailment\n",
    )
    report = xnli(
        tmp_path,
        xnli_row("en", "entailment", '"Open', "shut"),
        xnli_row("el", "contradiction", "α\u001dβ", "γ\u2028δ"),
        xnli_row("en", "-", "nobody", "agrees"),
        xnli_row("en", "contradictory", " a ", "b\u00a0c"),
    )
    assert {file.path.name: read(file.path) for file in report.files} == {
        "dev-sw.tsv": "Dev\tx\tneutral\n",
        "test-el.tsv": "α\u001dβ\tγ\u2028δ\tcontradiction\n",
        "test-en.tsv": '"Open\tshut\tentailment\na\tb\u00a0c\tcontradiction\n',
        "train-en.tsv": "A b .\tC d .\tcontradiction\nE\tF\tentailment\n",
    }
    counts = {file.path.name: dict(file.counts) for file in report.files}
    assert counts["test-en.tsv"] == {"edge_blanks": 1, "labels_respelled": 1, "unlabelled_rows": 1}
    assert counts["train-en.tsv"] == {"labels_respelled": 1}
    assert report.examples == 6
    assert report.missing == ()


def test_xnli_columns_are_found_by_name(tmp_path: Path) -> None:
    names = list(reversed(HEADER))
    row = dict(zip(HEADER, xnli_row("de", "neutral", "P", "H").split("\t"), strict=True))
    text = "\t".join(names) + "\r\n" + "\t".join(row[name] for name in names) + "\r\n"
    write(tmp_path / "raw/xnli.dev.tsv", text)
    report = prepare("xnli", tmp_path / "raw", tmp_path / "out")
    assert read(tmp_path / "out/xnli/dev-de.tsv") == "P\tH\tneutral\n"
    assert report.counts == {"crlf_lines": 2}
    assert report.missing == ("multinli.train.en.tsv", "xnli.test.tsv")


def test_xnli_a_language_of_which_nothing_is_left_is_named(tmp_path: Path) -> None:
    report = xnli(tmp_path, xnli_row("en", "neutral", "a", "b"), xnli_row("de", "-", "a", "b"))
    assert report.ignored == ("test-de.tsv: no example left (unlabelled_rows 1)",)


@pytest.mark.parametrize(
    ("row", "what"),
    [
        (xnli_row("en", "maybe", "a", "b"), "'maybe'"),
        (xnli_row("en", "neutral", "a\tz", "b"), "20 columns in place of 19"),
        ("en\tneutral", "2 columns in place of 19"),
        (xnli_row("../../x", "neutral", "a", "b"), "is no code"),
    ],
)
def test_xnli_a_broken_row_is_named_with_its_line(tmp_path: Path, row: str, what: str) -> None:
    with pytest.raises(InputError, match=what) as caught:
        xnli(tmp_path, xnli_row("en", "neutral", "a", "b"), row)
    assert str(caught.value.where).endswith("xnli.test.tsv:3")
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def test_xnli_a_missing_header_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "raw/xnli.dev.tsv", xnli_row("en", "neutral", "a", "b") + "\n")
    with pytest.raises(InputError, match="header lacks sentence1, sentence2, gold_label"):
        prepare("xnli", tmp_path / "raw", tmp_path / "out")


def pawsx(folder: Path, text: str, name: str = "de/dev_2k.tsv") -> PreparationReport:
    write(folder / "raw/x-final" / name, text)
    return prepare("pawsx", folder / "raw", folder / "out")


PAWSX_HEADER = "id\tsentence1\tsentence2\tlabel\n"


def test_pawsx_rows_come_out_one_for_one(tmp_path: Path) -> None:
    rows = '1\t"a\tb\t0\n2\tNS\tNS\t0\n3\tc\tNS\t1\n4\t\td\t1\n5\t e\tf\t1\n'
    report = pawsx(tmp_path, PAWSX_HEADER + rows)
    assert read(tmp_path / "out/pawsx/dev-de.tsv") == (
        '"a\tb\t0\nNS\tNS\t0\nc\tNS\t1\n\td\t1\ne\tf\t1\n'
    )
    (file,) = report.files
    assert file.examples == 5
    assert file.counts == {"edge_blanks": 1, "empty_sentences": 1, "placeholder_rows": 2}


def test_pawsx_without_header_keeps_its_first_row(tmp_path: Path) -> None:
    report = pawsx(tmp_path, "1\ta\tb\t0\n2\tc\td\t1\n")
    assert read(tmp_path / "out/pawsx/dev-de.tsv") == "a\tb\t0\nc\td\t1\n"
    assert report.counts == {"missing_headers": 1}


def test_pawsx_takes_training_data_from_english_only(tmp_path: Path) -> None:
    write(tmp_path / "raw/x-final/de/translated_train.tsv", PAWSX_HEADER + "1\ta\tb\t0\n")
    write(tmp_path / "raw/x-final/de/train.tsv", PAWSX_HEADER + "1\ta\tb\t0\n")
    write(tmp_path / "raw/x-final/de/test_2k.tsv", PAWSX_HEADER + "1\ta\tb\t0\n")
    report = pawsx(tmp_path, PAWSX_HEADER + "1\ta\tb\t1\n", "en/train.tsv")
    assert [file.path.name for file in report.files] == ["test-de.tsv", "train-en.tsv"]
    assert len(report.ignored) == 2
    assert len(report.missing) == 13  # seven dev and seven test files, less the one that is there
    assert "en/train.tsv" not in report.missing


@pytest.mark.parametrize(
    ("row", "what"),
    [("2\ta\tb\t2", "'2'"), ("2\ta\tb\tc\t0", "5 columns"), ("2\ta\tb\t", "''"), ("a", "1 col")],
)
def test_pawsx_a_broken_row_is_named_with_its_line(tmp_path: Path, row: str, what: str) -> None:
    with pytest.raises(InputError, match=what) as caught:
        pawsx(tmp_path, PAWSX_HEADER + "1\ta\tb\t0\n" + row + "\n")
    assert str(caught.value.where).endswith("dev_2k.tsv:3")


@pytest.mark.shared
@pytest.mark.parametrize("language", ["ko", "zh"])
def test_pawsx_gives_the_official_rows_back(tmp_path: Path, shared: Path, language: str) -> None:
    official = read(shared / f"data/xtreme_mini/pawsx/dev-{language}.tsv")
    rows = official.removesuffix("\n").split("\n")
    assert len(rows) == 2000
    numbered = "".join(f"{number}\t{row}\n" for number, row in enumerate(rows, 1))
    pawsx(tmp_path, PAWSX_HEADER + numbered, f"{language}/dev_2k.tsv")
    assert read(tmp_path / f"out/pawsx/dev-{language}.tsv") == official
