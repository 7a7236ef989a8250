"""Reading the records of a leaderboard, which may be thousands."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from pathlib import Path

from xharness.records.record import Record
from xharness.records.store import read_records


def read_all(paths: Iterable[Path]) -> list[Record]:
    """Read records from files, from folders of records and from run folders, in order.

    A file that two of the paths lead to is one record, not two. The cyclic garbage collector rests meanwhile: records
    are acyclic, and looking through them again and again would take a third of the time.

    Raises:
        InputError: A path holds no record, or one of them is not usable.
    """
    distinct = list({path.resolve(): path for path in paths}.values())
    collecting = gc.isenabled()
    gc.disable()
    try:
        return read_records(distinct)
    finally:
        if collecting:
            gc.enable()
