"""Test data under a task's protocol: as they are, or translated into English with the gold of the originals."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from xharness.data.examples import ChoiceExample, Example, PairExample, Split
from xharness.data.sources import DataSource
from xharness.errors import InputError
from xharness.specs.task import TaskSpec

#: Before the names of what was read of a translation, in a split's origin and counts.
TRANSLATED = "translated "


def has_test_set(task: TaskSpec, language: str, source: DataSource) -> bool:
    """Return whether a language can be tested: its test data are there, and their translation where that is tested."""
    return source.has(task, "test", language) and (
        not _is_translated(task, language)
        or source.has(task.from_protocol("test"), "test", language)
    )


def read_test_set(task: TaskSpec, language: str, source: DataSource, limit: int | None) -> Split:
    """Read a language's test data; under translate_test their translation, with ids and gold of the originals.

    Example i of the translation translates example i of the original. Labels of the translation's own are not used;
    those that differ from the gold are counted.

    Raises:
        InputError: A file is absent or does not read, or the translation has another number of examples or choices.
    """
    gold = source.read(task, "test", language, limit)
    if not _is_translated(task, language):
        return gold
    translated = source.read(task.from_protocol("test"), "test", language, limit)
    where = min(translated.origin.keys() - gold.origin.keys(), default=task.name)
    if translated.available != gold.available:
        raise InputError(
            f"{translated.available} examples, where the test data of {language} have {gold.available}",
            where=where,
            mend="a translation has an example for each of the original, in the same order",
        )
    counts = Counter({f"{TRANSLATED}{name}": count for name, count in translated.counts.items()})
    examples: list[Example] = []
    for original, english in zip(gold.examples, translated.examples, strict=True):
        examples.append(_with_gold(original, english, where))
        label = getattr(english, "label", None)
        if label is not None and label != getattr(original, "label", None):
            counts[f"{TRANSLATED}labels_that_differ"] += 1
    origin = {f"{TRANSLATED}{name}": value for name, value in translated.origin.items()}
    return replace(
        gold, examples=examples, counts=gold.counts + counts, origin={**gold.origin, **origin}
    )


def _is_translated(task: TaskSpec, language: str) -> bool:
    return task.protocol.kind == "translate_test" and language != "en"


def _with_gold(original: Example, english: Example, where: str) -> Example:
    if isinstance(original, PairExample) and isinstance(english, PairExample):
        return replace(english, id=original.id, label=original.label)
    assert isinstance(original, ChoiceExample)
    assert isinstance(english, ChoiceExample)
    if len(original.choices) != len(english.choices):
        raise InputError(
            f"{len(english.choices)} choices, where the original has {len(original.choices)}",
            where=f"{where}: example {english.id}",
        )
    return replace(english, id=original.id, label=original.label)
