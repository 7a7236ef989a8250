"""BUCC 2018: sentence files with ids, and gold pairs.

XTREME's test is BUCC's training set and its dev is BUCC's sample set (BUCC's own test gold was
never published). The official download deletes the gold of test; here it is kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from xharness.errors import InputError
from xharness.preparation.archives import archive_stem, read_members
from xharness.preparation.outputs import OutputFiles
from xharness.preparation.sources import decode, find_files, read_bytes, split_lines

SPLITS = {"training": "test", "sample": "dev"}
_NAME = re.compile(r"([a-z]{2})-en\.(training|sample)\.([a-z]{2}|gold)")


def prepare_bucc2018(raw: Path, files: OutputFiles) -> None:
    """Write ``{language}-en.{split}.{language}``, ``….en`` and ``….gold``.

    Sentence files hold ``id TAB sentence``, gold files ``id TAB id``, the English one second.
    Sentences stay as they are, edge blanks included. Lines that are blank are dropped
    (``blank_lines``); blanks around the ids of a gold pair go (``edge_blanks``).

    Args:
        raw: Holds ``{language}-en.{training,sample}.{language,en,gold}`` at any depth, as files or
            in ``bucc2018-*.tar.bz2`` archives.
        files: Where the files go.

    Raises:
        InputError: Nothing is found, a part is absent or occurs twice, a line has no id, an id
            repeats, or a gold pair names an unknown id.
    """
    parts = _parts(raw)
    if not parts:
        raise InputError("no BUCC file", where=raw, mend="expected zh-en.training.zh")
    for language, part in sorted({key[:2] for key in parts}):
        known: dict[str, set[str]] = {}
        for side in (language, "en", "gold"):
            name = f"{language}-en.{part}.{side}"
            if (language, part, side) not in parts:
                raise InputError(f"{name} is absent", where=raw, mend="all three files are needed")
            where, data = parts[language, part, side]
            counts: Counter[str] = Counter()
            rows = list(_rows(data, where, counts))
            if side == "gold":
                rows = [(number, _strip_ids(pair, counts)) for number, pair in rows]
                _check_gold(rows, known[language], known["en"], where)
            else:
                known[side] = _unique_ids(rows, where)
            lines = ["\t".join(cells) + "\n" for _, cells in rows]
            files.add(f"{language}-en.{SPLITS[part]}.{side}", lines, counts)


def _parts(raw: Path) -> dict[tuple[str, str, str], tuple[str, bytes]]:
    """The raw files by language, BUCC's set and side, each with its name for errors."""
    parts: dict[tuple[str, str, str], tuple[str, bytes]] = {}

    def take(name: str, where: str, data: bytes) -> None:
        match = _NAME.fullmatch(name)
        if match and match[3] in (match[1], "en", "gold"):
            key = match[1], match[2], match[3]
            if key in parts:
                raise InputError(
                    f"a second copy, after {parts[key][0]}", where=where, mend="leave one of them"
                )
            parts[key] = where, data

    def wanted(name: PurePosixPath) -> bool:
        return bool(_NAME.fullmatch(name.name))

    for path in find_files(raw, lambda path: True):
        stem = archive_stem(path)
        if stem is not None and stem.startswith("bucc2018-"):
            for name, data in read_members(path, wanted).items():
                take(name.name, f"{path}/{name}", data)
        elif _NAME.fullmatch(path.name):
            take(path.name, str(path), read_bytes(path))
    return parts


def _rows(data: bytes, where: str, counts: Counter[str]) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(split_lines(decode(data, where, counts), counts), 1):
        if not line.strip():
            counts["blank_lines"] += 1
            continue
        cells = line.split("\t")
        if len(cells) != 2 or not cells[0].strip():
            raise InputError(
                "not an id, a tab and a text", where=f"{where}:{number}", mend="id TAB sentence"
            )
        yield number, cells


def _strip_ids(pair: list[str], counts: Counter[str]) -> list[str]:
    """A gold pair without blanks around its ids, which would match no prediction."""
    stripped = [identifier.strip() for identifier in pair]
    counts["edge_blanks"] += stripped != pair
    return stripped


def _unique_ids(rows: list[tuple[int, list[str]]], where: str) -> set[str]:
    seen: set[str] = set()
    for number, (identifier, _) in rows:
        if identifier in seen:
            raise InputError(f"id {identifier} repeats", where=f"{where}:{number}")
        seen.add(identifier)
    return seen


def _check_gold(
    rows: list[tuple[int, list[str]]], sources: set[str], targets: set[str], where: str
) -> None:
    for number, (source, target) in rows:
        for identifier, known in ((source, sources), (target, targets)):
            if identifier not in known:
                raise InputError(
                    f"gold id {identifier} is no sentence",
                    where=f"{where}:{number}",
                    mend="gold pairs name the other language first, English second",
                )
