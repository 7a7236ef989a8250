"""Rows of a hub table as examples: one reader for each kind of table, with the rules of the file readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from xharness.data.examples import (
    Bitext,
    Example,
    PairExample,
    QuestionExample,
    Sentences,
    SplitName,
    TaggingExample,
)
from xharness.data.hub.repository import LoadedTable
from xharness.data.readers.labels import NO_GOLD, LabelReader
from xharness.data.readers.pair_tsv import PairReader
from xharness.data.readers.squad_json import QuestionReader
from xharness.errors import InputError
from xharness.specs.task import TaskSpec


@dataclass(frozen=True)
class Rows:
    """The rows of a table that a split consists of; columns become Python values one at a time.

    Attributes:
        table: A ``pyarrow.Table``.
        features: The ``datasets`` features by column.
        columns: Column of each field; a field that is not listed is its own column.
        numbers: Number of each row in the whole table, from 1.
        where: Repository, configuration and split, for messages.
    """

    table: Any
    features: Mapping[str, Any]
    columns: Mapping[str, str]
    numbers: Sequence[int]
    where: str

    def column(self, field: str) -> str:
        """Return the column of a field.

        Raises:
            InputError: The table has no such column.
        """
        name = self.columns.get(field, field)
        if name not in self.table.column_names:
            near = get_close_matches(name, self.table.column_names, n=1)
            raise InputError(
                f"no column {name!r}, needed for {field}",
                where=self.where,
                mend=f"columns: {', '.join(self.table.column_names)}"
                + (f"; nearest: {near[0]}" if near else ""),
            )
        return name

    def values(self, field: str) -> list[Any]:
        """Return the cells of a field, class numbers replaced by class names (-1 and null by ``None``)."""
        name = self.column(field)
        cells: list[Any] = self.table.column(name).to_pylist()
        feature = self.features.get(name)
        names = getattr(feature, "names", None)
        if names is not None:
            return [_class_name(cell, names) for cell in cells]
        names = getattr(getattr(feature, "feature", None), "names", None)
        if names is not None:
            return [None if c is None else [_class_name(n, names) for n in c] for c in cells]
        return cells

    def texts(self, field: str) -> list[str]:
        """Return the cells of a field that holds strings.

        Raises:
            InputError: A cell is null or no string.
        """
        cells = self.values(field)
        for number, cell in zip(self.numbers, cells, strict=True):
            if not isinstance(cell, str):
                raise InputError(
                    f"column {self.column(field)!r} holds {cell!r} where text is expected",
                    where=f"{self.where}:{number}",
                )
        return cells


#: ``read(rows, task, split, counts)``.
RowReader = Callable[[Rows, TaskSpec, SplitName, Counter[str]], Sequence[Example]]


def select_rows(
    loaded: LoadedTable,
    columns: Mapping[str, str],
    equal: Mapping[str, str],
    id_prefix: str | None,
    where: str,
) -> Rows:
    """Keep the rows whose columns equal the given values and whose id begins with a prefix.

    Raises:
        InputError: A column is absent, or no row is left.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    table = loaded.table
    every = Rows(table, loaded.features, columns, range(1, table.num_rows + 1), where)
    tests = [(name, value, pc.equal) for name, value in equal.items()]
    if id_prefix is not None:
        tests.append((every.column("id"), id_prefix, pc.starts_with))
    kept = every
    for column, value, test in tests:
        cells = kept.table.column(kept.column(column)).cast(pa.string())
        matches = test(cells, value)
        if not pc.any(matches).as_py():
            seen = [str(cell) for cell in pc.unique(cells).to_pylist()[:20]]
            raise InputError(
                f"no row whose {column} {'is' if test is pc.equal else 'begins with'} {value!r}",
                where=where,
                mend=f"the column holds {', '.join(seen) or 'nothing'}",
            )
        numbers = [kept.numbers[i] for i in pc.indices_nonzero(matches).to_pylist()]
        kept = Rows(kept.table.filter(matches), loaded.features, columns, numbers, where)
    return kept


def read_pair_rows(
    rows: Rows, task: TaskSpec, split: SplitName, counts: Counter[str]
) -> list[PairExample]:
    """Read sentence pairs: fields ``premise``, ``hypothesis`` and ``label``; ids are row numbers from 1.

    A class label counts by its name, whatever its number. Rows labelled ``-``, -1 or null are dropped and
    counted; a table in which no row has a label is read as unlabelled.

    Raises:
        InputError: An absent column, a cell that is no text, or an unknown label.
    """
    pair_of = PairReader(task, rows.where, counts)
    premises, hypotheses, labels = (
        rows.texts("premise"),
        rows.texts("hypothesis"),
        rows.values("label"),
    )
    unlabelled = all(label is None for label in labels)
    examples = []
    for i, label in enumerate(labels):
        text = None if unlabelled else NO_GOLD if label is None else str(label)
        pair = pair_of(str(i + 1), premises[i], hypotheses[i], text, rows.numbers[i])
        if pair is not None:
            examples.append(pair)
    return examples


