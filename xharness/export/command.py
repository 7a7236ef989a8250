"""The ``export`` verb: from record files to the files of an exchange format."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from xharness.errors import InputError
from xharness.export.eval_results import eval_results_files
from xharness.export.every_eval_ever import every_eval_ever_files
from xharness.export.model_index import model_card_files
from xharness.export.options import ExportOptions
from xharness.export.portable_names import portable_name
from xharness.export.results import ModelResults, collect
from xharness.files import write_text
from xharness.records.store import read_records

FORMATS = ("model-index", "eval-results", "every-eval-ever")


@dataclass(frozen=True)
class ExportReport:
    """What an export wrote and what it did not.

    Attributes:
        files: Files written.
        holes: Figures that are missing in the records.
        remarks: What else the user must know.
    """

    files: tuple[Path, ...]
    holes: tuple[str, ...]
    remarks: tuple[str, ...]

    def warnings(self) -> list[str]:
        """Return what belongs on stderr."""
        lines = [f"hole, not exported: {hole}" for hole in self.holes]
        if self.holes:
            number = len(self.holes)
            lines.append(f"{number} {'hole' if number == 1 else 'holes'} not exported")
        return [*lines, *self.remarks]


def export_records(
    paths: Sequence[Path], to: str, output: Path, options: ExportOptions
) -> ExportReport:
    """Write records in an exchange format; nothing is written where anything is wrong.

    Args:
        paths: Record files, ``records`` folders and run folders.
        to: One of ``FORMATS``.
        output: Folder of the files.
        options: What the records do not know.

    Raises:
        InputError: An unknown format, no usable record, records that cannot stand together, or nothing to export.
    """
    if to not in FORMATS:
        near = get_close_matches(to, FORMATS, n=1)
        raise InputError(
            f"unknown format {to!r}",
            where="--to",
            mend=f"did you mean {near[0]!r}?" if near else f"one of {', '.join(FORMATS)}",
        )
    models = collect(read_records(paths), options.dataset)
    _check_folders(models)
    remarks: list[str] = []
    texts: dict[PurePosixPath, str]
    if to == "model-index":
        texts = model_card_files(models, options)
    elif to == "eval-results":
        texts, left_out = eval_results_files(models, options)
        remarks = [f"not exported: {name}" for name in left_out]
    else:
        texts, remarks = every_eval_ever_files(models, options, time.time())
    holes = [
        f"{model.name} {hole}" for model in models for task in model.tasks for hole in task.holes
    ]
    if not texts:
        why = [*(f"hole: {hole}" for hole in holes), *remarks]
        more = f" (and {len(why) - 1} more)" if len(why) > 1 else ""
        raise InputError(
            f"no figure that {to} can hold: {why[0]}{more}",
            where=", ".join(map(str, paths)),
            mend=None if holes else "name the data set with --dataset OWNER/NAME",
        )
    for name, text in texts.items():
        write_text(output / name, text)
    return ExportReport(tuple(output / name for name in texts), tuple(holes), tuple(remarks))


def _check_folders(models: Sequence[ModelResults]) -> None:
    """Make sure that no two models share a folder, also where letters' case makes no difference."""
    folders = Counter(portable_name(model.name).casefold() for model in models)
    for model in models:
        if folders[portable_name(model.name).casefold()] > 1:
            raise InputError(
                f"the folder of {model.name!r} would be another model's too",
                mend="export them apart, or run them with --name",
            )
