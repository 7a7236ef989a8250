"""Questions in the SQuAD 1.1 JSON format, their answer offsets checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from xharness.data.examples import Answer, QuestionExample, SplitName
from xharness.data.lines import decode, read_bytes
from xharness.data.readers.json_text import parse_json
from xharness.errors import InputError
from xharness.specs.task import TaskSpec


def read_squad_json(
    paths: Mapping[str, Path],
    task: TaskSpec,
    split: SplitName,
    options: Mapping[str, Any],
    counts: Counter[str],
) -> list[QuestionExample]:
    """Read questions.

    Every answer is checked against its context. A start that is off is mended where the right one is certain
    (byte offsets, edge blanks, or the nearest occurrence) and counted; an answer that is not in its context is
    left out and counted. Training questions without an answer are dropped and counted. Repeated ids are made
    distinct in training and refused elsewhere.

    Raises:
        InputError: Not JSON, not of the format, or a repeated id in a test file.
    """
    path = paths["file"]
    text = decode(read_bytes(path), path, counts)
    document = parse_json(text, path)
    question_of = QuestionReader(split, path, counts)
    questions = (
        question_of(qa.get("id"), qa.get("question"), context, _answers(qa, path))
        for context, qa in _questions(document, path)
    )
    return [question for question in questions if question is not None]


class QuestionReader:
    """The rules that hold for a question wherever it was stored; one reader for each split.

    Args:
        split: Split name: training questions are treated more freely than scored ones.
        source: What messages call the file or table.
        counts: Where drops, repairs and oddities are counted.
    """

    def __init__(self, split: SplitName, source: object, counts: Counter[str]):
        self._split = split
        self._source = source
        self._counts = counts
        self._seen: Counter[str] = Counter()

    def __call__(
        self, name: Any, question: Any, context: str, answers: Sequence[Any]
    ) -> QuestionExample | None:
        """Return the question, or ``None`` for a training question without an answer, which is counted.

        Args:
            name: Id as stored.
            question: Question as stored.
            context: Context.
            answers: Answers as stored: mappings with ``text`` and ``answer_start``.

        Raises:
            InputError: An id, question or answer of the wrong type, or a repeated id outside training.
        """
        if isinstance(name, int):
            self._counts["integer_ids"] += 1
            name = str(name)
        if not isinstance(name, str) or not isinstance(question, str):
            raise InputError(
                "a question needs an id and a text", where=f"{self._source}: question {name!r}"
            )
        self._seen[name] += 1
        if self._seen[name] > 1:
            if self._split != "train":
                raise InputError(
                    "question id occurs twice",
                    where=f"{self._source}: {name}",
                    mend="ids tie predictions to questions and must be distinct",
                )
            self._counts["repeated_ids"] += 1
            name = f"{name}#{self._seen[name]}"
        checked = (_answer(a, context, self._source, name, self._counts) for a in answers)
        training = self._split == "train"
        kept = tuple(a for a in checked if a is not None and (a.start >= 0 or not training))
        if self._split == "train" and not kept:
            self._counts["questions_without_answer"] += 1
            return None
        return QuestionExample(name, question, context, kept)


def _answers(qa: dict[str, Any], path: Path) -> list[Any]:
    answers = qa.get("answers") or []
    if not isinstance(answers, list):
        raise InputError("answers is not a list", where=f"{path}: question {qa.get('id')!r}")
    return answers


def _questions(document: Any, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        for article in document["data"]:
            for paragraph in article["paragraphs"]:
                context = paragraph["context"]
                if not isinstance(context, str):
                    raise TypeError("context")
                for qa in paragraph["qas"]:
                    if not isinstance(qa, dict):
                        raise TypeError("qas")
                    yield context, qa
    except (KeyError, TypeError) as error:
        raise InputError(
            f"not in the SQuAD format: {error} is absent or of the wrong type",
            where=path,
            mend="expected data > paragraphs > context, qas > id, question, answers",
        ) from error


def _answer(
    raw: Any, context: str, source: object, name: str, counts: Counter[str]
) -> Answer | None:
    try:
        text, start = raw["text"], raw["answer_start"]
    except (KeyError, TypeError) as error:
        raise InputError(
            "an answer needs text and answer_start", where=f"{source}: question {name}"
        ) from error
    if not isinstance(text, str) or isinstance(start, bool) or not isinstance(start, int):
        raise InputError(
            "answer text or start of the wrong type", where=f"{source}: question {name}"
        )
    if not text.strip():
        counts["blank_answers"] += 1
        return None
    if start >= 0 and context.startswith(text, start):
        return Answer(text, start)
    mended = mend_offset(context, text, start)
    if mended is None:
        counts["answers_not_in_context"] += 1
        return Answer(text, -1)
    counts["repaired_offsets"] += 1
    return mended


def mend_offset(context: str, text: str, start: int) -> Answer | None:
    """Find the answer whose given start is wrong.

    Tried in turn: the start counted in UTF-8 bytes; the nearest occurrence of the text; the nearest occurrence
    of the text without blanks at its edges.

    Returns:
        The answer with its right start, or ``None`` where the context does not hold it.
    """
    encoded = context.encode("utf-8", "surrogatepass")
    if 0 <= start <= len(encoded):
        prefix = encoded[:start].decode("utf-8", "ignore")
        if context.startswith(text, len(prefix)):
            return Answer(text, len(prefix))
    for candidate in (text, text.strip()):
        found = _occurrences(context, candidate)
        if found:
            return Answer(candidate, min(found, key=lambda at: (abs(at - start), at)))
    return None


def _occurrences(context: str, text: str) -> list[int]:
    found, at = [], context.find(text)
    while at >= 0:
        found.append(at)
        at = context.find(text, at + 1)
    return found
