"""Checks of questions in the SQuAD 1.1 JSON format."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from xharness.data.checks.content import Content, Units
from xharness.data.checks.findings import FileReport
from xharness.data.checks.raw_text import is_composed, read_text, report_error
from xharness.data.examples import SplitName
from xharness.data.readers.json_text import parse_json
from xharness.data.readers.squad_json import mend_offset
from xharness.errors import InputError
from xharness.specs.task import TaskSpec


@dataclass
class _Tallies:
    """What is counted over all questions of a file."""

    ids: Counter[str]
    answered: int = 0
    unanswered: str | None = None
    unanswered_count: int = 0


def check_questions(
    reports: Mapping[str, FileReport], task: TaskSpec, split: SplitName, options: Mapping[str, Any]
) -> Content:
    """Check a file of questions: ids, answers and their offsets, keys that official files have."""
    report = reports["file"]
    text = read_text(report)
    if text is None:
        return Content()
    try:
        document = parse_json(text, report.path)
        paragraphs = list(_paragraphs(document, report))
    except InputError as error:
        report_error(report, error)
        return Content()
    tallies = _Tallies(Counter())
    questions = []
    for context, qas in paragraphs:
        _check_context(context, report)
        for qa in qas:
            question = _check_question(qa, context, split, tallies, report)
            if question is not None:
                questions.append(((context, question), 0))
    _check_ids(tallies.ids, split, report)
    if not tallies.ids:
        report.hit("no_examples")
    elif not tallies.answered:
        report.forget("blank_answers")
        report.hit("no_training_labels" if split == "train" else "no_gold")
    elif tallies.unanswered is not None:
        code = "dropped_questions" if split == "train" else "unanswered_questions"
        report.hit(code, example=tallies.unanswered, count=tallies.unanswered_count)
    report.place(lambda example: _line_of(example, text))
    contexts = Units.of((context, 0) for context, _ in paragraphs)
    return Content(
        {"questions": Units.of(questions), "contexts": contexts}, ids=frozenset(tallies.ids)
    )


def _paragraphs(document: Any, report: FileReport) -> Iterator[tuple[str, list[Any]]]:
    """Yield the contexts with their questions; report absent keys."""
    try:
        if "version" not in document:
            report.hit("absent_keys", about="version")
        for article in document["data"]:
            if "title" not in article:
                report.hit("absent_keys", about="title")
            for paragraph in article["paragraphs"]:
                context, qas = paragraph["context"], paragraph["qas"]
                if not isinstance(context, str) or not isinstance(qas, list):
                    raise TypeError("context or qas")
                yield context, qas
    except (KeyError, TypeError) as error:
        what = f"not in the SQuAD format: {error} is absent or of the wrong type"
        raise InputError(what, where=report.path) from error


def _check_context(context: str, report: FileReport) -> None:
    if not context.strip():
        report.hit("empty_contexts")
        return
    if not is_composed(context):
        report.hit("not_nfc", example=context[:40], about="contexts")
    if max(context) > "\uffff":
        report.hit("astral_contexts", example=context[:40])


def _check_question(
    qa: Any, context: str, split: SplitName, tallies: _Tallies, report: FileReport
) -> str | None:
    """Check one question with its answers; return its text if it has one."""
    if not isinstance(qa, dict):
        report.hit("malformed_questions", example=repr(qa))
        return None
    name, question, answers = qa.get("id"), qa.get("question"), qa.get("answers") or []
    if isinstance(name, int):
        report.hit("integer_ids", example=str(name))
        name = str(name)
    if not isinstance(name, str) or not isinstance(question, str) or not isinstance(answers, list):
        report.hit("malformed_questions", example=str(name))
        return None
    tallies.ids[name] += 1
    if not is_composed(question):
        report.hit("not_nfc", example=name, about="questions")
    kept = [found for raw in answers if (found := _check_answer(raw, context, name, report))]
    if len(set(kept)) < len(kept):
        report.hit("equal_answers", example=name)
    if kept:
        tallies.answered += 1
    else:
        tallies.unanswered = tallies.unanswered or name
        tallies.unanswered_count += 1
    return question


def _check_answer(raw: Any, context: str, name: str, report: FileReport) -> tuple[str, int] | None:
    """Check an answer; return it as the reader keeps it, or ``None`` where the reader leaves it out."""
    text = raw.get("text") if isinstance(raw, dict) else None
    start = raw.get("answer_start") if isinstance(raw, dict) else None
    if not isinstance(text, str) or isinstance(start, bool) or not isinstance(start, int):
        report.hit("malformed_questions", example=name)
        return None
    if not text.strip():
        report.hit("blank_answers", example=name)
        return None
    if text != text.strip():
        report.hit("answers_with_edge_blanks", example=name)
    if start < 0 or not context.startswith(text, start):
        mended = mend_offset(context, text, start)
        if mended is None:
            report.hit("answers_not_in_context", example=name)
            return None
        report.hit("repaired_offsets", example=name)
        text, start = mended.text, mended.start
    if context.find(text, context.find(text) + 1) >= 0:
        report.hit("ambiguous_answers", example=name)
    return text, start


def _check_ids(ids: Counter[str], split: SplitName, report: FileReport) -> None:
    repeated = [name for name, count in ids.items() if count > 1]
    if not repeated:
        return
    code = "repeated_training_ids" if split == "train" else "repeated_ids"
    report.hit(code, example=repeated[0], count=sum(ids[name] - 1 for name in repeated))
    if all(name.lstrip("-").isdigit() for name in ids):
        report.hit("truncated_ids", example=repeated[0], count=len(ids))


def _line_of(example: str, text: str) -> int | None:
    """Return the line of the first place of a string in a JSON text, written with or without escapes."""
    for written in (json.dumps(example, ensure_ascii=False), json.dumps(example)):
        at = text.find(written[:-1])
        if at >= 0:
            return text.count("\n", 0, at) + 1
    return None