def read_tag_rows(
    rows: Rows, task: TaskSpec, split: SplitName, counts: Counter[str]
) -> list[TaggingExample]:
    """Read tagged sentences: fields ``tokens`` and ``tags``; ids count the sentences from 1.

    Sentences without a token are dropped and counted, empty tokens kept and counted. A table in which no row
    has a tag is read as unlabelled.

    Raises:
        InputError: An absent column, tokens and tags of different number, or an unknown tag.
    """
    label_of = LabelReader(task, counts)
    tokens, tags = rows.values("tokens"), rows.values("tags")
    labelled = any(tag is not None for row in tags for tag in row or ())
    examples: list[TaggingExample] = []
    for number, words, row_tags in zip(rows.numbers, tokens, tags, strict=True):
        if not words:
            counts["sentences_without_token"] += 1
            continue
        if not all(isinstance(word, str) for word in words):
            raise InputError("a token is no text", where=f"{rows.where}:{number}")
        counts["empty_tokens"] += words.count("")
        known = None
        if labelled:
            if len(row_tags or ()) != len(words):
                raise InputError(
                    f"{len(words)} tokens but {len(row_tags or ())} tags",
                    where=f"{rows.where}:{number}",
                )
            known = tuple(label_of(str(tag), rows.where, number) for tag in row_tags)
        examples.append(TaggingExample(str(len(examples) + 1), tuple(words), known))
    return examples


def read_squad_rows(
    rows: Rows, task: TaskSpec, split: SplitName, counts: Counter[str]
) -> list[QuestionExample]:
    """Read questions: fields ``id``, ``question``, ``context`` and ``answers``, checked as in a SQuAD file.

    Answers are lists of texts and starts, or a list of answers. The hub's tables had blanks taken off contexts
    and answers while starts stayed as they were (huggingface/datasets issue 2585), so starts are mended.

    Raises:
        InputError: An absent column, a malformed answer, or an id that occurs twice in a test table.
    """
    question_of = QuestionReader(split, rows.where, counts)
    names, questions, contexts, answers = (
        rows.values("id"),
        rows.texts("question"),
        rows.texts("context"),
        rows.values("answers"),
    )
    examples = []
    for i, name in enumerate(names):
        stored = _answers(answers[i], f"{rows.where}:{rows.numbers[i]}")
        question = question_of(name, questions[i], contexts[i], stored)
        if question is not None:
            examples.append(question)
    return examples


def read_parallel_rows(
    rows: Rows, task: TaskSpec, split: SplitName, counts: Counter[str]
) -> list[Bitext]:
    """Read translations: fields ``source`` and ``target``; ids are row numbers from 0, as in a submission.

    Line ends, which the hub's Tatoeba tables hold, are taken off and counted. Each row is a gold pair.

    Raises:
        InputError: An absent column, a cell that is no text, no row, or a task that mines: gold pairs are no
            corpus to mine.
    """
    if task.method == "mining":
        raise InputError(
            f"task {task.name} mines, but a table of pairs holds no corpus to mine",
            where=rows.where,
            mend="read files with --data DIR",
        )
    if not rows.numbers:
        raise InputError("no sentence", where=rows.where)
    ids = tuple(str(i) for i in range(len(rows.numbers)))
    source, target = (
        Sentences(ids, tuple(_without_line_end(text, counts) for text in rows.texts(field)))
        for field in ("source", "target")
    )
    counts["empty_sentences"] += sum(not text.strip() for text in source.texts + target.texts)
    return [Bitext(source, target, tuple(zip(ids, ids, strict=True)))]


ROW_READERS: dict[str, RowReader] = {
    "pair_rows": read_pair_rows,
    "tag_rows": read_tag_rows,
    "squad_rows": read_squad_rows,
    "parallel_rows": read_parallel_rows,
}


def _class_name(number: Any, names: Sequence[str]) -> str | None:
    if number is None or number == -1:
        return None
    return names[number] if 0 <= number < len(names) else str(number)


def _answers(stored: Any, where: str) -> list[Any]:
    if stored is None:
        return []
    if isinstance(stored, dict):
        texts, starts = stored.get("text"), stored.get("answer_start")
        if not isinstance(texts, list) or not isinstance(starts, list) or len(texts) != len(starts):
            raise InputError("answers need as many texts as starts", where=where)
        return [
            {"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=True)
        ]
    return list(stored)


def _without_line_end(text: str, counts: Counter[str]) -> str:
    if not text.endswith("\n"):
        return text
    counts["line_ends_in_cells"] += 1
    return text[:-1].removesuffix("\r")
