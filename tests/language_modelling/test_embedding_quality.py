"""Embeddings against ratings, and against each other."""

from __future__ import annotations

import numpy as np
import pytest

from xharness.analysis.word_similarity import SimilaritySet
from xharness.language_modelling.embedding_quality import agreement, rate_table
from xharness.language_modelling.words import WordVocabulary

VOCABULARY = WordVocabulary(("<unk>", "<eos>", "a", "b", "c", "d"))


def test_ratings_by_hand() -> None:
    """Cosines of a with b, c and d are 1, 0.6 and 0, in the order of the ratings; dot products 1, 3 and 0 are not.

    Ranks 3, 1, 2 of the dots against ranks 3, 2, 1: 1 - 6 x 2 / 24 = 0.5. The pair with e is left out.
    """
    table = np.array([[9, 9], [9, 9], [1, 0], [1, 0], [3, 4], [0, 2]], np.float32)
    pairs = (("a", "b"), ("a", "c"), ("a", "d"), ("a", "e"), ("<unk>", "a"))
    ratings = SimilaritySet("own", pairs, np.array([3.0, 2.0, 1.0, 9.0, 9.0]))
    found = rate_table(table, VOCABULARY, [ratings])["own"]
    assert found["cosine"]["spearman"] == pytest.approx(100)
    assert found["cosine"]["pearson"] == pytest.approx(
        100 * np.corrcoef([1, 0.6, 0], [3, 2, 1])[0, 1]
    )
    assert found["dot"]["spearman"] == pytest.approx(50)
    assert (found["pairs"], found["missing_pairs"], found["missing_words"]) == (3, 2, 2)


def test_agreement() -> None:
    """A turned and stretched embedding agrees wholly with itself; the special words and rows beyond do not enter."""
    draw = np.random.default_rng(0)
    table = draw.normal(size=(30, 6)).astype(np.float32)
    turned = 3 * table @ np.linalg.qr(draw.normal(size=(6, 6)))[0].astype(np.float32)
    turned[:2] = 7
    turned[22:] = -1
    same = agreement(table, turned, words=20)
    assert same.spearman == pytest.approx(100, abs=0.01)
    assert same.pearson == pytest.approx(100, abs=0.01)
    other = agreement(table, draw.normal(size=(30, 4)).astype(np.float32), words=20)
    assert other.spearman is not None
    assert abs(other.spearman) < 40


def test_agreement_by_hand() -> None:
    """Three words: cosines 0, 1/√2, 1/√2 against 1, 0, 0 are opposite."""
    one = np.array([[0, 0], [0, 0], [1, 0], [0, 1], [1, 1]], np.float32)
    other = np.array([[0, 0], [0, 0], [1, 0], [1, 0], [0, 1]], np.float32)
    found = agreement(one, other)
    assert found.spearman == pytest.approx(-100)
    assert found.pearson == pytest.approx(-100)
