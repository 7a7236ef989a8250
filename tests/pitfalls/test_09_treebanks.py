"""Treebanks: multiword tokens, empty nodes, forms that are ``_``, line ends, comments, inner spaces, file order."""

from __future__ import annotations

from pathlib import Path

from tests.pitfalls.submission import write
from xharness.preparation import prepare


def row(number: str, form: str, upos: str, head: str) -> str:
    return "\t".join([number, form, "_", upos, "_", "_", head, "_", "_", "_"])


ODD = "\r\n".join(
    [
        "# text = le prix\tdu pain",
        row("1", "le", "DET", "2"),
        row("2", "prix", "NOUN", "0"),
        row("3-4", "du", "_", "_"),
        row("3", "de", "ADP", "5"),
        row("4", "le", "DET", "3"),
        row("5", "pain", "NOUN", "2"),
        row("5.1", "coûte", "VERB", "_"),
        row("6", "10 000", "NUM", "5"),
        "",
        "# no words came with these",
        row("1", "_", "NOUN", "0"),
        row("2", "_", "VERB", "1"),
        "",
        row("1", "_", "SYM", "2"),
        row("2", "est", "AUX", "0"),
        row("3", "bon", "ADJ", "2"),  # no line end after the last row
    ]
)


def test_surface_tokens_as_the_official_files_have_them(tmp_path: Path) -> None:
    write(tmp_path / "raw/fr_x-ud-test.conllu", ODD)
    report = prepare("udpos", tmp_path / "raw", tmp_path / "out")
    (file,) = report.files
    assert file.path.read_text(encoding="utf-8").split("\n\n") == [
        "le\tDET\nprix\tNOUN\ndu\tADP\npain\tNOUN\n10000\tNUM",
        "_\tSYM\nest\tAUX\nbon\tADJ\n",
    ]
    counts = dict(file.counts)
    assert counts["multiword_tokens"] == 1
    assert counts["empty_nodes"] == 1
    assert counts["inner_spaces"] == 1
    assert (counts["dropped_sentences"], counts["dropped_tokens"]) == (1, 2)
    assert counts["crlf_lines"] == ODD.count("\r\n")


def test_treebanks_are_pooled_in_the_order_of_their_names(tmp_path: Path) -> None:
    for folder, name in (("z", "a"), ("y", "c"), ("x", "b")):
        content = row("1", name, "X", "0") + "\n\n"
        write(tmp_path / f"raw/{folder}/it_{name}-ud-test.conllu", content)
    report = prepare("udpos", tmp_path / "raw", tmp_path / "out")
    assert report.files[0].path.read_text(encoding="utf-8") == "a\tX\n\nb\tX\n\nc\tX\n"
