"""PAWS-X: the tables of ``x-final`` to one file a split and language.

As in XTREME's ``pawsx_preprocess``: training data is English ``train.tsv`` only, dev and test are
``dev_2k.tsv`` and ``test_2k.tsv``, blanks at a sentence's edges go. Rows whose sentence is the
placeholder ``NS`` are kept, as in the official files, and counted (``placeholder_rows``). The
official script takes the first line for a header unseen; here a file without one keeps its first
row (``missing_headers``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from xharness.errors import InputError
from xharness.preparation.outputs import OutputFiles
from xharness.preparation.sources import LANGUAGE, find_files, read_lines
from xharness.preparation.tables import clean_pair, format_pair, read_table, select

LANGUAGES = ("de", "en", "es", "fr", "ja", "ko", "zh")
LABELS = ("0", "1")
PLACEHOLDER = "NS"
_SPLITS = {"train.tsv": "train", "dev_2k.tsv": "dev", "test_2k.tsv": "test"}
_COLUMNS = ("sentence1", "sentence2", "label")


def prepare_pawsx(raw: Path, files: OutputFiles) -> None:
    """Write ``train-en.tsv``, ``dev-{language}.tsv`` and ``test-{language}.tsv``.

    Rows are ``sentence1 TAB sentence2 TAB label``. The machine-translated training files
    (``translated_train.tsv``) are ignored; an absent table is named as missing.

    Args:
        raw: Holds ``{language}/{train,dev_2k,test_2k}.tsv``, at any depth.
        files: Where the files go.

    Raises:
        InputError: No table is there, one occurs twice or breaks the format.
    """
    found: dict[tuple[str, str], Path] = {}
    for path in find_files(raw, lambda path: path.suffix == ".tsv"):
        split, language = _SPLITS.get(path.name), path.absolute().parent.name
        if split is None or not LANGUAGE.fullmatch(language):
            files.ignored.append(f"{path}: no file of the task")
        elif split == "train" and language != "en":
            files.ignored.append(f"{path}: training data is English")
        elif (split, language) in found:
            first = found[split, language]
            raise InputError(f"a second copy, after {first}", where=path, mend="leave one of them")
        else:
            found[split, language] = path
    if not found:
        raise InputError("no PAWS-X table", where=raw, mend="expected en/train.tsv, de/dev_2k.tsv")
    expected = [("en", "train.tsv")]
    expected += [(lang, name) for lang in LANGUAGES for name in ("dev_2k.tsv", "test_2k.tsv")]
    files.missing += [
        f"{lang}/{name}" for lang, name in expected if (_SPLITS[name], lang) not in found
    ]
    for (split, language), path in sorted(found.items()):
        counts: Counter[str] = Counter()
        files.add(f"{split}-{language}.tsv", _rows(path, counts), counts)


def _rows(path: Path, counts: Counter[str]) -> Iterator[str]:
    lines = read_lines(path, counts)
    header = lines[0].split("\t") if lines else []
    if "label" in header or "sentence1" in header:
        rows = read_table(lines, str(path), _COLUMNS, counts)
    else:
        counts["missing_headers"] += 1
        rows = select(lines, str(path), 4, (1, 2, 3), counts, first=1)
    for number, (first, second, label) in rows:
        pair = clean_pair(first, second, label.strip(), LABELS, f"{path}:{number}", counts)
        counts["placeholder_rows"] += PLACEHOLDER in (pair.first, pair.second)
        yield format_pair(pair)
