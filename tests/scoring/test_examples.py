"""Scores example by example: values by hand, and sums that are the figures of scoring."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scoring.submission import span_counts, squad, tag_ids, tag_text, write
from xharness.scoring import score_task
from xharness.scoring.examples import score_examples
from xharness.scoring.spans import Scheme, SpanReader
from xharness.scoring.tag_lines import new_vocabulary
from xharness.specs.registry import load
from xharness.specs.task import METRIC_FIGURES, TaskSpec

TAGS = ["O", "B-LOC", "I-LOC", "E-LOC", "S-LOC", "B-PER", "X", "NOUN", "SCONJ", "_", "I"]
SENTENCES = st.lists(
    st.lists(st.sampled_from(TAGS), min_size=1, max_size=5), min_size=1, max_size=6
)


def test_spans_belong_to_the_sentence_of_their_last_token() -> None:
    gold = [["B-LOC", "I-LOC", "O"], ["O", "O"], ["B-PER", "B-LOC"]]
    guess = [["B-LOC", "I-LOC", "O"], ["O", "B-PER"], ["B-PER", "O"]]
    vocabulary = new_vocabulary()
    truth, answers = tag_ids(gold, vocabulary), tag_ids(guess, vocabulary)
    counts = SpanReader(list(vocabulary), "iob2").count_by_sentence(truth, answers)
    # correct, predicted, gold of each sentence, by hand
    assert counts.tolist() == [[1, 1, 1], [0, 1, 0], [1, 1, 2]]


@given(
    data=st.data(),
    gold=SENTENCES,
    scheme=st.sampled_from(["seqeval-1.2.2", "seqeval-0.0.12", "iob2", "runs"]),
)
@settings(max_examples=200)
def test_sums_over_sentences_are_the_counts_of_the_file(
    data: st.DataObject, gold: list[list[str]], scheme: Scheme
) -> None:
    guess = [[data.draw(st.sampled_from(TAGS)) for _ in sentence] for sentence in gold]
    vocabulary = new_vocabulary()
    truth, answers = tag_ids(gold, vocabulary), tag_ids(guess, vocabulary)
    reader = SpanReader(list(vocabulary), scheme)
    by_sentence, counts = (
        reader.count_by_sentence(truth, answers),
        span_counts(reader, truth, answers),
    )
    assert by_sentence.shape == (len(gold), 3)
    assert by_sentence.sum(axis=0).tolist() == [counts.correct, counts.predicted, counts.gold]
    if scheme in ("iob2", "runs"):  # seqeval lets some spans go on over the end of a sentence
        for row, one, other in zip(by_sentence, gold, guess, strict=True):
            alone = span_counts(reader, tag_ids([one], vocabulary), tag_ids([other], vocabulary))
            assert row.tolist() == [alone.correct, alone.predicted, alone.gold]


def test_answers_by_question(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.json", squad({"a": ["blue house"], "b": ["one"], "c": ["two"]}))
    guess = write(tmp_path / "guess.json", json.dumps({"a": "house", "b": "one"}))
    scores = score_examples(load(TaskSpec, "xquad"), "en", guess, gold, "official")
    assert scores.ids == ("a", "b", "c")
    assert scores.ratios["exact_match"].tolist() == [[0, 1], [1, 1], [0, 1]]
    # "house" for "blue house": precision 1, recall 1/2; the unanswered question counts 0.
    assert scores.ratios["f1"][:, 0] == pytest.approx([2 / 3, 1, 0])


def test_mined_pairs_by_source_sentence(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.tsv", "s1\tt1\ns2\tt2\n")
    guess = write(tmp_path / "guess.tsv", "s1\tt1\ns3\tt2\n")
    scores = score_examples(load(TaskSpec, "bucc2018"), "de", guess, gold, "official")
    assert scores.ids == ("s1", "s2", "s3")
    # 2 x correct, predicted + gold
    assert scores.ratios["f1"].tolist() == [[2, 2], [0, 1], [0, 1]]
    assert scores.figure("f1") == 50.0


def test_rankings_by_query(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.json", json.dumps({"q": ["a", "b"], "r": ["c"]}))
    guess = write(tmp_path / "guess.json", json.dumps({"q": ["a", "x", "b"]}))
    scores = score_examples(load(TaskSpec, "lareqa"), "en", guess, gold, "official")
    assert scores.ids == ("q", "r")
    assert scores.ratios["map@20"][:, 0] == pytest.approx([(1 + 2 / 3) / 2, 0])


def test_choices_by_line(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.jsonl", '{"label": 0}\n{"label": 1}\n')
    guess = write(tmp_path / "guess.jsonl", '{"label": 1}\n{"label": 1}\n')
    scores = score_examples(load(TaskSpec, "xcopa"), "et", guess, gold, "official")
    assert scores.ids is None
    assert scores.ratios["accuracy"].tolist() == [[0, 1], [1, 1]]


def test_token_accuracy_by_sentence(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.tsv", tag_text([["NOUN", "VERB"], ["DET"]]))
    guess = write(tmp_path / "guess.tsv", tag_text([["NOUN", "NOUN"], ["DET"]]))
    scores = score_examples(load(TaskSpec, "udpos"), "en", guess, gold, "strict")
    assert scores.ratios["accuracy"].tolist() == [[1, 2], [1, 1]]


@pytest.mark.parametrize("profile", ["official", "official-2020", "strict"])
def test_figures_of_a_whole_run_are_those_of_scoring(finished: Path, profile: str) -> None:
    predictions, gold = finished / "predictions" / "seed-1", finished / "gold"
    compared = 0
    for folder in sorted(predictions.iterdir()):
        task = load(TaskSpec, folder.name)
        scored = score_task(task, predictions, gold, profile)
        for language, score in scored.languages.items():
            name = f"{task.name}/{task.file_name(language)}"
            examples = score_examples(task, language, predictions / name, gold / name, profile)
            for figure in METRIC_FIGURES[task.metric]:
                assert examples.figure(figure) == pytest.approx(score.figures[figure], abs=1e-9)
                compared += 1
            if task.metric != "mined_pairs":
                assert len(examples.ratios[figure]) == score.counts["examples"]
            assert all(np.isfinite(ratios).all() for ratios in examples.ratios.values())
    assert compared > 80
