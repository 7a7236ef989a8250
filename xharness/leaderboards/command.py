"""The ``leaderboard`` verb: from record files to tables, figures and the page."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from xharness.errors import InputError
from xharness.leaderboards.files import leaderboard_files, parse_formats
from xharness.leaderboards.loading import read_all
from xharness.leaderboards.parquet import tidy_cells
from xharness.leaderboards.published import read_published
from xharness.leaderboards.suites import tables_of_all, tables_of_suite
from xharness.leaderboards.writing import write_all


@dataclass(frozen=True)
class LeaderboardCommand:
    """The options of ``xharness leaderboard`` as typed; see ``xharness leaderboard --help``.

    Attributes:
        records: Record files, ``records`` folders and run folders.
        suite: Suite name or YAML file; every suite of the records where absent.
        published: Whether to add the rows of papers that are shipped.
        output: Folder to write to.
        formats: Formats, separated by commas, or ``all``.
        mixed: Whether records may differ in profile, data or specification.
    """

    records: tuple[Path, ...]
    suite: str | None
    published: bool
    output: Path
    formats: str = "md,html,csv,latex,json,parquet"
    mixed: bool = False

    def execute(self) -> None:
        """Make every file, then write them; say on standard output what was written.

        Raises:
            InputError: Wrong use or unusable input; nothing was written then.
        """
        formats = parse_formats(self.formats)
        if not self.records and not self.published:
            raise InputError("there are no records", mend="give run folders, or --published")
        records = read_all(self.records)
        published = read_published() if self.published else []
        if self.suite is None:
            suites = tables_of_all(records, published, mixed=self.mixed)
        else:
            suites = [tables_of_suite(self.suite, records, published, mixed=self.mixed)]
        tasks = {task.name for tables in suites for task in tables.benchmark.tasks}
        shown = [record for record in records if record.task in tasks]
        files = leaderboard_files(suites, tidy_cells(shown, published), formats)
        write_all(self.output, files)
        names = ", ".join(tables.benchmark.name for tables in suites)
        print(f"{self.output}: {len(files)} files of {names}, {len(shown)} records")
        if len(shown) < len(records):
            print(f"{len(records) - len(shown)} records of other tasks left out", file=sys.stderr)
