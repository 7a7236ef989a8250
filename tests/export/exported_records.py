"""Records as a run leaves them, with every figure of their metric, and the schemas of the formats."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import Any

from jsonschema import Draft202012Validator

from tests.records.examples import make_record
from xharness.records.record import Data, LanguageResult, Record
from xharness.specs.registry import load
from xharness.specs.task import METRIC_FIGURES, TaskSpec

SCHEMAS = Path(__file__).parent / "schemas"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def check_schema(name: str, content: object) -> None:
    """Fail with every violation of a schema."""
    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    errors = [
        f"{'/'.join(map(str, error.path))}: {error.message}"
        for error in Draft202012Validator(schema).iter_errors(content)
    ]
    assert errors == [], errors


def make_full_record(
    task: str = "xnli",
    seed: int = 1,
    value: float = 50.0,
    holes: tuple[str, ...] = (),
    hub: bool = False,
    second: float | None = None,
    **changes: Any,
) -> Record:
    """Return a record whose figures are ``value`` in every language; ``second`` is the second figure, where there is.

    Args:
        task: A shipped task.
        seed: Its seed.
        value: Percentage of the metric's figures.
        holes: Languages without data.
        hub: Whether the rows were read from the hub.
        second: Percentage of the metric's second figure.
        changes: Further fields of the record.
    """
    spec = load(TaskSpec, task)
    names = METRIC_FIGURES[spec.metric]
    figures = dict.fromkeys(names, value)
    if second is not None:
        figures[names[1]] = second
    complete = not holes
    scores = spec.score_figures(str(changes.get("profile", "official")))
    base = make_record(task, seed)
    languages = {
        language: LanguageResult(status="missing", reason="no data")
        if language in holes
        else LanguageResult(
            status="scored", figures=figures, counts={"examples": 200, "unanswered": 0}
        )
        for language in spec.languages
    }
    origin = {
        language: {
            "repository": "google/xtreme",
            "config": "c",
            "split": "test",
            "revision": COMMIT,
        }
        if hub
        else {f"{task}/test-{language}.tsv": "f" * 64}
        for language in spec.languages
        if language not in holes
    }
    fields: dict[str, Any] = {
        "protocol": base.protocol.model_copy(update={"training_set": spec.training}),
        "spec": spec.model_dump(mode="json", exclude_defaults=True),
        "languages": languages,
        "averages": {name: figures[name] if complete else None for name in names},
        "score_figures": scores,
        "score": mean(figures[name] for name in scores) if complete else None,
        "data": Data(
            source={"source": "hub" if hub else "files"},
            test=origin,
            examples=dict.fromkeys(origin, 200),
            train_examples=1000,
        ),
        "environment": {"xharness": "0.1.0", "transformers": "5.0.0", "device": "cpu"},
    }
    return base.model_copy(update={**fields, **changes}).sealed()
