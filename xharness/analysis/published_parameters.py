"""Printed parameter counts beside those of the configurations that they are of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator
from transformers import AutoConfig

from xharness.analysis.parameters import Convention, Counts, Pooler, count
from xharness.specs.paths import SPECS
from xharness.specs.validation import SpecModel, build
from xharness.specs.yaml_loading import load_document

PUBLISHED = SPECS / "parameter_counts.yaml"

#: How a printed figure comes from ours: to the nearest unit, cut, up to the next unit, or not at all.
Agreement = Literal["rounded", "cut", "rounded up", "differs"]

_PRINTED = ("pretraining", "fine_tuning", "embedding", "share")
_MILLION = 1_000_000


class ConventionSpec(SpecModel):
    """A ``Convention`` in the file."""

    pooler: Pooler
    head: bool


class PublishedRow(SpecModel):
    """A row of printed counts, in millions of parameters, and the embedding's share, in percent.

    Attributes:
        tables: Numbers of the tables that have it.
        model: Its name there, or what tells it from another reading of the same row.
        shape: A name among the file's shapes.
        sizes: What differs from that shape.
        counts: A name among the file's conventions.
        pretraining: Parameters in pre-training.
        fine_tuning: Parameters in fine-tuning.
        embedding: Parameters of the embedding.
        share: Of the embedding in all of pre-training.
        note: Why it differs.
    """

    tables: tuple[int, ...] = Field(min_length=1)
    model: str
    shape: str
    sizes: dict[str, Any] = {}
    counts: str
    pretraining: int
    fine_tuning: int | None = None
    embedding: int | None = None
    share: int | None = None
    note: str = ""


class PublishedCounts(SpecModel):
    """The file of printed counts.

    Attributes:
        source: Where they are printed.
        shapes: Configurations by name.
        conventions: What rows count, by name.
        rows: The rows.
    """

    source: str
    shapes: dict[str, dict[str, Any]]
    conventions: dict[str, ConventionSpec]
    rows: tuple[PublishedRow, ...]

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        for row in self.rows:
            if row.shape not in self.shapes or row.counts not in self.conventions:
                raise ValueError(f"{row.model}: unknown shape {row.shape} or counts {row.counts}")
        return self

    def config(self, row: PublishedRow) -> Any:
        """Return the configuration of a row."""
        sizes = {**self.shapes[row.shape], **row.sizes}
        return AutoConfig.for_model(sizes.pop("model_type"), **sizes)

    def convention(self, row: PublishedRow) -> Convention:
        """Return what a row counts."""
        spec = self.conventions[row.counts]
        return Convention(spec.pooler, spec.head)


@dataclass(frozen=True)
class ParameterRow:
    """Our counts of a model, and printed ones where there are any.

    Attributes:
        model: Its name.
        pretraining: Parameters in pre-training.
        fine_tuning: Parameters in fine-tuning, without a task's head.
        counts: All parts.
        table: Number of the printed table.
        published: What it prints.
    """

    model: str
    pretraining: int
    fine_tuning: int
    counts: Counts
    table: int | None = None
    published: PublishedRow | None = None

    @property
    def share(self) -> float:
        """The embedding's share in pre-training, in percent."""
        return 100 * self.counts.embedding / self.pretraining

    @property
    def agreements(self) -> dict[str, Agreement]:
        """How each printed figure comes from ours."""
        if self.published is None:
            return {}
        ours = {
            "pretraining": self.pretraining / _MILLION,
            "fine_tuning": self.fine_tuning / _MILLION,
            "embedding": self.counts.embedding / _MILLION,
            "share": self.share,
        }
        return {
            name: agreement(value, printed)
            for name, value in ours.items()
            if (printed := getattr(self.published, name)) is not None
        }

    @property
    def agrees(self) -> bool | None:
        """Whether all printed figures come from ours; nothing where none is printed."""
        return "differs" not in self.agreements.values() if self.published else None

    def as_json(self) -> dict[str, Any]:
        """Return the row with counts as integers and shares in percent."""
        printed = {name: getattr(self.published, name, None) for name in _PRINTED}
        return {
            "table": self.table,
            "model": self.model,
            "pretraining": self.pretraining,
            "fine_tuning": self.fine_tuning,
            "embedding": self.counts.embedding,
            "embedding_share": self.share,
            "frozen": self.counts.frozen,
            "extra_layers": self.counts.extra_layers,
            "output_embedding": self.counts.output_embedding,
            "published_pretraining": _millions(printed["pretraining"]),
            "published_fine_tuning": _millions(printed["fine_tuning"]),
            "published_embedding": _millions(printed["embedding"]),
            "published_embedding_share": printed["share"],
            "agreement": self.agreements,
            "agrees": self.agrees,
            "note": self.published.note if self.published else "",
        }


def agreement(ours: float, printed: int) -> Agreement:
    """Tell whether a printed whole number is ours to its precision.

    The study's tables round in more than one way: Tables 2 to 6 cut (100.58M is 100M, 192.97M is 192M), Table 13
    takes the nearest (92.90M is 93M). So every way of making a whole number of ours counts as agreement, and is named.
    """
    if math.floor(ours + 0.5) == printed:
        return "rounded"
    if math.floor(ours) == printed:
        return "cut"
    return "rounded up" if math.ceil(ours) == printed else "differs"


@cache
def published_rows(path: Path = PUBLISHED) -> tuple[ParameterRow, ...]:
    """Return all printed rows in order of their tables, each beside our counts.

    Raises:
        InputError: The file is unusable.
    """
    published = load_published(path)
    rows = []
    for row in published.rows:
        counts, convention = count(published.config(row)), published.convention(row)
        ours = counts.pre_training(convention), counts.fine_tuning(convention)
        rows += [ParameterRow(row.model, *ours, counts, table, row) for table in row.tables]
    return tuple(sorted(rows, key=lambda row: row.table or 0))


@cache
def load_published(path: Path = PUBLISHED) -> PublishedCounts:
    """Return the printed rows and their configurations.

    Raises:
        InputError: The file is unusable.
    """
    return build(PublishedCounts, load_document(path))


def _millions(count: int | None) -> int | None:
    return None if count is None else count * _MILLION
