"""Predictions and gold as files in the XTREME submission layout: the border between models and scoring.

One file a language, ``<task>/test-<language>.tsv``, ``.json`` or ``.jsonl``: a label or tag a line, a blank line
between sentences; answers by question id; pairs of ids; rankings by query id; for multiple choice an object with the
label a line.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from xharness.data.examples import (
    Bitext,
    ChoiceExample,
    Example,
    PairExample,
    QuestionExample,
    Split,
    TaggingExample,
)
from xharness.specs.task import TaskSpec
from xharness.tasks.retrieval import Pair, first_of_equal
from xharness.tasks.tagging import TagRows


@dataclass(frozen=True)
class Predictions:
    """Decisions on one split, in its order.

    Attributes:
        values: Labels; indices of choices; tags by sentence; answers by question id; line numbers; pairs of
            ids; or rankings of ids by query id, by kind.
        counts: Fallbacks and truncations, by name.
        details: Anything else a record should hold, such as a threshold.
    """

    values: (
        Sequence[str]
        | Sequence[int]
        | Sequence[Sequence[str]]
        | Sequence[Pair]
        | dict[str, str]
        | dict[str, list[str]]
    )
    counts: Counter[str] = field(default_factory=Counter)
    details: dict[str, float | str | list[float]] = field(default_factory=dict)


def joined(parts: Sequence[Predictions]) -> Predictions:
    """Return the predictions of a split's parts, in order, as one; the first part's details hold.

    Only kinds whose decisions rest on single examples are predicted in parts.
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    counts = sum((part.counts for part in parts), Counter[str]())
    if isinstance(first.values, dict):
        answers: dict[str, str] = {}
        for part in parts:
            answers.update(cast(dict[str, str], part.values))
        return Predictions(answers, counts, first.details)
    if isinstance(first.values, TagRows):
        rows = TagRows.joined([cast(TagRows, part.values) for part in parts])
        return Predictions(rows, counts, first.details)
    values = [value for part in parts for value in cast(Sequence[str], part.values)]
    return Predictions(values, counts, first.details)


def prediction_text(task: TaskSpec, predictions: Predictions) -> Iterator[str]:
    """Yield the content of a prediction file in pieces."""
    values = predictions.values
    if task.kind == "question_answering" or task.method == "ranking":
        yield json.dumps(values, ensure_ascii=False, indent=0, sort_keys=True) + "\n"
    elif task.kind == "tagging":
        yield from _sentences(cast(Sequence[Sequence[str]], values))
    elif task.kind == "multiple_choice":
        yield _choices(cast(Sequence[int], values))
    elif task.method == "mining":
        yield _pairs(cast(Sequence[Pair], values))
    else:
        yield from (f"{value}\n" for value in cast(Sequence[str], values))


def gold_text(task: TaskSpec, split: Split) -> Iterator[str] | None:
    """Return the content of a gold file in pieces, or ``None`` where the data hold no gold."""
    examples: Sequence[Example] = split.examples
    if task.kind == "question_answering":
        questions = cast(Sequence[QuestionExample], examples)
        return None if not any(q.answers for q in questions) else iter([_squad(questions)])
    # Examples may be read from a file anew, so they are passed twice and not held.
    if task.kind == "tagging":
        sentences = cast(Sequence[TaggingExample], examples)
        if any(sentence.tags is None for sentence in sentences):
            return None
        return _sentences(sentence.tags or () for sentence in sentences)
    if task.kind == "pair_classification":
        pairs = cast(Sequence[PairExample], examples)
        if any(pair.label is None for pair in pairs):
            return None
        return (f"{pair.label}\n" for pair in pairs)
    if task.kind == "multiple_choice":
        chosen = [e.label for e in cast(Sequence[ChoiceExample], examples)]
        return None if None in chosen else iter([_choices([c for c in chosen if c is not None])])
    bitext = cast(Bitext, examples[0])
    if bitext.gold is None:
        return None
    if task.method == "mining":
        return iter([_pairs(sorted(bitext.gold))])
    if task.method == "ranking":
        right: dict[str, list[str]] = {}
        for query, candidate in bitext.gold:
            right.setdefault(query, []).append(candidate)
        return iter([json.dumps(right, ensure_ascii=False, indent=0, sort_keys=True) + "\n"])
    # Equal target sentences are one target, under the lowest line number, here as in the predictions.
    canonical = first_of_equal(bitext.target.texts)
    line_of = {name: int(canonical[i]) for i, name in enumerate(bitext.target.ids)}
    target_of = dict(bitext.gold)
    return (f"{line_of[target_of[name]]}\n" for name in bitext.source.ids)


def _sentences(tags: Iterable[Sequence[str]]) -> Iterator[str]:
    for number, sentence in enumerate(tags):
        yield "".join(["\n" if number else "", *(f"{tag}\n" for tag in sentence)])


def _choices(chosen: Sequence[int]) -> str:
    """Return one object a line, as the official script writes XCOPA's predictions."""
    return "".join(json.dumps({"label": int(choice)}) + "\n" for choice in chosen)


def _pairs(pairs: Sequence[Pair]) -> str:
    return "".join(f"{source}\t{target}\n" for source, target in pairs)


def _squad(questions: Sequence[QuestionExample]) -> str:
    by_context: dict[str, list[QuestionExample]] = {}
    for question in questions:
        by_context.setdefault(question.context, []).append(question)
    paragraphs = [
        {
            "context": context,
            "qas": [
                {
                    "id": q.id,
                    "question": q.question,
                    "answers": [{"text": a.text, "answer_start": a.start} for a in q.answers],
                }
                for q in group
            ],
        }
        for context, group in by_context.items()
    ]
    document = {"version": "1.1", "data": [{"title": "", "paragraphs": paragraphs}]}
    return json.dumps(document, ensure_ascii=False, indent=0) + "\n"
