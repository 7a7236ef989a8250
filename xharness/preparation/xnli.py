"""XNLI: the official archives' tables to one file a split and language.

``XNLI-1.0/xnli.{dev,test}.tsv`` hold all languages and have a header; the English training set is
``XNLI-MT-1.0/multinli/multinli.train.en.tsv``. As in XTREME's ``xnli_preprocess`` the label
``contradictory`` becomes ``contradiction`` (``labels_respelled``) and blanks at a sentence's edges
go. Other than there, columns are found by name, rows with the label ``-`` (no majority among the
annotators) are dropped and counted (``unlabelled_rows``), and nothing is quoted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from xharness.errors import InputError
from xharness.preparation.outputs import OutputFiles
from xharness.preparation.sources import LANGUAGE, find_files, read_lines, unique_names
from xharness.preparation.tables import clean_pair, format_pair, read_table

LABELS = ("entailment", "neutral", "contradiction")
NO_MAJORITY = "-"
_TRAIN = "multinli.train.en.tsv"
_EVALUATION = {"dev": "xnli.dev.tsv", "test": "xnli.test.tsv"}


def prepare_xnli(raw: Path, files: OutputFiles) -> None:
    """Write ``train-en.tsv``, ``dev-{language}.tsv`` and ``test-{language}.tsv``.

    Rows are ``premise TAB hypothesis TAB label``. A table that is absent is named as missing.

    Args:
        raw: Holds the tables, at any depth.
        files: Where the files go.

    Raises:
        InputError: No table is there, or one breaks the format.
    """
    names = {_TRAIN, *_EVALUATION.values()}
    paths = {
        path.name: path for path in unique_names(find_files(raw, lambda path: path.name in names))
    }
    if not paths:
        raise InputError("no XNLI table", where=raw, mend=f"expected {', '.join(sorted(names))}")
    files.missing += sorted(names - set(paths))
    if _TRAIN in paths:
        columns = ("premise", "hypo", "label")
        _add(files, "train", paths[_TRAIN], columns, language="en")
    for split, name in _EVALUATION.items():
        if name in paths:
            columns = ("sentence1", "sentence2", "gold_label")
            _add(files, split, paths[name], columns, language=None)


def _add(
    files: OutputFiles, split: str, path: Path, columns: tuple[str, ...], language: str | None
) -> None:
    """Write one table's languages; ``language`` None means that a column tells it."""
    of_table: Counter[str] = Counter()
    rows: defaultdict[str, list[str]] = defaultdict(list)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    wanted = columns if language else (*columns, "language")
    for number, cells in read_table(read_lines(path, of_table), str(path), wanted, of_table):
        where = f"{path}:{number}"
        code = language or cells[3].strip()
        if not LANGUAGE.fullmatch(code):
            raise InputError(f"language {code!r} is no code", where=where)
        label = cells[2].strip()
        if label == NO_MAJORITY:
            counts[code]["unlabelled_rows"] += 1
            continue
        if label == "contradictory":
            counts[code]["labels_respelled"] += 1
            label = "contradiction"
        pair = clean_pair(cells[0], cells[1], label, LABELS, where, counts[code])
        rows[code].append(format_pair(pair))
    for code in sorted(counts):
        # What concerns the whole table (a byte order mark) is told once, with its first language.
        files.add(f"{split}-{code}.tsv", rows[code], counts[code] + of_table)
        of_table = Counter()
