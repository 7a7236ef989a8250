"""Whether two results may be compared at all, and what a reader must know of how they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xharness.comparison.sides import Side
from xharness.errors import InputError
from xharness.records.record import Record

#: What a specification says of the test and its score. The rest (recipe, training, where files lie) may differ: data
#: are compared by their digests, and training is what comparisons are made for.
_TEST_KEYS = ("kind", "languages", "labels", "label_aliases", "metric", "score", "method")


def common_tasks(baseline: Side, candidate: Side, wanted: Sequence[str]) -> list[str]:
    """Return the tasks to compare, in the baseline's order.

    Args:
        baseline: The baseline.
        candidate: The candidate.
        wanted: Tasks that the user asked for; all where empty.

    Raises:
        InputError: A task is on one side only, or one that was asked for on neither.
    """
    for task in wanted:
        if task not in baseline.tasks and task not in candidate.tasks:
            known = ", ".join(baseline.tasks)
            raise InputError(
                f"no task {task!r} in either", where="--task", mend=f"there are {known}"
            )
    names = wanted or list(dict.fromkeys((*baseline.tasks, *candidate.tasks)))
    for task in names:
        for here, there in ((baseline, candidate), (candidate, baseline)):
            if task not in there.tasks:
                raise InputError(
                    f"task {task} is in the {here.role} only",
                    where=there.path,
                    mend="compare the others with --task NAME",
                )
    return list(names)


def check_profiles(baseline: Side, candidate: Side, wanted: str | None) -> str:
    """Return the scoring profile of both.

    Args:
        baseline: The baseline.
        candidate: The candidate.
        wanted: The profile that the user asked for.

    Raises:
        InputError: Records have different profiles, or another than was asked for.
    """
    found: dict[str, str] = {}
    for side in (baseline, candidate):
        for by_seed in side.records.values():
            for record in by_seed.values():
                found.setdefault(record.profile, side.role)
    if len(found) > 1:
        (first, where), (second, there) = list(found.items())[:2]
        raise InputError(
            f"cannot be compared: profile {first} in the {where}, {second} in the {there}",
            mend="score both under one profile",
        )
    profile = next(iter(found), wanted or "official")
    if wanted is not None and profile != wanted:
        raise InputError(
            f"the records were scored under profile {profile}, not {wanted}", where="--profile"
        )
    return profile


def check_records(baseline: Side, candidate: Side, task: str) -> None:
    """Refuse records of a task that rest on other tests; a side without records is not looked at.

    Raises:
        InputError: Specification, limit, data or stand-in of the test differ; the message names both.
    """
    every = [
        (side, record)
        for side in (baseline, candidate)
        for record in side.records.get(task, {}).values()
    ]
    for side, record in every[1:]:
        difference = _difference(every[0][1], record)
        if difference is not None:
            what, first, second = difference
            raise InputError(
                f"{task} cannot be compared: {what} is {first} in the {every[0][0].role}, "
                f"{second} in the {side.role}",
                where=side.path,
                mend="run both on the same data in the same way",
            )


def _difference(first: Record, second: Record) -> tuple[str, object, object] | None:
    """Return what differs between two tests, and both values."""
    for key in _TEST_KEYS:
        if first.spec.get(key) != second.spec.get(key):
            return f"the specification's {key}", first.spec.get(key), second.spec.get(key)
    if first.protocol.limit != second.protocol.limit:
        return "the limit", _limit(first), _limit(second)
    for language, origin in first.data.test.items():
        other = second.data.test.get(language)
        if other is not None and origin != other:
            what = f"the data revision of {language}"
            return what, *_first_difference(origin, other)
    for language, result in first.languages.items():
        there = second.languages.get(language)
        if there is not None and result.stand_in != there.stand_in:
            what = f"the scored split of {language}"
            return what, result.stand_in or "test", there.stand_in or "test"
    return None


def _limit(record: Record) -> str:
    return "none" if record.protocol.limit is None else f"{record.protocol.limit} examples"


def _first_difference(first: Mapping[str, str], second: Mapping[str, str]) -> tuple[str, str]:
    for key in dict.fromkeys((*first, *second)):
        if first.get(key) != second.get(key):
            return f"{key}: {_brief(first.get(key))}", f"{key}: {_brief(second.get(key))}"
    return "", ""


def _brief(value: str | None) -> str:
    return "absent" if value is None else value[:12]


def training_notes(baseline: Side, candidate: Side, tasks: Sequence[str]) -> list[str]:
    """Say how the two were trained and tested differently, where both have records."""
    by_note: dict[str, list[str]] = {}
    for task in tasks:
        first, second = baseline.any_record(task), candidate.any_record(task)
        if first is None or second is None:
            continue
        for what, before, after in _training(first, second):
            by_note.setdefault(f"{what}: {before} -> {after}", []).append(task)
        for mark in first.marks:
            if mark in second.marks:
                by_note.setdefault(mark, []).append(task)
    return [
        note if len(names) == len(tasks) else f"{note} ({', '.join(names)})"
        for note, names in by_note.items()
    ]


def _training(first: Record, second: Record) -> Iterator[tuple[str, object, object]]:
    """Yield what differs in model, training and software, and both values."""
    if first.setting != second.setting:
        yield "protocol", first.setting, second.setting
    for key in ("name", "weights_sha256"):
        before, after = first.model.get(key), second.model.get(key)
        if before != after:
            yield {"name": "model"}.get(key, "weights"), _shown(before), _shown(after)
    if first.protocol.recipe != second.protocol.recipe:
        yield "recipe", first.protocol.recipe, second.protocol.recipe
    settings = (first.protocol.settings, second.protocol.settings)
    for key in dict.fromkeys((*settings[0], *settings[1])):
        if settings[0].get(key) != settings[1].get(key):
            yield key, _shown(settings[0].get(key)), _shown(settings[1].get(key))
    if first.protocol.limit_train != second.protocol.limit_train:
        yield "training examples at most", first.protocol.limit_train, second.protocol.limit_train
    if first.data.train != second.data.train:
        yield "training data", "one revision", "another"
    for key in ("commit", "xharness", "torch", "transformers", "dtype"):
        before, after = first.environment.get(key), second.environment.get(key)
        if before != after:
            yield key, _shown(before), _shown(after)


def _shown(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:12]}..."
