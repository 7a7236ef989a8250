"""Exact match and token F1 of answers, and the files that hold them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from xharness.errors import InputError
from xharness.scoring.json_text import parse_json, place_of
from xharness.scoring.language_score import LanguageScore, gold_counts
from xharness.scoring.lines import read_bytes

#: Turns an answer into its normalised tokens.
Tokenize = Callable[[str], list[str]]

#: Texts in a gold file that no metric reads; they are nine tenths of it.
_NOT_SCORED = "context"

#: One question: its id and its gold answers.
Question = tuple[str, list[str]]


def token_f1(predicted: list[str], gold: list[str]) -> float:
    """Return the F1 of two bags of tokens, as a fraction; 0 where they share none (SQuAD 1.1).

    >>> token_f1(["blue", "house"], ["house"])
    0.6666666666666666
    """
    if predicted == gold:
        return 1.0 if gold else 0.0
    common = set(predicted).intersection(gold)
    if not common:
        return 0.0
    same = sum(min(predicted.count(token), gold.count(token)) for token in common)
    precision = same / len(predicted)
    recall = same / len(gold)
    return 2 * precision * recall / (precision + recall)


def score_answers(
    predictions: Path, gold: Path, tokenize: Tokenize, *, empty_agrees: bool = False
) -> LanguageScore:
    """Score answers by exact match and F1 in percent, each the best over a question's gold answers.

    Args:
        predictions: A JSON object of question id to answer.
        gold: Questions in SQuAD JSON.
        tokenize: Normalisation; two answers match exactly when their tokens are the same.
        empty_agrees: Whether two answers without tokens have F1 1, as in SQuAD 2.0; the SQuAD 1.1 script gives an exact
            match but F1 0.

    Raises:
        InputError: A file is not of that form.
    """
    questions, gold_counter = read_questions(gold)
    answers, counts = read_answers(predictions)
    exact = unanswered = 0
    f1 = 0.0
    for scored in question_scores(questions, answers, tokenize, empty_agrees=empty_agrees):
        if scored is None:
            unanswered += 1
            continue
        exact += scored[0]
        f1 += scored[1]
    counts["examples"] = len(questions)
    counts["unanswered"] = unanswered
    counts["empty_answers"] = sum(not answer.strip() for answer in answers.values())
    identifiers = {identifier for identifier, _ in questions}
    counts["extra_ids"] = len(answers.keys() - identifiers)
    counts["gold_duplicate_ids"] = len(questions) - len(identifiers)
    counts["gold_empty_answers"] = sum(not any(map(str.strip, texts)) for _, texts in questions)
    counts.update(gold_counts(gold_counter))
    total = len(questions)
    if not questions[0][1]:
        return LanguageScore.of({}, counts, f"no gold answers in {gold}")
    figures = {"exact_match": 100.0 * exact / total, "f1": 100.0 * f1 / total}
    return LanguageScore.of(figures, counts)


def question_scores(
    questions: Iterable[Question],
    answers: Mapping[str, str],
    tokenize: Tokenize,
    *,
    empty_agrees: bool = False,
) -> Iterator[tuple[bool, float] | None]:
    """Yield for each question whether the answer matches exactly and its F1 as a fraction; None without an answer."""
    cache: dict[str, list[str]] = {}
    for identifier, texts in questions:
        answer = answers.get(identifier)
        if answer is None:
            yield None
            continue
        predicted = cache.get(answer)
        if predicted is None:
            predicted = cache[answer] = tokenize(answer)
        best = 0.0
        matched = False
        for text in texts:
            tokens = cache.get(text)
            if tokens is None:
                tokens = cache[text] = tokenize(text)
            if tokens == predicted:
                matched = True
                if tokens or empty_agrees:
                    best = 1.0
                    break
            elif best < (value := token_f1(predicted, tokens)):
                best = value
        yield matched, best


def read_answers(path: Path) -> tuple[dict[str, str], Counter[str]]:
    """Read predicted answers, and count what needed mending.

    Raises:
        InputError: The file is no JSON object of strings, or has two different answers for one id.
    """
    raw, counts = read_bytes(path)
    data, counts["duplicate_keys"] = parse_json(raw, path)
    # The official reader takes what stands below "data" in any file, predictions too.
    if isinstance(data, dict) and isinstance(data.get("data"), dict):
        data = data["data"]
    if not isinstance(data, dict):
        raise InputError("not a JSON object", where=f"{path}:1", mend="write {id: answer}")
    for key, value in data.items():
        if not isinstance(value, str):
            raise InputError(
                f"the answer of {key!r} is not a string but {json.dumps(value)[:40]}",
                where=place_of(key, raw, path),
                mend="write the answer's text",
            )
    return data, counts


def read_questions(path: Path) -> tuple[list[Question], Counter[str]]:
    """Read the questions of a SQuAD file in their order, and count what needed mending.

    Raises:
        InputError: The file is not SQuAD JSON, holds no question, or some but not all questions lack an answer.
    """
    raw, counts = read_bytes(path)
    data, counts["duplicate_keys"] = parse_json(raw, path, skip=_NOT_SCORED)
    articles = data.get("data") if isinstance(data, dict) else data
    questions: list[Question] = []
    for qa in _question_objects(articles, path):
        try:
            identifier, texts = qa["id"], [answer["text"] for answer in qa["answers"]]
        except (KeyError, TypeError):
            _refuse_question(qa, raw, path, "lacks its id or the text of its answers")
        if type(identifier) is int:
            identifier = str(identifier)
            counts["integer_ids"] += 1
        if type(identifier) is not str or set(map(type, texts)) - {str}:
            _refuse_question(qa, raw, path, "has an id or an answer that is not a string")
        questions.append((identifier, texts))
    if not questions:
        raise InputError("no question in the file", where=path, mend="give a SQuAD 1.1 file")
    without = [identifier for identifier, texts in questions if not texts]
    if without and len(without) < len(questions):
        raise InputError(
            f"question {without[0]!r} has no gold answer",
            where=place_of(without[0], raw, path),
            mend="add its answer, or leave the question out",
        )
    return questions, counts


def _question_objects(articles: Any, path: Path) -> list[Any]:
    try:
        return [
            qa
            for article in articles
            for paragraph in article["paragraphs"]
            for qa in paragraph["qas"]
        ]
    except (KeyError, TypeError) as error:
        raise InputError(
            "not SQuAD JSON: expected data[].paragraphs[].qas[]",
            where=path,
            mend="give a SQuAD 1.1 file",
        ) from error


def _refuse_question(qa: Any, raw: bytes, path: Path, problem: str) -> NoReturn:
    identifier = qa.get("id") if isinstance(qa, dict) else None
    where = place_of(identifier, raw, path) if isinstance(identifier, str) else str(path)
    raise InputError(f"question {identifier!r} {problem}", where=where, mend="mend the gold file")
