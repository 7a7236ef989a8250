"""The hub's evaluation results: ``.eval_results/*.yaml`` in a model repository.

The format is ``eval_results.yaml`` of huggingface/hub-docs: a list of entries, each with ``dataset`` (``id``,
``task_id``, ``revision``) and ``value``, and optionally ``date``, ``source`` and ``notes``. ``verifyToken`` is for
runs that the hub itself can verify and is never written. The hub shows an entry once the data set's own ``eval.yaml``
lists its ``task_id``. It has one value an entry and no field for seeds: the value is their mean, the notes have the
deviation.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import yaml

from xharness.export.options import ExportOptions
from xharness.export.portable_names import portable_name
from xharness.export.results import ModelResults, Result, TaskResults

FOLDER = ".eval_results"


def eval_results_files(
    models: tuple[ModelResults, ...], options: ExportOptions
) -> tuple[dict[PurePosixPath, str], list[str]]:
    """Return one ``<model>/.eval_results/<suite>_<task>.yaml`` a task, and what has no place in the format.

    Returns:
        Texts by path below the output folder, and results without a data set on the hub, which the format requires.
    """
    files: dict[PurePosixPath, str] = {}
    left_out = []
    for model in models:
        folder = PurePosixPath(portable_name(model.name), FOLDER)
        for task in model.tasks:
            entries = eval_results(task, options)
            if len(entries) < len(task.results):
                left_out.append(f"{model.name} {task.spec.title} (no data set on the hub)")
            if entries:
                text = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=120)
                files[folder / _file_name(task)] = text
    return files, left_out


def eval_results(task: TaskResults, options: ExportOptions) -> list[dict[str, Any]]:
    """Return a task's entries: its mean over languages, then each language, in percent.

    The value is the figure that enters the suite's averages. ``task_id`` is the task's name, with the language
    behind it for a single one.
    """
    return [
        _entry(task, result, options)
        for result in task.results
        if result.dataset.repository is not None
    ]


def _entry(task: TaskResults, result: Result, options: ExportOptions) -> dict[str, Any]:
    name = task.spec.name
    dataset: dict[str, Any] = {
        "id": result.dataset.repository,
        "task_id": name if result.language is None else f"{name}_{result.language}",
    }
    if result.dataset.revision is not None:
        dataset["revision"] = result.dataset.revision
    entry: dict[str, Any] = {"dataset": dataset, "value": result.score.value}
    if options.date is not None:
        entry["date"] = options.date
    if options.source_url is not None:
        entry["source"] = {"url": options.source_url, "name": "xharness"}
    figures = " and ".join(task.record.score_figures)
    figures = figures if len(task.record.score_figures) == 1 else f"mean of {figures}"
    notes = [f"{figures} in percent"]
    if result.language is None:
        notes.append(f"mean over {len(task.spec.languages)} languages")
    if result.score.deviation is not None:
        notes.append(f"standard deviation over seeds {result.score.deviation:.2f}")
    entry["notes"] = "; ".join([*notes, *result.notes])
    return entry


def _file_name(task: TaskResults) -> str:
    parts = [task.record.suite, task.spec.name]
    if task.record.profile != "official":
        parts.append(task.record.profile)
    return portable_name("_".join(parts)) + ".yaml"
