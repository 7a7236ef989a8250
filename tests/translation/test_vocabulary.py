from __future__ import annotations

from pathlib import Path

import pytest

from tests.translation.toy_language import WORDS
from xharness.errors import InputError
from xharness.translation.config import VocabularySettings
from xharness.translation.vocabulary import BEGIN, END, PAD, UNKNOWN, train_vocabulary

SENTENCES = [*WORDS, *WORDS.values(), "ﬁsh „moon“ …"] * 3
SETTINGS = VocabularySettings(size=80)


def test_text_comes_back_as_it_was(tmp_path: Path) -> None:
    vocabulary = train_vocabulary(SENTENCES, SETTINGS, tmp_path)
    assert vocabulary.size == 80
    # NFKC would write "fish" and "...".
    texts = ["ﬁsh „moon“ …", "sun sol"]
    rows = vocabulary.encode(texts)
    assert vocabulary.decode(rows) == texts
    assert not {PAD, UNKNOWN, BEGIN, END} & {piece for row in rows for piece in row}
    assert vocabulary.encode(["#"])[0][-1] == UNKNOWN


def test_equal_calls_share_a_vocabulary_and_others_train_anew(tmp_path: Path) -> None:
    first = train_vocabulary(SENTENCES, SETTINGS, tmp_path)
    written = (tmp_path / "sentencepiece.model").stat().st_mtime_ns
    assert train_vocabulary(SENTENCES, SETTINGS, tmp_path).sha256 == first.sha256
    assert (tmp_path / "sentencepiece.model").stat().st_mtime_ns == written
    other = train_vocabulary(SENTENCES, VocabularySettings(size=70), tmp_path)
    assert other.size == 70


def test_a_damaged_model_is_trained_again(tmp_path: Path) -> None:
    first = train_vocabulary(SENTENCES, SETTINGS, tmp_path)
    (tmp_path / "sentencepiece.model").write_bytes(b"damaged")
    assert train_vocabulary(SENTENCES, SETTINGS, tmp_path).sha256 == first.sha256


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("size", [16, 5000])
def test_a_size_that_does_not_fit_the_text_is_one_line(
    tmp_path: Path, kind: str, size: int
) -> None:
    settings = VocabularySettings.model_validate({"size": size, "model_type": kind})
    with pytest.raises(InputError) as caught:
        train_vocabulary(SENTENCES, settings, tmp_path)
    assert "vocabulary.size" in str(caught.value)
    assert "\n" not in str(caught.value)
