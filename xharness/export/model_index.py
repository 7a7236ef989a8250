"""The ``model-index`` of a Hugging Face model card: results in the YAML front matter of its README.md.

The format is described in ``modelcard.md`` of huggingface/hub-docs and read by ``huggingface_hub.ModelCard``. It has
no field for notes and none for several seeds: they go into each metric's ``args``, and into the card's text.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import yaml

from xharness.export.options import ExportOptions
from xharness.export.portable_names import portable_name
from xharness.export.results import ModelResults, Result, TaskResults
from xharness.leaderboards.rendering.markdown import escaped
from xharness.specs.task import Kind, TaskSpec

#: The hub's task types (its pipeline tags).
_TASK_TYPES: dict[Kind, tuple[str, str]] = {
    "pair_classification": ("text-classification", "Text Classification"),
    "multiple_choice": ("multiple-choice", "Multiple Choice"),
    "tagging": ("token-classification", "Token Classification"),
    "question_answering": ("question-answering", "Question Answering"),
    "retrieval": ("sentence-similarity", "Sentence Similarity"),
}

_METRIC_NAMES = {
    "accuracy": "Accuracy",
    "f1": "F1",
    "precision": "Precision",
    "recall": "Recall",
    "exact_match": "Exact match",
    "map@20": "MAP@20",
}


def model_card_files(
    models: tuple[ModelResults, ...], options: ExportOptions
) -> dict[PurePosixPath, str]:
    """Return one ``<model>/README.md`` for each model with a figure, by path below the output folder."""
    return {
        PurePosixPath(portable_name(model.name), "README.md"): model_card(model, options)
        for model in models
        if any(task.results for task in model.tasks)
    }


def model_card(model: ModelResults, options: ExportOptions) -> str:
    """Return a model card: the front matter with the results, and their notes as text."""
    front = {"model-index": model_index(model, options)}
    front_matter = yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=120)
    return f"---\n{front_matter}---\n\n{_text(model)}"


def model_index(model: ModelResults, options: ExportOptions) -> list[dict[str, Any]]:
    """Return the content of ``model-index``; all values are percentages."""
    results = [_entry(task, result, options) for task in model.tasks for result in task.results]
    return [{"name": model.name, "results": results}]


def _entry(task: TaskResults, result: Result, options: ExportOptions) -> dict[str, Any]:
    kind, kind_name = _TASK_TYPES[task.spec.kind]
    if task.spec.method == "ranking":
        kind, kind_name = "text-ranking", "Text Ranking"
    part = result.dataset
    dataset: dict[str, Any] = {
        "name": f"{task.spec.title} ({_scope(task.spec, result)})",
        # The type is required; a data set that is not on the hub has its own name there.
        "type": part.repository or task.spec.name,
    }
    for key, value in (
        ("config", part.config),
        ("split", part.split),
        ("revision", part.revision),
        ("args", part.rows),
    ):
        if value:
            dataset[key] = value
    entry: dict[str, Any] = {
        "task": {"type": kind, "name": kind_name},
        "dataset": dataset,
        "metrics": [_metric(task, result, figure) for figure in result.figures],
    }
    if options.source_url is not None:
        entry["source"] = {"name": "xharness", "url": options.source_url}
    return entry


def _metric(task: TaskResults, result: Result, figure: str) -> dict[str, Any]:
    cell = result.figures[figure]
    args: dict[str, Any] = {
        "unit": "percent",
        "suite": task.record.suite,
        "task": task.spec.name,
        "language": result.language or "mean over languages",
        "profile": task.record.profile,
    }
    if task.seeds:
        args["seeds"] = list(task.seeds)
    if cell.deviation is not None:
        args["standard_deviation"] = cell.deviation
    args["notes"] = list(result.notes)
    profile = "" if task.record.profile == "official" else f", profile {task.record.profile}"
    # The hub merges results of one configuration and drops their data set names, so the metric's name tells all.
    name = f"{_METRIC_NAMES.get(figure, figure)}, {task.spec.title} ({_scope(task.spec, result)}){profile}"
    return {
        "type": figure.replace("@", "_at_"),
        "value": cell.value,
        "name": name,
        "args": args,
    }


def _scope(spec: TaskSpec, result: Result) -> str:
    return result.language or f"mean over {len(spec.languages)} languages"


def _text(model: ModelResults) -> str:
    lines = [
        "## Evaluation results",
        "",
        "Measured with xharness; the figures in this card's metadata are percentages.",
        "",
    ]
    for task in model.tasks:
        notes = dict.fromkeys(note for result in task.results for note in result.notes)
        title = f"{task.spec.title} ({task.record.suite})"
        if notes:
            lines.append(f"- {escaped(title)}: {escaped('; '.join(notes))}")
        lines += [f"- no figure: {escaped(hole)}" for hole in task.holes]
    return "\n".join(lines) + "\n"
