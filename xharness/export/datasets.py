"""Which data set a record's figures belong to, under its name on the Hugging Face hub."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from xharness.errors import InputError
from xharness.records.record import Record
from xharness.specs.task import TaskSpec, placeholders

_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class DatasetPart:
    """A data set, or the part of it that one language is tested on.

    Attributes:
        repository: Id on the hub; ``None`` where the task's specification names none.
        config: Configuration there; ``None`` where it is unknown or differs between languages.
        split: Split there.
        revision: Commit that was read; ``None`` for files and for local copies.
        rows: Column and value that select the language's rows, where a configuration holds several languages.
        from_hub: Whether the figures rest on the hub's rows; else they rest on files of the same data set.
    """

    repository: str | None
    config: str | None = None
    split: str | None = None
    revision: str | None = None
    rows: dict[str, str] = field(default_factory=dict)
    from_hub: bool = False


def spec_of(record: Record) -> TaskSpec:
    """Return the task specification that a record holds.

    Raises:
        InputError: This version does not read it.
    """
    try:
        return TaskSpec.model_validate(record.spec)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise InputError(
            f"the record of {record.task} seed {record.seed} holds a specification that does not "
            f"validate: {key}: {first['msg']}",
            mend="make the record again with the command it holds",
        ) from error


def part_of_language(record: Record, spec: TaskSpec, language: str) -> DatasetPart:
    """Return what a language was tested on: from the origin of its rows, else from the specification."""
    origin = record.data.test.get(language, {})
    stand_in = record.languages[language].stand_in
    hub = spec.sources.hub
    table = None if hub is None else hub.dev if stand_in else hub.test
    if hub is None or table is None:
        rows = {}
        declared = DatasetPart(None if hub is None else hub.repository, split=stand_in or "test")
    else:
        values = placeholders(language, hub.names)
        rows = {column: value.format_map(values) for column, value in table.where.items()}
        if table.id_prefix is not None:
            rows["id_prefix"] = table.id_prefix.format_map(values)
        config = None if table.config is None else table.config.format_map(values)
        repository = table.repository or hub.repository
        declared = DatasetPart(repository, config, table.split, None, rows)
    if "repository" not in origin:
        return declared
    revision = origin.get("revision", "")
    return DatasetPart(
        origin["repository"],
        origin.get("config"),
        origin.get("split"),
        revision if _COMMIT.fullmatch(revision) else None,
        rows,
        from_hub=True,
    )


def common_part(parts: Sequence[DatasetPart]) -> DatasetPart:
    """Return what several languages' parts agree on, for a mean over them."""

    def agreed(values: set[str | None]) -> str | None:
        return values.pop() if len(values) == 1 else None

    return DatasetPart(
        agreed({part.repository for part in parts}),
        agreed({part.config for part in parts}),
        agreed({part.split for part in parts}),
        agreed({part.revision for part in parts}),
        from_hub=all(part.from_hub for part in parts),
    )
