"""Which tasks can be prepared, and the one function that prepares them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from xharness.errors import InputError
from xharness.preparation.bucc2018 import prepare_bucc2018
from xharness.preparation.outputs import OutputFiles, PreparationReport
from xharness.preparation.panx import prepare_panx
from xharness.preparation.pawsx import prepare_pawsx
from xharness.preparation.tatoeba import prepare_tatoeba
from xharness.preparation.tydiqa import prepare_tydiqa
from xharness.preparation.udpos import prepare_udpos
from xharness.preparation.xnli import prepare_xnli

_PREPARERS: dict[str, Callable[[Path, OutputFiles], None]] = {
    "bucc2018": prepare_bucc2018,
    "panx": prepare_panx,
    "pawsx": prepare_pawsx,
    "tatoeba": prepare_tatoeba,
    "tydiqa": prepare_tydiqa,
    "udpos": prepare_udpos,
    "xnli": prepare_xnli,
}

TASKS: tuple[str, ...] = tuple(_PREPARERS)
"""The names that ``prepare`` takes."""


def prepare(
    task: str, raw: Path, output: Path, *, official_boundaries: bool = False
) -> PreparationReport:
    """Make a task's files, labels kept, from its raw sources.

    The files appear under ``output/task`` only when all of them are complete; on an error
    nothing there has changed. Each task's rules are in the docstring of its module.

    Args:
        task: One of ``TASKS``.
        raw: The raw source: a folder (searched at any depth) or a single file.
        output: Where the task's folder is made.
        official_boundaries: ``panx`` only; see ``prepare_panx``.

    Returns:
        The files written, and counters of all that was dropped, repaired or fused.

    Raises:
        InputError: The task is unknown, or the source is missing or broken.
    """
    preparer = _PREPARERS.get(task)
    if preparer is None:
        raise InputError(
            f"task {task!r} has no preparation", where="TASK", mend=f"one of {', '.join(TASKS)}"
        )
    if official_boundaries:
        if task != "panx":
            raise InputError("official boundaries exist for panx only", where=task)
        preparer = partial(prepare_panx, official_boundaries=True)
    with OutputFiles(output / task) as files:
        preparer(raw, files)
        report = files.report(task)
        if not report.files:
            raise InputError("no example is left to write", where=raw, mend="check --from")
    return report
