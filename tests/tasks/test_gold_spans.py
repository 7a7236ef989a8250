"""A model that always finds the gold span gets exact match 100 on real data, but for answers that no span gives.

From the encoding of real questions over scores made of the gold positions, through the real code for spans, answers,
prediction files and scoring. Three kinds of tokenizer: Unigram with NFKC (a pretrained one), WordPiece with accents
stripped, byte-level BPE. Every miss must be explained by the tokenizer's own offsets.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from tests.tasks.fake_models import gold_scores, spans_from_scores
from tests.tasks.trained_tokenizers import byte_level_bpe, pieces, wordpiece
from xharness.data.examples import QuestionExample, Split, SplitName
from xharness.data.sources import FileDataSource
from xharness.files import write_text
from xharness.models.tokenization import TransformersPieces
from xharness.scoring.answer_rules import mlqa_tokenizer, squad_tokens
from xharness.scoring.scores import score_task
from xharness.specs.recipe import Settings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.predictions import Predictions, gold_text, prediction_text
from xharness.tasks.question_answering import QuestionEncoding, answers_of, encode

pytestmark = pytest.mark.shared

Named = tuple[str, SplitName, str]

#: Languages without blanks, with marks that normalisers drop, and with suffixes that answers leave out.
SUBSET: tuple[Named, ...] = (
    ("xquad", "test", "zh"),
    ("xquad", "test", "th"),
    ("xquad", "test", "hi"),
    ("xquad", "test", "ar"),
    ("tydiqa", "test", "ko"),
    ("tydiqa", "test", "te"),
)
EVERYTHING: tuple[Named, ...] = (
    *(("xquad", "test", code) for code in (*load(TaskSpec, "xquad").languages, "ro")),
    *(("mlqa", "test", code) for code in load(TaskSpec, "mlqa").languages),
    *(("tydiqa", "test", code) for code in load(TaskSpec, "tydiqa").languages),
    ("tydiqa", "train", "en"),
    ("xquad", "train", "en"),  # SQuAD, on which XQuAD and MLQA train
    ("xquad", "dev", "en"),
)

#: Longer than any gold answer: what is left are the tokenizer's own limits.
UNLIMITED = 384
LIMIT = Settings().max_answer_length

#: Misses of the pretrained Unigram tokenizer, all of them answers that begin or end inside a piece: Korean and Telugu
#: answers without the suffix that the text has, Arabic ones without the prefix.
INSIDE_PIECES = {
    ("xquad", "test", "zh"): 6,
    ("xquad", "test", "th"): 6,
    ("xquad", "test", "hi"): 1,
    ("xquad", "test", "ar"): 3,
    ("tydiqa", "test", "ko"): 17,
    ("tydiqa", "test", "te"): 127,
}


def read(shared: Path, named: Named) -> Split:
    task, split, language = named
    source = FileDataSource(shared / "data" / "xtreme_mini")
    return source.read(load(TaskSpec, task), split, language, None)


def questions_of(split: Split) -> list[QuestionExample]:
    return cast(list[QuestionExample], split.examples)


@pytest.fixture(scope="module")
def subset(shared: Path) -> dict[Named, Split]:
    return {named: read(shared, named) for named in SUBSET}


def three_tokenizers(shared: Path, splits: dict[Named, Split]) -> dict[str, TransformersPieces]:
    from transformers import AutoTokenizer

    contexts = {q.context for split in splits.values() for q in questions_of(split)}
    # A third is enough for a vocabulary, and leaves words that it was not made for.
    texts = sorted(contexts)[::3]
    loaded = AutoTokenizer.from_pretrained(shared / "models" / "multilingual-e5-small-trimmed")
    return {
        "unigram": pieces(loaded),
        "wordpiece": pieces(wordpiece(texts, 12_000)),
        "byte_level_bpe": pieces(byte_level_bpe(texts, 8_000)),
    }


@pytest.fixture(scope="module")
def tokenizers(shared: Path, subset: dict[Named, Split]) -> dict[str, TransformersPieces]:
    return three_tokenizers(shared, subset)


def answers_from_gold(
    encoding: QuestionEncoding, questions: list[QuestionExample], longest: int
) -> dict[str, str]:
    spans = spans_from_scores(encoding, gold_scores(encoding), max_answer_length=longest)
    answers, counts = answers_of(encoding, questions, *spans)
    assert counts == {}
    return answers


def exact_match(
    named: Named, split: Split, answers: dict[str, str], folder: Path
) -> tuple[float, set[str]]:
    """Score a prediction file with the official metric; return exact match in percent, and the ids it is wrong on."""
    _, _, language = named
    task = load(TaskSpec, named[0]).model_copy(update={"languages": (language,)})
    name = f"{task.name}/{task.file_name(language)}"
    gold = gold_text(task, split)
    assert gold is not None
    write_text(folder / "gold" / name, gold)

    def score(found: dict[str, str], called: str) -> float:
        write_text(folder / called / name, prediction_text(task, [Predictions(found)]))
        scores = score_task(task, folder / called, folder / "gold").languages[language]
        assert scores.counts["unanswered"] == 0
        return scores.figures["exact_match"]

    tokens = mlqa_tokenizer(language) if task.metric == "mlqa" else squad_tokens
    wrong = {
        question.id
        for question in questions_of(split)
        if all(tokens(answers[question.id]) != tokens(a.text) for a in question.answers)
    }
    assert score({q.id: q.answers[0].text for q in questions_of(split)}, "right") == 100.0
    total = score(answers, "answers")
    assert total == pytest.approx(100 * (1 - len(wrong) / len(split)))
    return total, wrong


def why_unreachable(question: QuestionExample, tokenizer: TransformersPieces) -> str | None:
    """Explain by the tokenizer's own offsets why no span of pieces gives the first answer; ``None`` where one does."""
    context, answer = question.context, question.answers[0]
    begin = answer.start + len(answer.text) - len(answer.text.lstrip())
    end = answer.start + len(answer.text.rstrip())
    _, offsets = tokenizer.texts_with_offsets([context])
    starts, ends, held = set(), set(), np.zeros(len(context) + 2, np.bool_)
    for first, past in offsets.tolist():
        while first < past and context[first].isspace():
            first += 1
        while first < past and context[past - 1].isspace():
            past -= 1
        starts.add(first)
        ends.add(past)
        held[first:past] = True
    if begin not in starts:
        return "begins inside a piece" if held[begin] else "begins with a dropped character"
    if end not in ends:
        if held[end - 1]:
            return "ends inside a piece"
        # Dropped characters at its end belong to the piece before, as far as they go.
        return "ends among dropped characters" if _dropped(context, held, end) else None
    return "ends before a dropped character" if _dropped(context, held, end) else None


