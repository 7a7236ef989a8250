"""Human ratings and the correlation of embeddings with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from xharness.analysis.word_similarity import (
    SimilaritySet,
    correlation,
    rate,
    read_set,
    read_sets,
    similarities,
)
from xharness.errors import InputError


def test_spearman_and_pearson_are_told_apart() -> None:
    """By hand: ranks of (1, 2, 3, 4) and (1, 2, 4, 8) are equal; Pearson is 11.5 / sqrt(5 * 28.75)."""
    found = correlation(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 4, 8]))
    assert found.spearman == pytest.approx(100)
    assert found.pearson == pytest.approx(100 * 11.5 / np.sqrt(5 * 28.75))


def test_equal_ranks_share_their_mean() -> None:
    """By hand: ranks (1.5, 1.5, 3) and (1, 2, 3): covariance 1.5, variances 1.5 and 2, so 1.5 / sqrt(3)."""
    found = correlation(np.array([5.0, 5, 9]), np.array([1.0, 2, 3]))
    assert found.spearman == pytest.approx(100 * 1.5 / np.sqrt(3))


@pytest.mark.parametrize("other", [[1.0, 1.0, 1.0], [1.0, 2.0]])
def test_a_correlation_that_is_not_defined_is_none(other: list[float]) -> None:
    found = correlation(np.arange(float(len(other))), np.array(other))
    assert (found.spearman, found.pearson) == (None, None)


def test_dot_product_and_cosine() -> None:
    vectors = {"a": np.array([3.0, 4.0]), "b": np.array([6.0, 8.0]), "o": np.zeros(2)}
    dots, cosines = similarities([("a", "b"), ("a", "o")], vectors)
    assert dots.tolist() == [50.0, 0.0]
    assert cosines.tolist() == pytest.approx([1.0, 0.0])


def test_pairs_with_a_missing_word_are_left_out_and_counted() -> None:
    pairs = (("a", "b"), ("b", "c"), ("a", "c"), ("a", "lost"))
    vectors = {"a": np.array([1.0, 0]), "b": np.array([2.0, 1]), "c": np.array([3.0, 5])}
    # Dot products 2, 11, 3 against 1, 9, 2: the same order.
    result = rate(SimilaritySet("x", pairs, np.array([1.0, 9.0, 2.0, 0.0])), vectors)
    assert (result.pairs, result.missing_pairs, result.missing_words) == (3, 1, ("lost",))
    assert result.dot.spearman == pytest.approx(100)
    # Cosines 0.894, 0.844, 0.514: ranks 3, 2, 1 against 1, 3, 2 give 1 - 6 * (4 + 1 + 1) / 24.
    assert result.cosine.spearman == pytest.approx(-50)


def test_a_set_of_words_without_vectors_gives_no_figure() -> None:
    result = rate(SimilaritySet("x", (("a", "b"),), np.array([1.0])), {})
    assert (result.pairs, result.dot.spearman, result.missing_words) == (0, None, ("a", "b"))


def test_names_follow_the_papers(tmp_path: Path) -> None:
    for name in ("EN-RW-STANFORD", "own"):
        (tmp_path / f"{name}.txt").write_text("old\tnew\t1.58\n\nbig large 9e0\n")
    rare, own = read_sets([tmp_path])
    assert (rare.name, own.name) == ("Rare-Word", "own")
    assert own.pairs == (("old", "new"), ("big", "large"))
    assert own.ratings.tolist() == [1.58, 9.0]


@pytest.mark.parametrize("line", ["one two", "one two three", "one two nan", "a b 1 2"])
def test_a_line_of_another_form_is_refused(line: str, tmp_path: Path) -> None:
    path = tmp_path / "set.txt"
    path.write_text(f"old new 1\n{line}\n")
    with pytest.raises(InputError, match=r"set.txt:2: .* is not two words and a rating"):
        read_set(path)


def test_nothing_to_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no word similarity set"):
        read_sets([tmp_path])
    (tmp_path / "set.txt").write_text("\n")
    with pytest.raises(InputError, match="no pair of words"):
        read_sets([tmp_path])
    with pytest.raises(InputError, match="no such file"):
        read_sets([tmp_path / "absent.txt"])


@pytest.mark.shared
def test_the_five_sets(shared: Path) -> None:
    """Sizes as the sets' authors state them; the file of Verb-143 has a line more than its name says."""
    found = read_sets([shared / "data" / "extra" / "word_similarity"])
    assert {one.name: len(one.pairs) for one in found} == {
        "MEN": 3000,
        "MTurk-771": 771,
        "Rare-Word": 2034,
        "SimLex-999": 999,
        "Verb-143": 144,
    }
