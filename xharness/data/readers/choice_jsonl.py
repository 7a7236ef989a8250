"""Multiple choice: one JSON object a line, with a context, a question and a choice in each of some fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xharness.data.examples import ChoiceExample, SplitName
from xharness.data.lines import read_lines
from xharness.data.readers.json_text import parse_json
from xharness.errors import InputError
from xharness.specs.task import TaskSpec

#: An object of a file and where it stands, ``file:line``.
Row = tuple[dict[str, Any], str]


def read_choice_jsonl(
    paths: Mapping[str, Path],
    task: TaskSpec,
    split: SplitName,
    options: Mapping[str, Any],
    counts: Counter[str],
) -> list[ChoiceExample]:
    """Read multiple-choice examples.

    Options, all names of fields but the last three: ``context``, ``question``, ``choices`` (a list), ``label``,
    ``id`` (line numbers where absent); ``label_values``: what the label field holds for each choice in turn (0, 1,
    ... where absent); ``question_text``: the question as the model reads it, ``{question}`` being the field;
    ``questions``: ``given``, or ``english`` to take the field from the file of part ``english``, by id.

    XCOPA's question fields are wrong in part. Where the English file is there, what differs from it is counted: as
    ``questions_unlike_english`` where it is kept, as ``corrected_questions`` where it is replaced.

    A file in which no object has the label field is read as unlabelled.

    Raises:
        InputError: A line is not a JSON object, a field is absent or of the wrong type, a label is none of the
            choices, an id occurs twice, or the English file that was asked for is absent or lacks an id.
    """
    fields = _Fields(options, task)
    rows = _rows(paths["file"], counts)
    labelled = any(fields.label in row for row, _ in rows)
    english = _english_questions(paths, fields, options, task)
    seen: set[str] = set()
    examples = []
    for number, (row, where) in enumerate(rows, start=1):
        name = fields.name_of(row, number, where)
        if name in seen:
            raise InputError(f"id {name!r} occurs twice", where=where)
        seen.add(name)
        question = _text(row, fields.question, where)
        if english is not None:
            if name not in english:
                raise InputError(
                    f"id {name!r} is not in the English file",
                    where=where,
                    mend=f"use the file that belongs to it in place of {paths['english']}",
                )
            if question != english[name]:
                replace = options.get("questions") == "english"
                counts["corrected_questions" if replace else "questions_unlike_english"] += 1
                question = english[name] if replace else question
        examples.append(
            ChoiceExample(
                name,
                _text(row, fields.context, where),
                fields.question_text.replace("{question}", question),
                tuple(_text(row, field, where) for field in fields.choices),
                fields.label_of(row, where) if labelled else None,
            )
        )
    counts["empty_choices"] += sum(not choice.strip() for e in examples for choice in e.choices)
    return examples


class _Fields:
    """Which field holds what.

    Args:
        options: The options of the specification.
        task: The task, for messages.

    Raises:
        InputError: An option is absent or of the wrong type.
    """

    def __init__(self, options: Mapping[str, Any], task: TaskSpec):
        where = f"task {task.name}, sources.files.options"
        try:
            self.context, self.question = str(options["context"]), str(options["question"])
            self.label = str(options["label"])
            self.choices = tuple(map(str, options["choices"]))
        except (KeyError, TypeError) as error:
            raise InputError(f"{error} is absent or of the wrong type", where=where) from error
        self.id = options.get("id")
        self.label_values = list(options.get("label_values", range(len(self.choices))))
        self.question_text = str(options.get("question_text", "{question}"))
        if len(self.choices) < 2 or len(self.label_values) != len(self.choices):
            raise InputError("two or more choices and as many label_values", where=where)
        if options.get("questions", "given") not in ("given", "english"):
            raise InputError("questions is 'given' or 'english'", where=where)

    def name_of(self, row: Mapping[str, Any], number: int, where: str) -> str:
        """Return an object's id, or the number of its line where the format has none."""
        if self.id is None:
            return str(number)
        name = row.get(self.id)
        if isinstance(name, bool) or not isinstance(name, int | str):
            raise InputError(f"field {self.id!r} is absent or no id", where=where)
        return str(name)

    def label_of(self, row: Mapping[str, Any], where: str) -> int:
        """Return the index of the right choice."""
        label = row.get(self.label)
        for index, value in enumerate(self.label_values):
            # True == 1 in Python, but it is no label here.
            if type(label) is type(value) and label == value:
                return index
        raise InputError(
            f"label {label!r} is none of the {len(self.choices)} choices",
            where=where,
            mend=f"labels: {', '.join(map(repr, self.label_values))}",
        )


def _english_questions(
    paths: Mapping[str, Path], fields: _Fields, options: Mapping[str, Any], task: TaskSpec
) -> dict[str, str] | None:
    """Return the question field of English COPA by id, where the file is there."""
    if "english" not in paths:
        if options.get("questions") == "english":
            raise InputError(
                "the English file that questions are taken from is absent",
                where=f"task {task.name}, {paths['file']}",
                mend="put copa.test-en.jsonl beside it, or use a task with questions: given",
            )
        return None
    questions = {}
    for number, (row, where) in enumerate(_rows(paths["english"], Counter()), start=1):
        questions[fields.name_of(row, number, where)] = _text(row, fields.question, where)
    return questions


def _rows(path: Path, counts: Counter[str]) -> list[Row]:
    lines = read_lines(path, counts)
    while lines and not lines[-1].strip():
        lines.pop()
        counts["blank_trailing_lines"] += 1
    rows = []
    for number, line in enumerate(lines, start=1):
        where = f"{path}:{number}"
        row = parse_json(line, path, number)
        if not isinstance(row, dict):
            raise InputError("not a JSON object", where=where, mend="one object a line")
        rows.append((row, where))
    return rows


def _text(row: Mapping[str, Any], field: str, where: str) -> str:
    value = row.get(field)
    if not isinstance(value, str):
        raise InputError(f"field {field!r} is absent or no text", where=where)
    return value
