"""Tatoeba: LASER's aligned line pairs, checked, under the names they come with.

XTREME's own preparation renames the pair and sorts the English side, so that line order does not
give the answers away, and keeps no gold. Here both sides stay aligned: the gold answer of line n
is line n. Only the languages of XTREME and XTREME-R are taken.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from xharness.errors import InputError
from xharness.preparation.outputs import OutputFiles
from xharness.preparation.sources import find_files, read_lines, unique_names

LANGUAGES: dict[str, str] = {
    **{"afr": "af", "ara": "ar", "aze": "az", "ben": "bn", "bul": "bg", "cmn": "zh", "deu": "de"},
    **{"ell": "el", "est": "et", "eus": "eu", "fin": "fi", "fra": "fr", "heb": "he", "hin": "hi"},
    **{"hun": "hu", "ind": "id", "ita": "it", "jav": "jv", "jpn": "ja", "kat": "ka", "kaz": "kk"},
    **{"kor": "ko", "lit": "lt", "mal": "ml", "mar": "mr", "nld": "nl", "pes": "fa", "pol": "pl"},
    **{"por": "pt", "ron": "ro", "rus": "ru", "spa": "es", "swh": "sw", "tam": "ta", "tel": "te"},
    **{"tgl": "tl", "tha": "th", "tur": "tr", "ukr": "uk", "urd": "ur", "vie": "vi"},
}
"""LASER's three-letter codes of the languages, with XTREME's two-letter ones."""

_NAME = re.compile(r"tatoeba\.([a-z]{3})-eng\.([a-z]{3})")


def prepare_tatoeba(raw: Path, files: OutputFiles) -> None:
    """Write ``tatoeba.{code}-eng.{code}`` and ``tatoeba.{code}-eng.eng`` for every language.

    Blank lines at the end of a file and blanks at the edges of a sentence are removed
    (``trailing_blank_lines``, ``edge_blanks``).

    Args:
        raw: Holds LASER's files, at any depth.
        files: Where the files go.

    Raises:
        InputError: No pair is there, a side is absent, the sides differ in length, or a line
            inside a file is blank.
    """
    paths = unique_names(find_files(raw, lambda path: bool(_NAME.fullmatch(path.name))))
    sides = {path.name: path for path in paths}
    codes = {match[1] for name in sides if (match := _NAME.fullmatch(name))}
    others = sorted(codes - set(LANGUAGES))
    files.ignored += [f"tatoeba.{code}-eng: no language of the task" for code in others]
    codes &= set(LANGUAGES)
    if not codes:
        raise InputError("no Tatoeba pair", where=raw, mend="expected tatoeba.deu-eng.deu")
    for code in sorted(codes):
        lengths = {}
        for side in (code, "eng"):
            name = f"tatoeba.{code}-eng.{side}"
            if name not in sides:
                raise InputError(f"{name} is absent", where=raw, mend="both sides are needed")
            counts: Counter[str] = Counter()
            lines = _sentences(sides[name], counts)
            lengths[name] = files.add(name, lines, counts)
        if len(set(lengths.values())) != 1:
            found = ", ".join(f"{name} has {length} lines" for name, length in lengths.items())
            raise InputError(found, where=raw, mend="the sides are aligned line by line")


def _sentences(path: Path, counts: Counter[str]) -> list[str]:
    """The file's lines, each with its line end."""
    lines = read_lines(path, counts)
    while lines and not lines[-1].strip():
        counts["trailing_blank_lines"] += 1
        lines.pop()
    sentences = []
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if not stripped:
            raise InputError("blank line", where=f"{path}:{number}", mend="put the sentence back")
        counts["edge_blanks"] += stripped != line
        sentences.append(f"{stripped}\n")
    return sentences
