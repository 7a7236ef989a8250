"""Make every table and figure in leaderboards/ from its published rows and its records, without a network.

python scripts/make_leaderboards.py            write them, and remove what is left over
python scripts/make_leaderboards.py --check    exit 1 and name each file that is stale, absent or left over
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from xharness.analysis.reproductions import reproductions_page
from xharness.errors import InputError
from xharness.leaderboards.files import leaderboard_files
from xharness.leaderboards.loading import read_all
from xharness.leaderboards.parquet import tidy_cells
from xharness.leaderboards.published import read_published
from xharness.leaderboards.suites import tables_of_all, tables_of_suite
from xharness.leaderboards.writing import differing, leftovers, write_all

ROOT = Path(__file__).resolve().parents[1] / "leaderboards"
STUDIES = ("coupling_study", "define_study", "translation_study", "tying_study")
#: What is written by hand, is input, or is written by the script of a study.
KEPT = frozenset({"README.md", "published", "records", "baselines", "analysis"}).union(
    STUDIES, (f"{name}.md" for name in STUDIES)
)
FORMATS = ("md", "csv", "latex", "json", "html", "parquet")
SEVEN = "xtreme-seven"


def main() -> int:
    """Write or check; return the exit code."""
    parser = argparse.ArgumentParser(description="Make the tables and figures in leaderboards/.")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--root", type=Path, default=ROOT, help="another folder of this layout")
    arguments = parser.parse_args()
    try:
        files = make(arguments.root)
        if arguments.check:
            found = differing(arguments.root, files, KEPT)
            for line in found:
                print(line, file=sys.stderr)
            if found:
                print("run 'make leaderboards' and commit what it changes", file=sys.stderr)
            return 1 if found else 0
        write_all(arguments.root, files)
        for name in leftovers(arguments.root, files, KEPT):
            (arguments.root / name).unlink()
    except InputError as error:
        print(f"make_leaderboards: {error}", file=sys.stderr)
        return 2
    print(f"{arguments.root}: {len(files)} files")
    return 0


def make(root: Path) -> dict[str, bytes]:
    """Return the content of every file, by path below the folder."""
    published = read_published(root / "published")
    found = sorted((root / "records").glob("*"))
    records = read_all(path for path in found if path.is_dir() or path.suffix == ".json")
    named = {
        tables.benchmark.name: tables for tables in tables_of_all(records, published, mixed=False)
    }
    # XTREME's records are also those of its tasks without retrieval.
    runs = [record for record in records if record.suite in ("xtreme", SEVEN)]
    named[SEVEN] = tables_of_suite(SEVEN, runs, published, mixed=False)
    suites = [named[name] for name in sorted(named)]
    files = leaderboard_files(suites, tidy_cells(records, published), FORMATS)
    # The tasks and languages of the seven are among XTREME's, and so would its figures be.
    drawn = [tables for tables in suites if tables.benchmark.name != SEVEN]
    page = {"reproductions.md": reproductions_page(root).encode()}
    return files | page | leaderboard_files(drawn, [], ("svg", "pdf"))


if __name__ == "__main__":
    sys.exit(main())
