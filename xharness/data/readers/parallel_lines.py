"""Aligned sentences: line i of one file translates line i of the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xharness.data.examples import Bitext, Sentences, SplitName
from xharness.data.lines import read_lines
from xharness.errors import InputError
from xharness.specs.task import TaskSpec


def read_parallel_lines(
    paths: Mapping[str, Path],
    task: TaskSpec,
    split: SplitName,
    options: Mapping[str, Any],
    counts: Counter[str],
) -> list[Bitext]:
    """Read two files of one sentence a line; ids are the line numbers from 0, as in a submission.

    Options: ``aligned`` (default true): whether equal line numbers are the gold pairs; XTREME's own files
    have the English side sorted, so they hold no gold.

    Raises:
        InputError: The files are empty or differ in their number of lines.
    """
    sides = {}
    for part in ("source", "target"):
        lines = read_lines(paths[part], counts)
        while lines and not lines[-1].strip():
            lines.pop()
            counts["blank_trailing_lines"] += 1
        counts["empty_sentences"] += sum(not line.strip() for line in lines)
        sides[part] = Sentences(tuple(str(i) for i in range(len(lines))), tuple(lines))
    source, target = sides["source"], sides["target"]
    if not source.ids or not target.ids:
        raise InputError("no sentence", where=paths["source" if not source.ids else "target"])
    aligned = options.get("aligned", True)
    if aligned and len(source.ids) != len(target.ids):
        raise InputError(
            f"{len(source.ids)} lines, but {paths['target']} has {len(target.ids)}",
            where=paths["source"],
            mend="aligned files have as many lines",
        )
    gold = tuple(zip(source.ids, target.ids, strict=True)) if aligned else None
    return [Bitext(source, target, gold)]
