"""Which suites a leaderboard has, and the tables of each."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import ValidationError

from xharness.errors import InputError
from xharness.leaderboards.own_results import model_name
from xharness.leaderboards.published import Published
from xharness.leaderboards.table import Tables, build_tables
from xharness.records.record import Record
from xharness.specs.registry import Benchmark, available, benchmark_of_suite
from xharness.specs.suite import Suite
from xharness.specs.task import TaskSpec

#: Also the name of a folder, so nothing that leads out of it.
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")


def tables_of_suite(
    reference: str, records: Sequence[Record], published: Sequence[Published], *, mixed: bool
) -> Tables:
    """Return the tables of one suite, from every record of its tasks, whatever suite it was run in.

    Args:
        reference: Suite name or YAML file.
        records: Records; those of other tasks are passed over.
        published: Rows of papers.
        mixed: See ``build_tables``.

    Raises:
        InputError: There is no such suite, nothing is in it, or what is in it does not belong into one table.
    """
    tables = build_tables(records, benchmark_of_suite(reference), published=published, mixed=mixed)
    if not tables.tasks.rows:
        raise InputError(f"no result is of a task of {tables.benchmark.name}", where="--suite")
    return tables


def tables_of_all(
    records: Sequence[Record], published: Sequence[Published], *, mixed: bool
) -> list[Tables]:
    """Return the tables of each suite that records were run in, and of each that has published rows.

    A suite's table has the records that were run in it; a suite that is not shipped is made anew from the
    specifications in its records, without an overall score.

    Raises:
        InputError: As ``tables_of_suite``; or a suite that is not shipped cannot be made anew.
    """
    shipped = available(Suite)
    names = list(dict.fromkeys(record.suite for record in records))
    suites = []
    for name in names:
        own = [record for record in records if record.suite == name]
        if name in shipped:
            suites.append(tables_of_suite(name, own, published, mixed=mixed))
        else:
            suites.append(build_tables(own, _benchmark_of_records(name, own), mixed=mixed))
    for name in shipped if published else ():
        if name not in names:
            tables = build_tables([], benchmark_of_suite(name), published=published)
            suites += [tables] if tables.tasks.rows else []
    return suites


def _benchmark_of_records(name: str, records: Sequence[Record]) -> Benchmark:
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} is no name of a suite", where=_place(records[0]))
    tasks: dict[str, TaskSpec] = {}
    for record in records:
        try:
            tasks.setdefault(record.task, TaskSpec.model_validate(record.spec))
        except ValidationError as error:
            raise InputError(
                f"suite {name} is not shipped, and the specification in this record is not usable",
                where=_place(record),
                mend="give --suite",
            ) from error
    categories: dict[str, tuple[str, ...]] = {}
    for task in tasks.values():
        categories[task.category] = (*categories.get(task.category, ()), task.name)
    titles = ", ".join(task.title for task in tasks.values())
    return Benchmark(name, titles, tuple(tasks.values()), categories, overall=(), recipe="xtreme")


def _place(record: Record) -> str:
    return f"record of {model_name(record)} on {record.task} with seed {record.seed}"
