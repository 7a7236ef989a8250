"""Readers: one file a format. Each takes the paths of a split and returns its examples.

A new format is one module here and one entry in ``READERS``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xharness.data.examples import Example, SplitName
from xharness.data.readers.choice_jsonl import read_choice_jsonl
from xharness.data.readers.columns import read_columns
from xharness.data.readers.identified_lines import read_identified_lines
from xharness.data.readers.pair_tsv import read_pair_tsv
from xharness.data.readers.parallel_lines import read_parallel_lines
from xharness.data.readers.squad_json import read_squad_json
from xharness.data.readers.xquad_r import read_xquad_r
from xharness.specs.task import TaskSpec

#: ``read(paths, task, split, options, counts)``; ``paths`` maps a part (``file``, ``source`` ...) to its path.
Reader = Callable[
    [Mapping[str, Path], TaskSpec, SplitName, Mapping[str, Any], Counter[str]], Sequence[Example]
]

READERS: dict[str, Reader] = {
    "choice_jsonl": read_choice_jsonl,
    "columns": read_columns,
    "identified_lines": read_identified_lines,
    "pair_tsv": read_pair_tsv,
    "parallel_lines": read_parallel_lines,
    "squad_json": read_squad_json,
    "xquad_r": read_xquad_r,
}

#: Parts that a format can do without; a file that is absent is then left out of ``paths``.
OPTIONAL_PARTS: dict[str, frozenset[str]] = {
    "choice_jsonl": frozenset({"english"}),
    "identified_lines": frozenset({"gold"}),
    "xquad_r": frozenset({"ar", "de", "el", "en", "es", "hi", "ru", "th", "tr", "vi", "zh"}),
}

#: What a record says where optional parts are absent without which the figures mean something else.
PARTIAL_NOTES: dict[str, str] = {"xquad_r": "no candidates in {parts}, their files are absent"}
