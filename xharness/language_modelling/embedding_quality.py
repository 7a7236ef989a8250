"""What a language model's embeddings know of words: human ratings of similarity, and agreement with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xharness.analysis.word_similarity import Correlation, SimilaritySet, correlation, rate
from xharness.language_modelling.words import WordVocabulary
from xharness.tasks.retrieval import unit

Table = npt.NDArray[np.float32]


def rate_table(
    table: Table, vocabulary: WordVocabulary, sets: Sequence[SimilaritySet]
) -> dict[str, dict[str, Any]]:
    """Correlate an embedding with human ratings.

    Args:
        table: (vocabulary, width).
        vocabulary: Its words; a rated pair with a word that is not among them is left out and counted.
        sets: The ratings.

    Returns:
        By set: ``cosine`` and ``dot``, each with ``spearman`` and ``pearson`` x 100, the pairs compared and left
        out, and how many words are missing.
    """
    named = dict(zip(vocabulary.words[2:], table[2:], strict=True))
    vectors: Mapping[str, npt.NDArray[np.floating]] = named
    found = {}
    for similarity in sets:
        result = rate(similarity, vectors)
        found[similarity.name] = {
            "cosine": result.cosine.as_json(),
            "dot": result.dot.as_json(),
            "pairs": result.pairs,
            "missing_pairs": result.missing_pairs,
            "missing_words": len(result.missing_words),
        }
    return found


def agreement(one: Table, other: Table, *, words: int = 1000) -> Correlation:
    """Correlate two embeddings' cosines over all pairs of the most frequent words (Press and Wolf 2017).

    Args:
        one: (vocabulary, width), rows from the most frequent word after the two special ones.
        other: (vocabulary, another width), of the same words.
        words: How many are paired.
    """
    cosines = []
    for table in (one, other):
        vectors = unit(table[2 : 2 + words])
        products = vectors @ vectors.T
        cosines.append(products[np.triu_indices(len(vectors), 1)])
    return correlation(*cosines)
