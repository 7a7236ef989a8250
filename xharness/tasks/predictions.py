"""Predictions and gold as files in the XTREME submission layout: the border between models and scoring.

One file a language, ``<task>/test-<language>.tsv``, ``.json`` or ``.jsonl``: a label or tag a line, a blank line
between sentences; answers by question id; pairs of ids; rankings by query id; for multiple choice an object with the
label a line.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
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
from xharness.errors import InputError
from xharness.files import text_aside
from xharness.specs.task import TaskSpec
from xharness.tasks.retrieval import Pair, first_of_equal


@dataclass(frozen=True)
class Predictions:
    """Decisions on a split or a part of one, in its order.

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


class Decided:
    """Decisions on the parts of a split, in order, each made when it is asked for; none is kept.

    Attributes:
        counts: Sum of the counts of the parts so far.
        details: Those of the first part.
    """

    def __init__(self, parts: Iterable[Predictions]):
        self._parts = parts
        self.counts: Counter[str] = Counter()
        self.details: dict[str, float | str | list[float]] = {}

    def __iter__(self) -> Iterator[Predictions]:
        for number, part in enumerate(self._parts):
            self.counts.update(part.counts)
            if not number:
                self.details = part.details
            yield part


def write_with_gold(
    task: TaskSpec,
    split: Split,
    predicted: Iterable[Predictions],
    path: Path,
    gold_path: Path,
    writer: str | None = None,
) -> list[Path]:
    """Write the prediction file of a split and, where the data hold gold, its gold file.

    Args:
        task: The task.
        split: The split.
        predicted: Decisions on the split, or on its parts in order.
        path: Where the predictions go.
        gold_path: Where the gold goes; several processes may write it at the same time.
        writer: Tells those processes apart, the same whenever one of them begins again; absent for one alone.

    Returns:
        What was written.

    Raises:
        InputError: A file cannot be written, or some examples have a label and some have not.
    """
    gold = gold_text(task, split)
    with ExitStack() as files:
        write = files.enter_context(text_aside(path))
        write_gold = None
        if gold is not None:
            name = None if writer is None else f".{gold_path.name}.{writer}.partial"
            write_gold = files.enter_context(text_aside(gold_path, name))
        # In turn: the examples of a large file are parsed anew for whoever asks, but once for a part.
        for piece, gold_piece in zip_longest(
            prediction_text(task, predicted), gold or (), fillvalue=""
        ):
            write(piece)
            if write_gold is not None:
                write_gold(gold_piece)
    return [path] if gold is None else [path, gold_path]


def prediction_text(task: TaskSpec, parts: Iterable[Predictions]) -> Iterator[str]:
    """Yield the content of a prediction file: a piece a part, or where answers are sorted by id, one at the end."""
    if task.kind == "question_answering" or task.method == "ranking":
        by_id: dict[str, str | list[str]] = {}
        for part in parts:
            by_id.update(cast(dict[str, str], part.values))
            yield ""
        yield json.dumps(by_id, ensure_ascii=False, indent=0, sort_keys=True) + "\n"
    elif task.kind == "tagging":
        yield from _sentences(cast(Sequence[Sequence[str]], part.values) for part in parts)
    elif task.kind == "multiple_choice":
        yield from (_choices(cast(Sequence[int], part.values)) for part in parts)
    elif task.method == "mining":
        yield from (_pairs(cast(Sequence[Pair], part.values)) for part in parts)
    else:
        yield from (_lines(cast(Sequence[str], part.values)) for part in parts)


def gold_text(task: TaskSpec, split: Split) -> Iterator[str] | None:
    """Return the content of a gold file, or ``None`` where the data hold no gold.

    Of kinds with examples of their own line or lines it comes in a piece a part of the split.

    Raises:
        InputError: Of the examples some have a label and some have not.
    """
    examples: Sequence[Example] = split.examples
    if task.kind == "question_answering":
        questions = cast(Sequence[QuestionExample], examples)
        return None if not any(q.answers for q in questions) else iter([_squad(questions)])
    if task.kind == "tagging":
        if cast(TaggingExample, examples[0]).tags is None:
            return None
        return _sentences(_gold_tags(part) for part in split.parts())
    if task.kind == "pair_classification":
        if cast(PairExample, examples[0]).label is None:
            return None
        return (_lines(_gold_labels(part)) for part in split.parts())
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
    return iter([_lines([str(line_of[target_of[name]]) for name in bitext.source.ids])])


def _gold_tags(split: Split) -> Iterator[Sequence[str]]:
    for sentence in cast(Sequence[TaggingExample], split.examples):
        if sentence.tags is None:
            raise _lacking(split, sentence.id)
        yield sentence.tags


def _gold_labels(split: Split) -> Iterator[str]:
    for pair in cast(Sequence[PairExample], split.examples):
        if pair.label is None:
            raise _lacking(split, pair.id)
        yield pair.label


def _lacking(split: Split, example: str) -> InputError:
    return InputError(
        f"example {example} has no gold label, others have",
        where=f"{split.task} {split.name} {split.language}",
        mend="label all examples or none",
    )


def _lines(values: Iterable[str]) -> str:
    return "".join(f"{value}\n" for value in values)


def _sentences(parts: Iterable[Iterable[Sequence[str]]]) -> Iterator[str]:
    """Yield a piece a part: a tag a line, a blank line between sentences."""
    between = ""
    for part in parts:
        pieces = []
        for sentence in part:
            pieces += [between, *(f"{tag}\n" for tag in sentence)]
            between = "\n"
        yield "".join(pieces)


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
