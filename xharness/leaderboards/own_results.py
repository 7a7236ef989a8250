"""From records to results: one for each model, with its seeds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from xharness.data.translated_tests import TRANSLATED
from xharness.errors import InputError
from xharness.leaderboards.results import Result, TaskRun, scorings
from xharness.records.record import Record
from xharness.specs.registry import Benchmark
from xharness.specs.task import TaskSpec


def own_results(records: Sequence[Record], benchmark: Benchmark) -> list[Result]:
    """Return one result a model, setting and profile, in the order of the records.

    Raises:
        InputError: Two records of the same model, setting, task, seed and profile.
    """
    profiles = {record.profile for record in records}
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        key = (model_name(record), record.setting, record.profile)
        groups.setdefault(key, []).append(record)
    results = []
    for (name, setting, profile), found in groups.items():
        runs: dict[str, dict[int, TaskRun]] = {}
        first: dict[tuple[str, int], Record] = {}
        for record in found:
            one = first.setdefault((record.task, record.seed), record)
            if one is not record:
                raise _twice(one, record)
            runs.setdefault(record.task, {})[record.seed] = _run(record)
        tuned = {record.task for record in found if record.protocol.finetuned}
        results.append(
            Result(
                model=f"{name} [{profile}]" if len(profiles) > 1 else name,
                setting=setting,
                runs=runs,
                scorings=scorings(benchmark, profile),
                records=tuple(found),
                untuned=frozenset(runs) - tuned,
            )
        )
    return results


def model_name(record: Record) -> str:
    """Return the name of a record's model."""
    return str(record.model["name"])


def _who(record: Record) -> str:
    """Return what notes and messages call whose record it is."""
    name = model_name(record)
    return name if record.protocol.setting is None else f"{name}, {record.protocol.setting}"


def differences(records: Sequence[Record]) -> list[str]:
    """Name what keeps records out of one table, in words.

    These are specifications or data of one task that differ, protocols that differ under one setting, seeds of one
    model, setting and task that were trained or limited in different ways, and weights that differ under one name.
    """
    first: dict[tuple[str, ...], tuple[object, str]] = {}
    found: dict[str, None] = {}
    for record in records:
        name = model_name(record)
        who = f"{name} seed {record.seed}"
        parts: dict[tuple[str, ...], object] = {
            (record.task_title, "the specification"): _specification(record),
            (record.task_title, "the protocol", record.setting): record.spec.get("protocol"),
            **{
                (record.task_title, f"the data of {code}"): _original(origin)
                for code, origin in record.data.test.items()
            },
            (record.task_title, "the training or the limit", name, record.setting): _conditions(
                record
            ),
            ("model", "the digest of the weights", name): record.model.get("weights_sha256"),
        }
        for key, value in parts.items():
            known, whose = first.setdefault(key, (value, who))
            if known != value:
                where = f"model {name}" if key[0] == "model" else key[0]
                other = f"{who} on {record.task_title}" if key[0] == "model" else who
                found[f"{where}: {key[1]} differs between {whose} and {other}"] = None
    return list(found)


def _specification(record: Record) -> str:
    """Return the digest of what a specification says of the task itself, which every protocol shares."""
    if "protocol" not in record.spec:
        return record.spec_sha256
    content = {key: value for key, value in record.spec.items() if key != "protocol"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _original(origin: Mapping[str, str]) -> dict[str, str]:
    """Return where test data come from, without the translations that a protocol reads beside them."""
    return {name: value for name, value in origin.items() if not name.startswith(TRANSLATED)}


def _conditions(record: Record) -> str:
    protocol = record.protocol
    parts = [protocol.settings, protocol.finetuned, protocol.limit, protocol.limit_train]
    return json.dumps(parts, sort_keys=True)


def _run(record: Record) -> TaskRun:
    scored, reasons = {}, {}
    for code, result in record.languages.items():
        if result.status == "scored":
            scored[code] = result.figures
        else:
            reasons[code] = result.reason or result.status
    return TaskRun(scored, reasons=reasons)


def _twice(one: Record, other: Record) -> InputError:
    name, same = _who(one), one.languages == other.languages
    scores = " and ".join("-" if r.score is None else f"{r.score:.2f}" for r in (one, other))
    return InputError(
        f"two records of {name} on {one.task} with seed {one.seed}"
        + (" with the same figures" if same else f" that disagree: {scores}"),
        mend="give one of them",
    )


def notes(records: Sequence[Record], tasks: Sequence[TaskSpec]) -> list[str]:
    """Return what a reader must know of the records of some tasks: profile, recipe, limits, holes."""
    found = [f"scoring profile: {p}" for p in sorted({record.profile for record in records})]
    if any(record.protocol.settings for record in records):
        recipes = sorted({record.protocol.recipe for record in records})
        seeds = sorted({record.seed for record in records if record.protocol.finetuned})
        found.append(f"recipe: {', '.join(recipes)}; seeds: {', '.join(map(str, seeds)) or '-'}")
    models = {_who(record) for record in records}
    marks: dict[tuple[str, str], dict[str, None]] = {}
    for record in records:
        for mark in record.marks:
            who = _who(record) if len(models) > 1 else ""
            marks.setdefault((mark, who), {})[record.task_title] = None
    for (mark, who), titles in marks.items():
        found.append(f"{', '.join(titles)}: {mark}" + (f" ({who})" if who else ""))
    found += _holes(records, named=len(models) > 1)
    absent = [t.title for t in tasks if not any(r.task == t.name for r in records)]
    if absent:
        found.append(f"not run: {', '.join(absent)}")
    return found


def _holes(records: Sequence[Record], *, named: bool) -> list[str]:
    holes: dict[tuple[str, str, str], dict[str, None]] = {}
    for record in records:
        for code, result in record.languages.items():
            if result.status != "scored":
                who = _who(record) if named else ""
                key = (record.task_title, who, result.reason or result.status)
                holes.setdefault(key, {})[code] = None
    return [
        f"hole: {title} {', '.join(codes)} ({f'{who}, ' if who else ''}{reason}), so no average over it"
        for (title, who, reason), codes in holes.items()
    ]
