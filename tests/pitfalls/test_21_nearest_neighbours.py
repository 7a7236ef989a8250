"""Tatoeba: repeated sentences, vectors of zeros, blank lines and the order of the target side."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pitfalls.submission import write
from xharness.data.examples import Bitext, Sentences, Split
from xharness.data.readers import READERS
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.predictions import Predictions, gold_text, prediction_text
from xharness.tasks.retrieval import nearest_neighbours

TATOEBA = load(TaskSpec, "tatoeba")

Vectors = npt.NDArray[np.float32]


def accuracy(source: Vectors, target: Vectors, texts: list[str], gold: list[int]) -> float:
    """Return the share of prediction lines that equal the gold lines, as the official metric counts them."""
    ids = tuple(map(str, range(len(texts))))
    sources = Sentences(tuple(map(str, range(len(source)))), ("x",) * len(source))
    pairs = tuple((str(i), str(line)) for i, line in enumerate(gold))
    bitext = Bitext(sources, Sentences(ids, tuple(texts)), pairs)
    split = Split("tatoeba", "test", "de", [bitext])
    chosen = nearest_neighbours(source, target, texts)
    predicted = "".join(prediction_text(TATOEBA, [Predictions([ids[i] for i in chosen])])).split()
    truth = "".join(gold_text(TATOEBA, split) or "").split()
    assert len(predicted) == len(truth) == len(gold)
    return sum(a == b for a, b in zip(predicted, truth, strict=True)) / len(gold)


def test_both_of_two_identical_targets_are_right() -> None:
    vectors = np.eye(3, dtype=np.float32)[[0, 1, 1]]
    assert accuracy(vectors, vectors, ["a", "same", "same"], [0, 1, 2]) == 1.0


def test_vectors_of_zeros_find_one_target_whatever_their_order() -> None:
    zeros = np.zeros((4, 3), np.float32)
    texts = ["d", "b", "a", "c"]
    assert nearest_neighbours(zeros, zeros, texts).tolist() == [2, 2, 2, 2]
    assert accuracy(zeros, zeros, texts, [0, 1, 2, 3]) == 0.25
    assert np.isfinite(nearest_neighbours(zeros, np.eye(3, dtype=np.float32), texts[:3])).all()


@given(
    numbers=st.lists(st.integers(0, 3), min_size=2, max_size=9),
    order=st.randoms(use_true_random=False),
)
def test_the_order_of_the_targets_does_not_matter(numbers: list[int], order: object) -> None:
    # Few sentences, and few vectors for them, so that repetitions and ties are frequent.
    rng = np.random.default_rng(numbers)
    palette = rng.integers(-1, 2, (4, 3)).astype(np.float32)
    target, source = palette[numbers], palette[numbers[::-1]]
    texts = [f"text {number}" for number in numbers]
    gold = list(range(len(numbers)))[::-1]
    before = accuracy(source, target, texts, gold)
    places = list(range(len(numbers)))
    order.shuffle(places)  # type: ignore[attr-defined]
    where = {old: new for new, old in enumerate(places)}
    after = accuracy(
        source, target[places], [texts[i] for i in places], [where[line] for line in gold]
    )
    assert before == after


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n \n"])
def test_blank_lines_at_the_end_are_no_sentences(tmp_path: Path, end: str) -> None:
    paths = {
        "source": write(tmp_path / "s", f"a\nb{end}"),
        "target": write(tmp_path / "t", "A\nB\n"),
    }
    counts: Counter[str] = Counter()
    (bitext,) = READERS["parallel_lines"](paths, TATOEBA, "test", {}, counts)
    assert isinstance(bitext, Bitext)
    assert bitext.source.texts == ("a", "b")
    assert counts["blank_trailing_lines"] == max(0, end.count("\n") - 1)
