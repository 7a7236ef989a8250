"""Which languages are resampled together, and how examples meet."""

from __future__ import annotations

import numpy as np

from xharness.comparison.pairing import LanguageScores, PairedExamples, pair_examples
from xharness.scoring.examples import ExampleScores


def scores(values: list[float], ids: list[str] | None = None) -> ExampleScores:
    table = np.stack([np.array(values), np.ones(len(values))], axis=1)
    return ExampleScores(None if ids is None else tuple(ids), {"f1": table})


def both(values: list[float], ids: list[str] | None = None) -> LanguageScores:
    return LanguageScores((scores(values, ids),), (scores(values[::-1], ids),))


def test_shared_ids_are_joined_by_id() -> None:
    groups = pair_examples(
        {"en": both([1, 2, 3], ["a", "b", "c"]), "de": both([5, 6], ["c", "a"])}, ["f1"]
    )
    assert len(groups) == 1
    assert groups[0].languages == ("en", "de")
    assert groups[0].baseline[:, :, 0, 0, 0].tolist() == [[1, 6], [2, 0], [3, 5]]
    assert groups[0].baseline[:, :, 0, 0, 1].tolist() == [[1, 1], [1, 0], [1, 1]]
    assert [groups[0].examples_of(code) for code in ("en", "de")] == [3, 2]


def test_without_ids_equally_long_languages_are_joined_by_place() -> None:
    groups = pair_examples({"en": both([1, 2]), "de": both([3, 4]), "fr": both([5])}, ["f1"])
    assert [group.languages for group in groups] == [("en", "de"), ("fr",)]
    assert groups[0].candidate[:, :, 0, 0, 0].tolist() == [[2, 4], [1, 3]]


def test_ids_of_each_language_alone_count_as_places() -> None:
    groups = pair_examples({"en": both([1], ["en-1"]), "de": both([2], ["de-1"])}, ["f1"])
    assert [group.languages for group in groups] == [("en", "de")]


def test_mined_pairs_meet_by_source_and_absent_ones_add_nothing() -> None:
    pair = LanguageScores((scores([2], ["s1"]),), (scores([2, 1], ["s2", "s3"]),))
    (group,) = pair_examples({"de": pair}, ["f1"], sparse=True)
    assert group.baseline[:, 0, 0, 0, 0].tolist() == [2, 0, 0]
    assert group.candidate[:, 0, 0, 0, 0].tolist() == [0, 2, 1]


def test_an_id_that_occurs_twice_counts_twice() -> None:
    groups = pair_examples({"en": both([1, 2], ["a", "a"]), "de": both([4], ["a"])}, ["f1"])
    assert groups[0].baseline[:, 0, 0, 0].tolist() == [[3, 2]]


def test_seeds_lie_next_to_each_other() -> None:
    pair = LanguageScores((scores([1]), scores([2])), (scores([3]),))
    (group,) = pair_examples({"en": pair}, ["f1"])
    assert group.baseline[0, 0, :, 0, 0].tolist() == [1, 2]
    assert group.candidate.shape == (1, 1, 1, 1, 2)


def test_ratios_with_little_right_are_rare_and_means_never() -> None:
    def group(right: int, predicted: float) -> PairedExamples:
        counts = np.zeros((50, 1, 1, 1, 2))
        counts[:right, ..., 0] = 2.0
        counts[..., 1] = 1.0
        other = counts.copy()
        other[..., 1] = predicted
        return PairedExamples(("en",), counts, other)

    assert [group(right, 3.0).rare("en") for right in (0, 19, 20)] == [True, True, False]
    assert not group(1, 1.0).rare("en")
