"""The page of reproductions: each claim of the papers that was tried, with our figures and the commands."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tabulate import tabulate

from xharness.analysis.statements import Statement, agreed, without_seed
from xharness.errors import InputError
from xharness.leaderboards.rendering.markdown import escaped

#: What a verdict says of the direction.
_DIRECTION: Final = {
    "seen": "the same",
    "the reverse is seen": "the opposite",
    "not told apart": "not told apart",
    "cannot be tried": "not tried",
}


@dataclass(frozen=True)
class Study:
    """Where the statements of one study are, and how it is run.

    Attributes:
        title: What was studied, with the paper.
        statements: Pattern of the JSON files below ``leaderboards/``: a list of statements, or a mapping with one.
        command: Runs it here.
        full_scale: Runs it at the paper's size.
        page: The study's own page below ``leaderboards/``.
    """

    title: str
    statements: str
    command: str
    full_scale: str
    page: str = ""


STUDIES: Final = (
    Study(
        "Embedding coupling (RemBERT, arXiv 2010.12821)",
        "coupling_study/statements.json",
        "python scripts/reproduce_coupling.py --text TEXTS --data XTREME",
        "torchrun --nproc-per-node 8 -m xharness pretrain task_specs/pretraining/rembert/NAME.yaml --text TEXTS "
        "--output runs/NAME; xharness run --suite xtreme-seven --model runs/NAME/model --recipe rembert "
        "--output runs/NAME-xtreme",
        "coupling_study.md",
    ),
    Study(
        "Looking into encoders (RemBERT, section 6)",
        "analysis/*/*.json",
        "python scripts/reproduce_analyses.py --set NAME --data XTREME --words WORDS --treebanks TREEBANKS MODEL...",
        "the same command with the encoders of task_specs/pretraining/rembert",
        "analysis/README.md",
    ),
    Study(
        "Weight tying in language models (Press and Wolf, arXiv 1608.05859)",
        "tying_study/statements.json",
        "python scripts/reproduce_tying.py --data TEXTS --words WORDS",
        "the same command on the Penn Treebank, with the paper's sizes in "
        "`task_specs/language_modelling/tying/base.yaml` (width 200, 10,000 words, 13 epochs)",
        "tying_study.md",
    ),
    Study(
        "DeFINE in language models (arXiv 1911.12385)",
        "define_study/statements.json",
        "python scripts/reproduce_define.py --data TEXTS",
        "the same command on WikiText-103, with the paper's sizes in `task_specs/language_modelling/define/base.yaml`",
        "define_study.md",
    ),
    Study(
        "Three-way tying and DeFINE in translation (arXiv 1608.05859, 1911.12385)",
        "translation_study/statements.json",
        "python scripts/reproduce_translation.py --data PARALLEL",
        "the same command on WMT data, with the papers' sizes in `task_specs/translation/base.yaml`",
        "translation_study.md",
    ),
)


def reproductions_page(root: Path, studies: Sequence[Study] = STUDIES) -> str:
    """Return the page of all statements that lie below a leaderboard folder.

    Args:
        root: The folder.
        studies: Where to look.

    Raises:
        InputError: A file of statements is damaged.
    """
    parts = [
        "# Reproductions",
        "Claims of the three papers that can be tried here: the claim with its numbers, our figures, and whether they "
        "point the same way. Encoders, language models and translation models here are hundreds of times smaller than "
        "the papers', so a claim that does not show here may well hold at its own size.",
    ]
    for study in studies:
        claims: dict[str, list[Statement]] = {}
        for paths in by_seed(root.glob(study.statements)):
            for one in agreed({path.parent.name: read_statements(path) for path in paths}):
                claims.setdefault(one.text, []).append(one)
        rows = [_row(text, tried) for text, tried in claims.items()]
        if not rows:
            rows = [["none yet", "", ""]]
        table = tabulate(rows, ["claim", "here", "direction"], "pipe", disable_numparse=True)
        parts += [
            f"## {study.title}",
            table,
            *(
                [f"All figures: [{study.page}]({study.page})"]
                if (root / study.page).is_file()
                else []
            ),
            f"Here: `{study.command}`",
            f"At full scale: {study.full_scale}"
            if "`" in study.full_scale
            else f"At full scale: `{study.full_scale}`",
        ]
    return "\n\n".join(parts) + "\n"


def _row(text: str, tried: Sequence[Statement]) -> list[str]:
    """Return a claim's row; one that was tried on several encoders counts them and names them."""
    judged = [one for one in tried if one.verdict != "cannot be tried"] or tried[:1]
    if len(judged) == 1:
        (one,) = judged
        about = f"{one.subject}: " if one.subject and len(tried) > 1 else ""
        return [escaped(text), escaped(about + one.figures), _DIRECTION[one.verdict]]
    groups: dict[str, list[str]] = {}
    for one in judged:
        groups.setdefault(_DIRECTION[one.verdict], []).append(one.subject or one.figures)
    here = "; ".join(f"{direction}: {', '.join(names)}" for direction, names in groups.items())
    often = ", ".join(f"{direction} in {len(names)}" for direction, names in groups.items())
    direction = next(iter(groups)) if len(groups) == 1 else often
    return [escaped(text), escaped(here), direction]


def by_seed(paths: Iterable[Path]) -> list[list[Path]]:
    """Group the result files of runs that differ in their seed alone: of one name, in folders ``RUN-seed-N``."""
    groups: dict[tuple[str, str], list[Path]] = {}
    for path in sorted(paths):
        key = (without_seed(path.parent.name), without_seed(path.name))
        groups.setdefault(key, []).append(path)
    return list(groups.values())


def read_statements(path: Path) -> list[Statement]:
    """Read the statements of a JSON file: a list of them, or the list ``statements`` of an analysis.

    Raises:
        InputError: The file is damaged.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        listed = found["statements"] if isinstance(found, dict) and "statements" in found else found
        if isinstance(found, dict) and listed is found:
            return []
        statements = [Statement(**one) for one in listed]
        if any(one.verdict not in _DIRECTION for one in statements):
            raise ValueError("an unknown verdict")
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError("holds no statements", where=path, mend="run its study again") from error
    return statements
