"""Corpora to mine: ``id TAB sentence`` a line, gold pairs as ``id TAB id``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xharness.data.examples import Bitext, Sentences, SplitName
from xharness.data.lines import read_lines
from xharness.errors import InputError
from xharness.specs.task import TaskSpec


def read_identified_lines(
    paths: Mapping[str, Path],
    task: TaskSpec,
    split: SplitName,
    options: Mapping[str, Any],
    counts: Counter[str],
) -> list[Bitext]:
    """Read the two corpora of a pair of languages and the gold pairs, where there are any.

    Sentences that occur twice under different ids are all kept. Blanks around a gold id are taken off and counted:
    no prediction would equal such an id.

    Raises:
        InputError: A line without a tab, a repeated id, a gold id that neither corpus holds, or gold of no pair.
    """
    source = _corpus(paths["source"], counts)
    target = _corpus(paths["target"], counts)
    if "gold" not in paths:
        return [Bitext(source, target, None)]
    known_source, known_target = set(source.ids), set(target.ids)
    gold = []
    for number, (left, padded) in _cells(paths["gold"], counts):
        right = padded.strip()
        counts["padded_gold_ids"] += right != padded
        for name, known in ((left, known_source), (right, known_target)):
            if name not in known:
                raise InputError(f"id {name!r} is in no corpus", where=f"{paths['gold']}:{number}")
        gold.append((left, right))
    if not gold:
        raise InputError(
            "no gold pair", where=paths["gold"], mend="remove the file where there is no gold"
        )
    return [Bitext(source, target, tuple(gold))]


def _corpus(path: Path, counts: Counter[str]) -> Sentences:
    rows: dict[str, str] = {}
    for number, (name, text) in _cells(path, counts):
        if name in rows:
            raise InputError(f"id {name!r} occurs twice", where=f"{path}:{number}")
        rows[name] = text
    if not rows:
        raise InputError("no sentence", where=path)
    return Sentences(tuple(rows), tuple(rows.values()))


def _cells(path: Path, counts: Counter[str]) -> list[tuple[int, tuple[str, str]]]:
    rows = []
    for number, line in enumerate(read_lines(path, counts), start=1):
        if not line.strip():
            counts["blank_lines"] += 1
            continue
        left, tab, right = line.partition("\t")
        if not tab or not left.strip():
            raise InputError(
                "an id and a tab are expected", where=f"{path}:{number}", mend="id TAB text"
            )
        rows.append((number, (left.strip(), right)))
    return rows
