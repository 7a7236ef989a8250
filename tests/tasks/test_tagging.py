"""Tagging windows against the official tagger's loop, and one decision for every word whatever the tokenizer does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.tasks import trained_tokenizers
from tests.tasks.counted_pieces import DOUBLE, SINGLE, UNKNOWN, CountedPieces
from tests.tasks.fake_models import tags_from_scores
from xharness.data.examples import Split, TaggingExample
from xharness.errors import InputError
from xharness.specs.recipe import Settings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks import tagging
from xharness.tasks.pieces import PieceTokenizer, Template
from xharness.tasks.predictions import Predictions, gold_text, prediction_text

PANX = load(TaskSpec, "panx")
VANISHING = ["\u00ad", "\u200b", "\u200e", "\u0000", "\ufffd", "\u3000", "\ufeff", ""]


def sentence(*words: str, tags: tuple[str, ...] | None = None) -> TaggingExample:
    return TaggingExample("0", words, tags)


def official_windows(
    sentences: list[list[int]], max_length: int, specials: int
) -> tuple[list[list[int]], int, int]:
    """Cut sentences as the official preprocessing does, word by word.

    Args:
        sentences: Piece counts of each sentence's words.
        max_length: Pieces in a window, special tokens included.
        specials: 3 for XLM-R, else 2.

    Returns:
        Piece counts of each window's words; words without pieces; words with too many.
    """
    room = max_length - specials
    windows: list[list[int]] = []
    empty = long = 0
    for counts in sentences:
        windows.append([])
        used = 0
        for count in counts:
            empty += count == 0
            long += count > room
            if count == 0 or count > room:
                count = 1
            if used + count > room:
                windows.append([])
                used = 0
            windows[-1].append(count)
            used += count
    return windows, empty, long


@given(
    st.lists(st.lists(st.integers(0, 14), min_size=1, max_size=30), min_size=1, max_size=5),
    st.integers(8, 16),
    st.sampled_from([DOUBLE, SINGLE]),
)
def test_windows_are_those_of_the_official_loop(
    sentences: list[list[int]], max_length: int, template: Template
) -> None:
    tokenizer = CountedPieces({f"w{n}": n for n in range(15)}, template)
    examples = [sentence(*(f"w{n}" for n in counts)) for counts in sentences]
    encoding = tagging.encode(examples, PANX, tokenizer, Settings(max_length=max_length))
    specials = 3 if template is DOUBLE else 2
    windows, empty, long = official_windows(sentences, max_length, specials)

    assert np.diff(encoding.word_starts).tolist() == [len(window) for window in windows]
    assert encoding.lengths.tolist() == [sum(window) + 2 for window in windows]
    flat = iter(f"w{n}" for counts in sentences for n in counts)
    for i, window in enumerate(windows):
        expected, positions = [0], []
        for count in window:
            word = next(flat)
            positions.append(len(expected))
            fallback = tokenizer.counts[word] != count
            expected += [UNKNOWN] if fallback else tokenizer.pieces_of(word)
        ids = encoding.ids[encoding.starts[i] : encoding.starts[i + 1]]
        assert ids.tolist() == [*expected, 2]
        words = slice(encoding.word_starts[i], encoding.word_starts[i + 1])
        assert encoding.word_positions[words].tolist() == positions
    assert encoding.counts.get("words_without_pieces", 0) == empty
    assert encoding.counts.get("words_of_too_many_pieces", 0) == long
    assert encoding.counts.get("sentences_cut", 0) == len(windows) - len(sentences)
    assert len(encoding.types) == (len(encoding.ids) if template is SINGLE else 0)


@pytest.fixture(scope="module", params=["wordpiece", "byte_level_bpe", "unigram"])
def tokenizer(request: pytest.FixtureRequest) -> PieceTokenizer:
    make: Any = getattr(trained_tokenizers, request.param)
    return trained_tokenizers.pieces(make(trained_tokenizers.TEXTS, 400))


def decide(encoding: tagging.TaggingEncoding, examples: list[TaggingExample]) -> list[list[str]]:
    scores = torch.eye(len(PANX.labels))[torch.arange(100_000) % len(PANX.labels)]
    numbers = np.array(tags_from_scores(encoding, scores), np.int64)
    return list(tagging.tags_of(numbers, examples, PANX))


def test_400_words_in_windows_of_32_give_400_rows(tokenizer: PieceTokenizer) -> None:
    words = tuple(word for text in trained_tokenizers.TEXTS * 20 for word in text.split())[:400]
    assert len(words) == 400
    example = sentence(*words, tags=("O",) * 400)
    encoding = tagging.encode([example], PANX, tokenizer, Settings(max_length=32))
    assert encoding.lengths.max() <= 32
    assert encoding.counts["sentences_cut"] == len(encoding) - 1 > 5
    predicted = "".join(prediction_text(PANX, [Predictions(decide(encoding, [example]))]))
    gold = "".join(gold_text(PANX, Split("panx", "test", "en", [example])) or ())
    assert predicted.count("\n") == gold.count("\n") == 400
    assert not encoding.counts.get("words_without_pieces")


@pytest.mark.parametrize("odd", VANISHING)
def test_word_that_vanishes_keeps_its_row(tokenizer: PieceTokenizer, odd: str) -> None:
    example = sentence("the", odd, "letter", tags=("O", "B-PER", "O"))
    encoding = tagging.encode([example], PANX, tokenizer, Settings(max_length=32))
    assert [len(tags) for tags in decide(encoding, [example])] == [3]
    pieces = tokenizer.words(["the", odd, "letter"]).lengths.tolist()
    assert pieces[0] > 0
    assert pieces[2] > 0
    assert encoding.counts.get("words_without_pieces", 0) == pieces.count(0)
    if not pieces[1]:
        at = encoding.word_positions[1]
        assert encoding.ids[at] == tokenizer.unknown_id
    assert [PANX.labels[label] for label in encoding.labels] == ["O", "B-PER", "O"]


def test_lower_casing_normaliser_drops_these_words_whole() -> None:
    # Otherwise the test above would never meet a word without pieces.
    made = trained_tokenizers.pieces(trained_tokenizers.wordpiece(trained_tokenizers.TEXTS, 400))
    assert made.words(VANISHING).lengths.tolist() == [0] * len(VANISHING)


def test_word_of_three_pieces_gets_the_decision_of_its_first() -> None:
    tokenizer = CountedPieces({"name": 3})
    example = sentence("name")
    encoding = tagging.encode([example], PANX, tokenizer, Settings(max_length=16))
    scores = torch.zeros(2000, len(PANX.labels))
    for piece, tag in zip(tokenizer.pieces_of("name"), ("B-PER", "I-PER", "O"), strict=True):
        scores[piece, PANX.labels.index(tag)] = 1.0
    numbers = np.array(tags_from_scores(encoding, scores), np.int64)
    assert list(tagging.tags_of(numbers, [example], PANX)) == [["B-PER"]]


def test_unlabelled_sentences_have_no_label_index() -> None:
    tokenizer = CountedPieces({"a": 1})
    examples = [sentence("a"), sentence("a", tags=("O",))]
    encoding = tagging.encode(examples, PANX, tokenizer, Settings(max_length=16))
    assert encoding.labels.tolist() == [-1, PANX.labels.index("O")]


def test_batch_positions_find_every_word_once() -> None:
    tokenizer = CountedPieces({"a": 1, "bb": 2})
    examples = [sentence("a", "bb", "a"), sentence("bb"), sentence("bb", "bb")]
    encoding = tagging.encode(examples, PANX, tokenizer, Settings(max_length=16))
    row, position, word = tagging.batch_positions(encoding, np.array([2, 0]))
    assert row.tolist() == [0, 0, 1, 1, 1]
    assert position.tolist() == [1, 3, 1, 2, 4]
    assert word.tolist() == [4, 5, 0, 1, 2]


def test_model_without_room_for_a_word_is_refused() -> None:
    tokenizer = CountedPieces({"a": 1}, max_length=4)
    with pytest.raises(InputError, match="no room beside 3 special tokens"):
        tagging.encode([sentence("a")], PANX, tokenizer, Settings(max_length=128))


@pytest.mark.shared
@pytest.mark.parametrize("language", ["ja", "ta", "my"])
def test_real_sentences_get_one_tag_a_word(shared: Any, language: str) -> None:
    from transformers import AutoTokenizer

    from xharness.data.sources import FileDataSource

    loaded = AutoTokenizer.from_pretrained(shared / "models" / "multilingual-e5-small-trimmed")
    tokenizer = trained_tokenizers.pieces(loaded)
    split = FileDataSource(shared / "data" / "xtreme_mini").read(PANX, "test", language, 300)
    examples: Any = split.examples
    encoding = tagging.encode(examples, PANX, tokenizer, Settings(max_length=32))
    assert encoding.counts["sentences_cut"] > 0
    decided = decide(encoding, examples)
    assert [len(tags) for tags in decided] == [len(e.words) for e in examples]
    counts = [tokenizer.words(e.words).lengths.tolist() for e in examples]
    windows, _, _ = official_windows(counts, 32, 3)
    assert np.diff(encoding.word_starts).tolist() == [len(window) for window in windows]
