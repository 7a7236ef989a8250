"""Running the seqeval library beside our own span counts, on the same files."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from xharness.errors import InputError
from xharness.scoring.folder import file_name, find_file
from xharness.scoring.lines import decode, read_bytes
from xharness.scoring.scores import check_profile, score_task
from xharness.scoring.spans import is_iob2
from xharness.scoring.tagging import SCHEMES
from xharness.specs.registry import Benchmark

#: The release whose behaviour the ``official`` profile re-implements.
SEQEVAL = "1.2.2"

#: Largest difference in percent that is rounding.
TOLERANCE = 1e-9


def check_with_seqeval(
    predictions: Path, labels: Path, benchmark: Benchmark, profile: str = "official"
) -> int:
    """Compare our figures of every tagging task with the seqeval library's.

    Under ``official`` the library's default mode is compared, under ``strict`` its IOB2 scheme for NER (tags outside of
    IOB2, at which it stops, are given to it as ``O``, which is how we read them) and token accuracy for POS.

    Args:
        predictions: Predictions folder, as for ``score_submission``.
        labels: Gold folder.
        benchmark: Which tasks.
        profile: ``official`` or ``strict``.

    Returns:
        How many figures were compared; all agree.

    Raises:
        InputError: A figure differs, the library is absent or of another release, or the profile cannot be checked.
    """
    check_profile(profile)
    if profile == "official-2020":
        raise InputError(
            f"seqeval {SEQEVAL} cannot check the profile official-2020, which is seqeval 0.0.12",
            where="--check",
            mend="check --profile official, or leave --check out",
        )
    from importlib.metadata import PackageNotFoundError, version  # slow to import, needed here only

    try:
        installed = version("seqeval")
    except PackageNotFoundError:
        installed = "none"
    if installed != SEQEVAL:
        raise InputError(
            f"the check needs seqeval {SEQEVAL}, installed is {installed}",
            where="--check",
            mend=f"pip install seqeval=={SEQEVAL}",
        )
    compared = 0
    for task in benchmark.tasks:
        if task.metric != "pos_f1" and task.metric != "entity_f1":
            continue
        scores = score_task(task, predictions, labels, profile)
        strict = SCHEMES[task.metric][profile] == "iob2"
        for language, score in scores.languages.items():
            if score.status != "scored":
                continue
            name = file_name(task, language)
            answers, gold = find_file(predictions, name), find_file(labels, name)
            assert answers is not None
            assert gold is not None
            theirs = _library_figures(_sentences(gold), _sentences(answers), strict=strict)
            if profile == "strict" and not strict:
                theirs = {"accuracy": theirs["accuracy"]}
            for figure, value in theirs.items():
                if figure not in score.figures:
                    continue
                compared += 1
                if abs(score.figures[figure] - value) > TOLERANCE:
                    raise InputError(
                        f"{figure} is {score.figures[figure]!r} here but {value!r} by seqeval {SEQEVAL}",
                        where=answers,
                        mend="please report this file as a fault of xharness",
                    )
    return compared


def _sentences(path: Path) -> list[list[str]]:
    """Read a tag file as the official script does; trailing blank lines are no sentences."""
    text = decode(read_bytes(path)[0], path).rstrip()
    sentences: list[list[str]] = [[]]
    for line in text.split("\n"):
        tag = line.strip()
        if tag:
            sentences[-1].append(tag)
        else:
            sentences.append([])
    return sentences


def _library_figures(
    gold: list[list[str]], predicted: list[list[str]], *, strict: bool
) -> dict[str, float]:
    """Return seqeval's figures in percent."""
    from seqeval.metrics import accuracy_score, f1_score, precision_score, recall_score
    from seqeval.scheme import IOB2

    options: dict[str, Any] = {}
    if strict:
        options = {"mode": "strict", "scheme": IOB2}
        gold, predicted = (
            [[tag if is_iob2(tag) else "O" for tag in sentence] for sentence in sentences]
            for sentences in (gold, predicted)
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # undefined ratios, tags without a prefix
        figures = {
            "f1": f1_score(gold, predicted, **options),
            "precision": precision_score(gold, predicted, **options),
            "recall": recall_score(gold, predicted, **options),
            "accuracy": accuracy_score(gold, predicted),
        }
    return {name: 100 * float(value) for name, value in figures.items()}