def _dropped(context: str, held: np.ndarray[Any, Any], at: int) -> bool:
    return at < len(context) and not held[at] and not context[at].isspace()


def pieces_of_answer(encoding: QuestionEncoding, question: int) -> int:
    windows = np.flatnonzero(encoding.questions == question)
    return int(max(encoding.answers[w, 1] - encoding.answers[w, 0] + 1 for w in windows))


def check(named: Named, split: Split, tokenizer: TransformersPieces, folder: Path) -> Counter[str]:
    """Make sure that every miss is explained, and return the explanations."""
    questions = questions_of(split)
    task = load(TaskSpec, named[0])
    encoding = encode(questions, task, tokenizer, Settings(max_length=384, doc_stride=128))
    assert "answers_between_windows" not in encoding.counts

    answers = answers_from_gold(encoding, questions, UNLIMITED)
    assert all(answers[q.id] and answers[q.id] in q.context for q in questions)
    score, missed = exact_match(named, split, answers, folder)
    reasons: Counter[str] = Counter()
    for question in questions:
        if question.id in missed:
            reason = why_unreachable(question, tokenizer)
            assert reason, f"{question.id}: {answers[question.id]!r} is not {question.answers[0]!r}"
            reasons[reason] += 1
    assert len(missed) <= encoding.counts.get("answers_inside_pieces", 0)
    assert score == 100.0 or reasons

    # At the official limit those longer than it are missed too, and no others.
    limited = answers_from_gold(encoding, questions, LIMIT)
    _, missed_at_limit = exact_match(named, split, limited, folder)
    number = {question.id: i for i, question in enumerate(questions)}
    for name in missed_at_limit - missed:
        assert pieces_of_answer(encoding, number[name]) > LIMIT, name
    reasons["longer than the limit"] += len(missed_at_limit - missed)
    return +reasons


@pytest.mark.parametrize("kind", ["unigram", "wordpiece", "byte_level_bpe"])
@pytest.mark.parametrize("named", SUBSET, ids="-".join)
def test_gold_spans_of_a_subset(
    subset: dict[Named, Split],
    tokenizers: dict[str, TransformersPieces],
    tmp_path: Path,
    named: Named,
    kind: str,
) -> None:
    reasons = check(named, subset[named], tokenizers[kind], tmp_path)
    inside = reasons["begins inside a piece"] + reasons["ends inside a piece"]
    if kind == "unigram":
        assert inside == INSIDE_PIECES[named]
        assert set(reasons) <= {
            "begins inside a piece",
            "ends inside a piece",
            "longer than the limit",
        }


@pytest.fixture(scope="module")
def everything(shared: Path) -> dict[Named, Split]:
    return {named: read(shared, named) for named in EVERYTHING}


@pytest.fixture(scope="module")
def all_tokenizers(shared: Path, everything: dict[Named, Split]) -> dict[str, TransformersPieces]:
    return three_tokenizers(shared, everything)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unigram", "wordpiece", "byte_level_bpe"])
@pytest.mark.parametrize("named", EVERYTHING, ids="-".join)
def test_gold_spans_of_everything(
    everything: dict[Named, Split],
    all_tokenizers: dict[str, TransformersPieces],
    tmp_path: Path,
    named: Named,
    kind: str,
) -> None:
    split = everything[named]
    reasons = check(named, split, all_tokenizers[kind], tmp_path)
    # Shown with ``pytest -s``: the table of misses by data set and tokenizer.
    print(f"\n{kind:15} {'-'.join(named):15} {len(split):5} questions", dict(reasons))
