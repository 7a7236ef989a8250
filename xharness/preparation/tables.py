"""Sentence-pair tables: unquoted TSV with named columns, and the rows written from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from xharness.errors import InputError


class Pair(NamedTuple):
    """A labelled sentence pair."""

    first: str
    second: str
    label: str


def read_table(
    lines: Sequence[str], where: str, columns: Sequence[str], counts: Counter[str]
) -> Iterator[tuple[int, list[str]]]:
    r"""The named columns of a TSV with a header row.

    Quotes mean nothing: hundreds of cells in these data begin with one and never close it.

    Args:
        lines: The lines, without line ends.
        where: The file's name for errors.
        columns: The columns wanted; the header must name them all.
        counts: Gets ``blank_lines``.

    Yields:
        The line number, from 1, and the cells in the order of ``columns``.

    Raises:
        InputError: A column is missing, or a row has more or fewer cells than the header.
    """
    header = lines[0].split("\t") if lines else []
    missing = [name for name in columns if name not in header]
    if missing:
        raise InputError(
            f"the header lacks {', '.join(missing)}",
            where=f"{where}:1",
            mend="the first line must name the columns",
        )
    places = [header.index(name) for name in columns]
    yield from select(lines, where, len(header), places, counts, first=2)


def select(
    lines: Sequence[str],
    where: str,
    width: int,
    places: Sequence[int],
    counts: Counter[str],
    *,
    first: int,
) -> Iterator[tuple[int, list[str]]]:
    """The cells at ``places`` of the rows from line number ``first`` on; as ``read_table``."""
    for number in range(first, len(lines) + 1):
        line = lines[number - 1]
        if not line:
            counts["blank_lines"] += 1
            continue
        cells = line.split("\t")
        if len(cells) != width:
            raise InputError(
                f"{len(cells)} columns in place of {width}",
                where=f"{where}:{number}",
                mend="a cell may hold no tab and no line break",
            )
        yield number, [cells[place] for place in places]


def clean_pair(
    first: str, second: str, label: str, labels: Collection[str], where: str, counts: Counter[str]
) -> Pair:
    """A pair without blanks at the edges of its sentences (``edge_blanks`` sentences).

    A sentence that is empty stays, counted as ``empty_sentences``: the row's place and label are
    part of the official file.

    Raises:
        InputError: The label is not one of ``labels``.
    """
    if label not in labels:
        raise InputError(
            f"label {label!r} is unknown", where=where, mend=f"one of {', '.join(sorted(labels))}"
        )
    stripped = first.strip(), second.strip()
    counts["edge_blanks"] += (stripped[0] != first) + (stripped[1] != second)
    counts["empty_sentences"] += stripped.count("")
    return Pair(*stripped, label)


def format_pair(pair: Pair) -> str:
    """The line ``first TAB second TAB label``, with its line end."""
    return "\t".join(pair) + "\n"
