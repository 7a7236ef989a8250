"""UD-POS: the rules by hand-made sentences, and equality with the official conversion."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

from xharness.errors import InputError
from xharness.preparation import PreparationReport, prepare
from xharness.preparation.conllu import read_conllu
from xharness.preparation.udpos import ancestors, language_and_split, nearly_all_blank

from .raw import block, read, row, write


def convert(
    folder: Path, text: str, name: str = "xx_toy-ud-test.conllu"
) -> tuple[str, Counter[str]]:
    """The one file that a treebank becomes, and its counters."""
    write(folder / "raw" / name, text)
    report = prepare("udpos", folder / "raw", folder / "out")
    (file,) = report.files
    return read(file.path), Counter(file.counts)


def test_a_sentence_with_everything_in_it(tmp_path: Path) -> None:
    # Windows line ends, a byte order mark, a comment with a tab, a range, an empty node, a form
    # with spaces, no line end at the last row.
    rows = [
        "\ufeff# text =\tIl prix du pain: 10 000",
        row("1", "Le", "DET", "2"),
        row("2", "prix", "NOUN", "6"),
        row("3-4", "du"),
        row("3", "de", "ADP", "5"),
        row("4", "le", "DET", "5"),
        row("5", "pain", "NOUN", "2"),
        row("6", "10 000", "NUM", "0"),
        row("6.1", "_", "_"),
        row("7", "_", "X", "6"),
    ]
    text, counts = convert(tmp_path, "\r\n".join(rows))
    assert text == "Le\tDET\nprix\tNOUN\ndu\tADP\npain\tNOUN\n10000\tNUM\n_\tX\n"
    assert counts == {
        "byte_order_marks": 1,
        "crlf_lines": 9,
        "empty_nodes": 1,
        "inner_spaces": 1,
        "multiword_tokens": 1,
        "tied_heads": 1,
    }


def test_the_least_deep_word_heads_the_span(tmp_path: Path) -> None:
    # Depth and precedence disagree: VERB is first of the precedence and PUNCT last.
    text, counts = convert(
        tmp_path, block(row("1-2", "ab"), row("1", "a", "PUNCT", "0"), row("2", "b", "VERB", "1"))
    )
    assert text == "ab\tPUNCT\n"
    assert counts == {"multiword_tokens": 1}


@pytest.mark.parametrize(
    ("language", "first", "second", "head"),
    [
        ("de", "DET", "ADP", "ADP"),  # the default: VERB NOUN ... AUX ADP DET PART CCONJ SCONJ
        ("de", "AUX", "NOUN", "NOUN"),
        ("de", "SCONJ", "CCONJ", "CCONJ"),
        ("fr", "ADP", "NOUN", "NOUN"),
        ("es", "ADP", "PRON", "PRON"),
        ("it", "PRON", "ADV", "ADV"),  # the default has PRON before ADV
        ("pt", "ADV", "PRON", "PRON"),
        ("it", "INTJ", "DET", "DET"),  # and INTJ before DET
    ],
)
def test_equal_depth_goes_by_the_languages_precedence(
    tmp_path: Path, language: str, first: str, second: str, head: str
) -> None:
    text, counts = convert(
        tmp_path,
        block(
            row("1-2", "ab"),
            row("1", "a", first, "3"),
            row("2", "b", second, "3"),
            row("3", "c", "VERB", "0"),
        ),
        f"{language}_toy-ud-test.conllu",
    )
    assert text == f"ab\t{head}\nc\tVERB\n"
    assert counts == {"multiword_tokens": 1, "tied_heads": 1}


@pytest.mark.parametrize(
    ("language", "first", "second", "head"),
    [
        ("es", "NOUN", "DET", "DET"),  # a tag that is named precedes one that is not
        ("es", "ADJ", "NOUN", "NOUN"),  # two that are not: the default order
        ("xx", "SYM", "_", "SYM"),  # two that no list names: the first word
    ],
)
def test_a_tie_on_an_unnamed_tag_is_decided_and_counted(
    tmp_path: Path, language: str, first: str, second: str, head: str
) -> None:
    rows = [row("1-2", "ab"), row("1", "a", first, "0"), row("2", "b", second, "0")]
    text, counts = convert(tmp_path, block(*rows), f"{language}_toy-ud-test.conllu")
    assert text == f"ab\t{head}\n"
    assert counts["unranked_ties"] == 1


def test_depth_counts_ancestors_in_the_enhanced_graph_once_each(tmp_path: Path) -> None:
    # In the basic tree words 1 and 2 tie at depth 1 and VERB would win; the enhanced edge puts
    # word 1 below word 3 as well.
    rows = [
        row("1-2", "ab"),
        row("1", "a", "VERB", "0", "0:root|3:conj"),
        row("2", "b", "DET", "0", "0:root"),
        row("3", "c", "NOUN", "0", "0:root|1:conj"),
    ]
    sentence = next(read_conllu(block(*rows).split("\n"), "x"))
    assert [ancestors(sentence, number) for number in (1, 2, 3)] == [{0, 3}, {0}, {0, 1}]
    text, _ = convert(tmp_path, block(*rows))
    assert text == "ab\tDET\nc\tNOUN\n"


def test_blanks_and_non_joiners_leave_forms(tmp_path: Path) -> None:
    text, counts = convert(
        tmp_path,
        block(
            row("1", "a b  c", "X"),
            row("2", "می\u200cشود", "X"),
            row("3", " d\u00a0e\u00a0", "X"),
            row("4", "\u200c", "SYM"),
            row("5", "\u3000", "PUNCT"),
            row("6", "\u00ad", "X"),
        ),
    )
    assert text == "abc\tX\nمیشود\tX\nd\u00a0e\tX\n_\tSYM\n\u3000\tPUNCT\n\u00ad\tX\n"
    assert counts == {"edge_blanks": 1, "empty_forms": 1, "inner_spaces": 1, "non_joiners": 2}


@pytest.mark.parametrize(
    ("forms", "dropped"),
    [
        ("_", True),
        ("a", False),
        ("_ a", True),
        ("_ a b", False),
        ("_ _ a", True),
        ("_ _ a b", False),
        ("a b", False),
    ],
)
def test_a_sentence_is_dropped_when_at_most_one_form_is_left(forms: str, dropped: bool) -> None:
    assert nearly_all_blank(forms.split(" ")) is dropped


def test_dropped_sentences_leave_no_gap_and_are_counted(tmp_path: Path) -> None:
    blank = block(row("1", "_", "NOUN"), row("2", "_", "VERB"))
    text, counts = convert(tmp_path, block(row("1", "a", "X")) + blank + block(row("1", "b", "X")))
    assert text == "a\tX\n\nb\tX\n"
    assert counts == {"dropped_sentences": 1, "dropped_tokens": 2}


def test_the_forms_of_the_words_below_a_range_do_not_matter(tmp_path: Path) -> None:
    text, _ = convert(
        tmp_path,
        block(
            row("1-2", "ab"), row("1", "_", "X", "0"), row("2", "_", "X", "1"), row("3", "c", "X")
        ),
    )
    assert text == "ab\tX\nc\tX\n"


def test_treebanks_are_pooled_by_split_in_file_name_order(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    for name in (
        "UD_German-HDT/de_hdt-ud-train-b-1.conllu",
        "UD_German-HDT/de_hdt-ud-train-a-1.conllu",
        "a/UD_German-PUD/de_pud-ud-test.conllu",
        "z/UD_German-GSD/de_gsd-ud-train.conllu",
        "UD_German-GSD/de_gsd-ud-dev.conllu",
        "en_pud-ud-test.conllu",
    ):
        write(raw / name, block(row("1", name.rpartition("/")[2], "X")))
    report = prepare("udpos", raw, tmp_path / "out")
    written = {file.path.name: file.examples for file in report.files}
    assert written == {
        "dev-de.tsv": 1,
        "test-de.tsv": 1,
        "test-en.tsv": 1,
        "train-de.tsv": 3,
    }
    assert read(tmp_path / "out/udpos/train-de.tsv") == (
        "de_gsd-ud-train.conllu\tX\n\n"
        "de_hdt-ud-train-a-1.conllu\tX\n\n"
        "de_hdt-ud-train-b-1.conllu\tX\n"
    )


def test_names_tell_language_and_split() -> None:
    assert language_and_split(Path("de_hdt-ud-train-a-1.conllu")) == ("de", "train")
    assert language_and_split(Path("gsw-test.conllu")) == ("gsw", "test")
    with pytest.raises(InputError, match="no language and split"):
        language_and_split(Path("notes.conllu"))
    with pytest.raises(InputError, match="no language and split"):
        language_and_split(Path("en_train-ud-test.conllu"))


def test_a_treebank_found_twice_is_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        write(tmp_path / folder / "en_x-ud-test.conllu", block(row("1", "a", "X")))
    with pytest.raises(InputError, match="second file of this name"):
        prepare("udpos", tmp_path, tmp_path / "out")


def test_a_treebank_without_its_words_gives_no_file(tmp_path: Path) -> None:
    write(tmp_path / "raw/en_esl-ud-train.conllu", block(row("1", "_", "X"), row("2", "_", "X")))
    write(tmp_path / "raw/en_pud-ud-test.conllu", block(row("1", "a", "X")))
    report = prepare("udpos", tmp_path / "raw", tmp_path / "out")
    assert [file.path.name for file in report.files] == ["test-en.tsv"]
    assert report.ignored == (
        "train-en.tsv: no example left (dropped_sentences 1, dropped_tokens 2)",
    )


def test_a_large_treebank_takes_seconds(tmp_path: Path) -> None:
    tokens = [row("1-2", "zum"), row("1", "zu", "ADP", "3"), row("2", "dem", "DET", "3")]
    tokens += [row(str(n), f"Wort{n}", "NOUN", str(n - 1), f"{n - 1}:x") for n in range(3, 21)]
    tokens[3] = row("3", "Haus", "NOUN", "0", "0:root")
    write(tmp_path / "raw/de_big-ud-train.conllu", block(*tokens) * 10_000)  # 200,000 words
    start = time.perf_counter()
    report = prepare("udpos", tmp_path / "raw", tmp_path / "out")
    assert time.perf_counter() - start < 10  # under two seconds on one idle core
    assert report.counts["multiword_tokens"] == 10_000


@pytest.fixture(scope="module")
def official(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> PreparationReport:
    output = tmp_path_factory.mktemp("udpos")
    return prepare("udpos", shared / "data/extra/ud_conllu", output)


@pytest.mark.shared
def test_every_language_equals_the_official_conversion(
    shared: Path, official: PreparationReport
) -> None:
    mine = {file.path.name: file.path.read_bytes() for file in official.files}
    expected = sorted((shared / "conformance/udpos_conversion").glob("*.tsv"))
    assert len(expected) == 28
    differing = [
        path.stem for path in expected if path.read_bytes() != mine[f"test-{path.stem}.tsv"]
    ]
    assert differing == []


@pytest.mark.shared
def test_italian_fused_words_have_the_tags_of_the_benchmark_file(
    shared: Path, official: PreparationReport
) -> None:
    # Italian has no file among the official conversions, but its treebank kept its tags between
    # the releases, and 186 fused words in these 100 sentences; 178 of them are decided by a tie.
    (file,) = (file for file in official.files if file.path.name == "test-it.tsv")
    benchmark = set(read(shared / "data/xtreme_mini/udpos/test-it.tsv").rstrip("\n").split("\n\n"))
    sentences = read(file.path).rstrip("\n").split("\n\n")
    assert file.counts["tied_heads"] == 178
    assert len(sentences) == 100
    assert [sentence for sentence in sentences if sentence not in benchmark] == []
