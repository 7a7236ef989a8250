r"""PAN-X: WikiAnn's raw files to token and tag files.

A raw row is ``xx:token TAB tag``, a blank line ends a sentence. XTREME's preparation
(``panx_preprocess`` in ``utils_preprocess.py`` of google-research/xtreme) cuts the prefix at the
first colon and strips the token. This one differs where that loses data:

- A row whose token is empty (``vi:TAB O``) is dropped with its tag, and counted as
  ``empty_tokens``. The official script writes a blank line in test, which ends the sentence
  there, and ``TAB O`` in train and dev, which readers take for a token "O". No other tag moves.
  Where the dropped row opened an entity that goes on, or parted two entities, the next ``I-``
  tag becomes ``B-`` (``entity_starts_moved``), so that the entities stay what they were.
- Only the blanks space and ``\r`` at a token's edges are removed (``edge_blanks``): U+3000 is a
  token, and U+00A0 stays where it is. Colons, quotes and ``#`` mean nothing here.
- A row whose prefix is another edition's is kept and counted (``foreign_prefixes``); a row
  without any prefix, which the official script passes over, is an error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from xharness.errors import InputError
from xharness.preparation.archives import archive_stem, read_members
from xharness.preparation.outputs import OutputFiles
from xharness.preparation.sources import LANGUAGE, decode, find_files, read_bytes, split_lines

SPLITS = ("train", "dev", "test")
_TAG = re.compile(r"O|[BI]-\S+")
_PREFIX = re.compile(rf"({LANGUAGE.pattern}):")


class Row(NamedTuple):
    """A token with its tag; the token may be empty."""

    token: str
    tag: str


def prepare_panx(raw: Path, files: OutputFiles, *, official_boundaries: bool = False) -> None:
    """Write ``{split}-{language}.tsv`` for every language and split found.

    Args:
        raw: Holds ``{language}/{split}``, ``{language}-{split}`` or ``{language}.tar.gz`` with
            the members ``train``, ``dev`` and ``test``. An archive beside its unpacked files is
            ignored, and so is the member ``extra``.
        files: Where the files go.
        official_boundaries: In test, end a sentence at a token that is empty, or blank as
            U+3000 is, as the official file does (``official_boundaries``).

    Raises:
        InputError: Nothing is found, a split occurs twice, or a row breaks the format.
    """
    found: dict[tuple[str, str], Path] = {}
    archives: list[tuple[str, Path]] = []
    for path in find_files(raw, lambda path: True):
        stem = archive_stem(path)
        if stem is not None and LANGUAGE.fullmatch(stem):
            archives.append((stem, path))
        elif key := _language_and_split(path):
            if key in found:
                raise InputError(
                    f"a second {key[1]} file of {key[0]}, after {found[key]}",
                    where=path,
                    mend="leave one of them",
                )
            found[key] = path
    unpacked = {language for language, _ in found}
    if not found and not archives:
        raise InputError(
            "no PAN-X file", where=raw, mend="expected {language}/train or {language}.tar.gz"
        )
    for (language, split), path in sorted(found.items()):
        _add(files, language, split, read_bytes(path), str(path), official_boundaries)
    seen: dict[str, Path] = {}
    for language, path in archives:
        if language in unpacked:
            files.ignored.append(f"{path}: its unpacked files are beside it")
            continue
        if language in seen:
            raise InputError(f"a second archive of {language}", where=path, mend="leave one")
        seen[language] = path
        for split, (where, data) in _archive_splits(path).items():
            _add(files, language, split, data, where, official_boundaries)
            found[language, split] = path
    files.missing += [
        f"{language}/{split}"
        for language in sorted({language for language, _ in found})
        for split in SPLITS
        if (language, split) not in found
    ]


def _language_and_split(path: Path) -> tuple[str, str] | None:
    """Language and split of ``xx/train`` or ``xx-train``; None for any other file."""
    if path.name in SPLITS:
        language, split = path.absolute().parent.name, path.name
    else:
        language, _, split = path.name.rpartition("-")
    if split in SPLITS and LANGUAGE.fullmatch(language):
        return language, split
    return None


def _archive_splits(path: Path) -> dict[str, tuple[str, bytes]]:
    def wanted(name: PurePosixPath) -> bool:
        return name.name in SPLITS

    splits: dict[str, tuple[str, bytes]] = {}
    for name, data in read_members(path, wanted).items():
        if name.name in splits:
            raise InputError(f"a second member {name.name}: {name}", where=path)
        splits[name.name] = (f"{path}/{name}", data)
    if not splits:
        raise InputError("the archive holds no train, dev or test", where=path)
    return splits


def _add(
    files: OutputFiles, language: str, split: str, data: bytes, where: str, official: bool
) -> None:
    counts: Counter[str] = Counter()
    lines = split_lines(decode(data, where, counts), counts)
    sentences = read_wikiann(lines, language, where, counts)
    parted = official and split == "test"
    blocks = (
        "".join(f"{token}\t{tag}\n" for token, tag in part)
        for sentence in sentences
        for part in (
            split_at_blank_tokens(sentence, counts)
            if parted
            else [drop_empty_tokens(sentence, counts)]
        )
        if part
    )
    files.add(f"{split}-{language}.tsv", blocks, counts, separator="\n")


def read_wikiann(
    lines: Sequence[str], language: str, where: str, counts: Counter[str]
) -> Iterator[list[Row]]:
    """The sentences of a raw file, prefixes removed, empty tokens still in place.

    Args:
        lines: The lines, without line ends.
        language: The code whose prefix the rows bear.
        where: The file's name for errors.
        counts: Gets ``foreign_prefixes`` and ``edge_blanks``.

    Raises:
        InputError: A row has no prefix, not two columns, or a tag that is not IOB2.
    """
    sentence: list[Row] = []
    for number, line in enumerate(lines, 1):
        if line.strip(" \t\r"):
            sentence.append(_row(line, language, f"{where}:{number}", counts))
        elif sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _row(line: str, language: str, where: str, counts: Counter[str]) -> Row:
    columns = line.split("\t")
    if len(columns) != 2:
        raise InputError(
            f"{len(columns)} columns in place of 2", where=where, mend="xx:token TAB tag"
        )
    text, tag = columns[0], columns[1].strip(" \r")
    if not _TAG.fullmatch(tag):
        raise InputError(f"tag {tag!r} is not IOB2", where=where, mend="O, B-TYPE or I-TYPE")
    prefix = f"{language}:"
    if text.startswith(prefix):
        text = text[len(prefix) :]
    elif match := _PREFIX.match(text):
        counts["foreign_prefixes"] += 1
        text = text[match.end() :]
    else:
        raise InputError(
            f"{text!r} has no language prefix", where=where, mend=f"rows begin with {prefix}"
        )
    token = text.strip(" \r")
    if token != text:
        counts["edge_blanks"] += 1
    return Row(token, tag)


def drop_empty_tokens(sentence: Sequence[Row], counts: Counter[str]) -> list[Row]:
    """The sentence without rows of empty token; its entities begin and end as before.

    Counts ``empty_tokens``, ``entity_starts_moved`` and, where nothing is left,
    ``dropped_sentences``.
    """
    kept: list[Row] = []
    after_start = False  # dropped rows since the last kept one began an entity or ended one
    before = "O"
    for token, tag in sentence:
        goes_on = tag.startswith("I-") and before[2:] == tag[2:]
        before = tag
        if not token:
            counts["empty_tokens"] += 1
            after_start = after_start or not goes_on
        else:
            if after_start and tag.startswith("I-"):
                counts["entity_starts_moved"] += 1
                tag = f"B-{tag[2:]}"
            kept.append(Row(token, tag))
            after_start = False
    if not kept:
        counts["dropped_sentences"] += 1
    return kept


def split_at_blank_tokens(sentence: Sequence[Row], counts: Counter[str]) -> list[list[Row]]:
    """The parts between tokens that are empty or blank, as the official test file has them.

    Counts ``empty_tokens`` and ``official_boundaries`` (cuts that part two tokens).
    """
    parts: list[list[Row]] = [[]]
    for token, tag in sentence:
        stripped = token.strip()
        if stripped:
            parts[-1].append(Row(stripped, tag))
        else:
            counts["empty_tokens"] += 1
            parts.append([])
    parts = [part for part in parts if part]
    counts["official_boundaries"] += max(len(parts) - 1, 0)
    return parts
