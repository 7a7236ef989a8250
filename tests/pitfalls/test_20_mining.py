"""BUCC: the best cut may be the last candidate, gold may be absent, sentences may repeat, thresholds come from dev."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.pitfalls.submission import one_language, write
from xharness.data.examples import Bitext, Sentences
from xharness.data.sources import FileDataSource
from xharness.records.store import read_records
from xharness.scoring import score_task
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.predictions import gold_text
from xharness.tasks.retrieval import MinedPairs, best_threshold, cut, mine

BUCC = load(TaskSpec, "bucc2018")


def bitext(source: list[str], target: list[str], gold: list[tuple[str, str]]) -> Bitext:
    d, e = (
        Sentences(tuple(f"{side}{i}" for i in range(len(texts))), tuple(texts))
        for side, texts in (("d", source), ("e", target))
    )
    return Bitext(d, e, tuple(gold))


def vectors(*rows: list[float]) -> npt.NDArray[np.float32]:
    return np.array(rows, np.float32)


GOLD = [("d0", "e0"), ("d1", "e1"), ("d2", "e2")]


def test_the_best_cut_is_after_the_last_candidate() -> None:
    found = mine(
        np.eye(3, dtype=np.float32),
        np.eye(3, dtype=np.float32),
        bitext(list("abc"), list("ABC"), GOLD),
        2,
    )
    assert sorted(found.pairs) == GOLD
    threshold = best_threshold(found, GOLD)
    assert threshold == found.scores[-1]
    assert cut(found, threshold) == GOLD


def test_equal_sentences_under_different_ids_stay_and_the_first_is_paired() -> None:
    texts = {"d7": "a", "d3": "a", "d5": "b"}
    x = {"d7": [1.0, 0, 0], "d3": [1.0, 0, 0], "d5": [0, 1.0, 0]}
    y = vectors([0, 1, 0], [1, 0, 0])
    for names in (list(texts), list(texts)[::-1]):
        source = Sentences(tuple(names), tuple(texts[name] for name in names))
        corpus = Bitext(source, Sentences(("e0", "e1"), ("B", "A")), ())
        found = mine(vectors(*(x[name] for name in names)), y, corpus, 2)
        assert sorted(found.pairs) == [("d3", "e1"), ("d5", "e0")]


@pytest.mark.parametrize("with_gold", [True, False])
def test_gold_of_test_may_be_absent(tmp_path: Path, with_gold: bool) -> None:
    name = "bucc2018/de-en.test"
    write(tmp_path / f"{name}.de", "d0\tHaus\nd1\tBaum\n")
    write(tmp_path / f"{name}.en", "e0\thouse\ne1\ttree\n")
    if with_gold:
        write(tmp_path / f"{name}.gold", "d1\te1\n")
    split = FileDataSource(tmp_path).read(BUCC, "test", "de", None)
    assert split.stand_in is None
    pieces = gold_text(BUCC, split)
    text = None if pieces is None else "".join(pieces)
    assert text == ("d1\te1\n" if with_gold else None)
    write(tmp_path / "predictions/bucc2018/test-de.tsv", "d1\te1\n")
    if text is not None:
        write(tmp_path / "gold/bucc2018/test-de.tsv", text)
    task = one_language("bucc2018", "de")
    (result,) = score_task(task, tmp_path / "predictions", tmp_path / "gold").languages.values()
    assert result.status == ("scored" if with_gold else "unscored")
    assert result.figures.get("f1") == (100.0 if with_gold else None)


def test_test_pairs_are_cut_at_the_threshold_of_dev() -> None:
    dev = MinedPairs((("d0", "e0"), ("d1", "e1"), ("d2", "e9")), np.array([1.5, 1.2, 1.0]))
    threshold = best_threshold(dev, [("d0", "e0"), ("d1", "e1")])
    assert threshold == pytest.approx(1.1)
    test = MinedPairs((("d5", "e5"), ("d6", "e6"), ("d7", "e7")), np.array([1.3, 1.11, 1.09]))
    assert cut(test, threshold) == [("d5", "e5"), ("d6", "e6")]


def test_the_threshold_is_in_the_record(finished: Path) -> None:
    (record,) = [r for r in read_records([finished]) if r.task == "sample_bitext"]
    for result in record.languages.values():
        assert isinstance(result.details["threshold"], float)
        assert result.stand_in is None


def test_dev_and_test_are_told_apart_and_the_target_is_read_from_its_own_file(
    tmp_path: Path,
) -> None:
    for split in ("dev", "test"):
        for side in ("de", "en"):
            write(tmp_path / f"bucc2018/de-en.{split}.{side}", f"{split}-{side}\tx\n")
    source = FileDataSource(tmp_path)
    for split in ("dev", "test"):
        (found,) = source.read(BUCC, split, "de", None).examples  # type: ignore[arg-type]
        assert isinstance(found, Bitext)
        assert (found.source.ids, found.target.ids) == ((f"{split}-de",), (f"{split}-en",))
