from __future__ import annotations

import math

import pytest

from xharness.errors import InputError
from xharness.translation.quality import corpus_quality


def test_equal_text_scores_100() -> None:
    quality = corpus_quality(["Ein Hund läuft im Park ."], ["Ein Hund läuft im Park ."], "de")
    assert quality.bleu == pytest.approx(100)
    assert quality.chrf == pytest.approx(100)
    assert quality.segments == 1


def test_bleu_by_hand() -> None:
    # Six words of eight: unigrams 6/6, bigrams 4/5, trigrams 2/4, 4-grams 1/3 (Papineni et al. 2002), and a brevity
    # penalty of exp(1 - 8/6).
    quality = corpus_quality(["a b c d x f"], ["a b c d e f g x"], "en")
    precisions = 6 / 6, 3 / 5, 2 / 4, 1 / 3
    expected = 100 * math.exp(1 - 8 / 6) * math.prod(precisions) ** 0.25
    assert quality.bleu == pytest.approx(expected, abs=1e-9)


def test_chrf_by_hand() -> None:
    # "ab" against "ac" (Popović 2015, beta 2): unigrams 1 of 2 both ways, F = 1/2; bigrams none of 1, F = 0; longer
    # ones occur in neither and do not count.
    assert corpus_quality(["ab"], ["ac"], "en").chrf == pytest.approx(25)


def test_signatures_tell_the_tokens() -> None:
    for language, tokens in (("de", "13a"), ("zh", "zh"), ("th", "char"), ("ja", "char")):
        quality = corpus_quality(["a"], ["a"], language)
        assert f"tok:{tokens}" in quality.bleu_signature
        assert "version:" in quality.bleu_signature
        assert "nc:6" in quality.chrf_signature


def test_chinese_is_not_one_word() -> None:
    hypothesis, reference = "我们今天去公园散步吧", "我们今天去公园跑步吧"
    assert corpus_quality([hypothesis], [reference], "zh").bleu > 30
    assert corpus_quality([hypothesis], [reference], "de").bleu == 0


@pytest.mark.parametrize(("translations", "references"), [([], []), (["a"], ["a", "b"])])
def test_what_cannot_be_compared(translations: list[str], references: list[str]) -> None:
    with pytest.raises(InputError, match=f"{len(translations)} translations for"):
        corpus_quality(translations, references, "de")
