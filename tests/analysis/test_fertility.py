"""How tokenizers cut languages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tasks.counted_pieces import DOUBLE, UNKNOWN, CharacterPieces, CountedPieces
from xharness.analysis.fertility import fertility
from xharness.analysis.fertility_command import FertilityCommand, scores_by_language
from xharness.data.examples import (
    Answer,
    Bitext,
    ChoiceExample,
    PairExample,
    QuestionExample,
    Sentences,
    TaggingExample,
)
from xharness.errors import InputError
from xharness.records.store import read_records


def sentence(*words: str) -> TaggingExample:
    return TaggingExample("1", words, None)


def test_words_by_hand() -> None:
    """Pieces 1 + 3 + 1 and 3 + 0: eight for five words of 2 + 6 + 2 + 6 + 1 characters."""
    pieces = CountedPieces({"ab": 1, "abcdef": 3, "x": 0})
    found = fertility([sentence("ab", "abcdef", "ab"), sentence("abcdef", "x")], pieces, 128)
    assert (found.unit, found.units, found.pieces, found.characters) == ("word", 5, 8, 17)
    assert found.pieces_per_unit == 8 / 5
    assert found.characters_per_piece == 17 / 8
    assert (found.unknown_pieces, found.unknown_units) == (0, 1)  # "x" came to nothing


def test_unknown_pieces_are_a_share_of_all() -> None:
    odd = chr(UNKNOWN)
    found = fertility([sentence("abc", f"a{odd}", odd + odd, "d")], CharacterPieces(), 128)
    assert (found.pieces, found.unknown_pieces, found.unknown_units) == (8, 3, 2)
    assert found.unknown_rate == pytest.approx(37.5)


@pytest.mark.parametrize(("max_length", "too_long"), [(10, 0), (9, 1), (6, 1), (5, 2)])
def test_the_longest_sentence_that_fits(max_length: int, too_long: int) -> None:
    """The official tagger keeps three places for special tokens of XLM-R's kind: 7 and 3 pieces need 10 and 6."""
    examples = [sentence("abcd", "efg"), sentence("abc")]
    found = fertility(examples, CharacterPieces(template=DOUBLE), max_length)
    assert (found.too_long, found.truncation) == (too_long, 50.0 * too_long)


def test_a_model_takes_no_more_than_its_positions() -> None:
    assert fertility([sentence("abcdef")], CharacterPieces(max_length=8), 128).too_long == 1


@pytest.mark.parametrize(
    "example",
    [
        PairExample("1", "abcd", "ef g", "x"),
        QuestionExample("1", "abcd", "ef g", (Answer("ef", 0),)),
        ChoiceExample("1", "abcd", "e", ("f", "fg"), 1),
    ],
)
def test_two_segments_share_a_window(
    example: PairExample | QuestionExample | ChoiceExample,
) -> None:
    """Seven pieces beside four special tokens of XLM-R's kind fill 11 places."""
    fits, cut = (fertility([example], CharacterPieces(), length) for length in (11, 10))
    assert (fits.unit, fits.units, fits.pieces, fits.examples) == ("text", 2, 7, 1)
    assert (fits.too_long, cut.too_long) == (0, 1)


def test_of_a_bitext_the_foreign_side_counts() -> None:
    bitext = Bitext(Sentences(("0", "1"), ("ab c", "abcdef")), Sentences(("0",), ("z" * 50,)), None)
    found = fertility([bitext], CharacterPieces(), 7)
    assert (found.units, found.pieces, found.examples, found.too_long) == (2, 9, 2, 1)


def test_the_verb_beside_the_scores_of_a_run(finished: Path, tmp_path: Path) -> None:
    """Figures of a language with a score enter the plot and the correlation."""
    out, figure = tmp_path / "out.json", tmp_path / "out.svg"
    text = FertilityCommand(
        "sample",
        task="sample_pos",
        limit=30,
        records=(finished / "records" / "sample_pos-seed-1.json",),
        json_file=out,
        figure=figure,
    ).execute()
    content = json.loads(out.read_text())
    assert set(content["languages"]) == {"en", "de", "es", "hi", "ru", "sw", "tr", "zh"}
    group = "sample, POS"
    (record,) = read_records([finished / "records" / "sample_pos-seed-1.json"])
    expected = {code: found.figures["f1"] for code, found in record.languages.items()}
    assert content["scores"] == {group: pytest.approx(expected)}
    agreement = content["correlation_with_pieces_per_unit"][group]
    assert set(agreement) == {"spearman", "pearson"}
    assert -100 <= agreement["spearman"] <= 100
    assert content["languages"]["de"]["pieces_per_word"] >= 1
    assert "pieces/word" in text
    assert figure.read_text().startswith("<?xml")


def test_scores_are_means_over_seeds(finished: Path) -> None:
    (record,) = read_records([finished / "records" / "sample_pos-seed-1.json"])
    twice = [record, record.model_copy(update={"seed": 2})]
    assert scores_by_language(twice) == scores_by_language([record])


def test_a_figure_needs_scores(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--records"):
        FertilityCommand("sample", task="sample_pos", figure=tmp_path / "out.svg").execute()


@pytest.mark.shared
def test_real_languages_differ(shared: Path, tmp_path: Path) -> None:
    """English words need fewest pieces of these; Finnish and Tamil, rich in endings, more."""
    FertilityCommand(
        str(shared / "models" / "multilingual-e5-small-trimmed"),
        data=str(shared / "data" / "xtreme_mini"),
        languages=("en", "fi", "ta"),
        limit=100,
        json_file=tmp_path / "out.json",
    ).execute()
    found = json.loads((tmp_path / "out.json").read_text())["languages"]
    pieces = {code: one["pieces_per_word"] for code, one in found.items()}
    assert pieces["en"] < min(pieces["fi"], pieces["ta"])
