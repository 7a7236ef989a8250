"""Every Eval Ever, schema 0.3.0: one JSON file for each model and suite.

The format is described by evaleval/every_eval_ever. What its documents ask beyond the schema is kept too: the file's
name is a version 4 UUID below ``data/<collection>/<developer>/<model>/``, scores of global metrics are proportions
within their bounds, the evaluation's id does not change when it is exported again, and details are strings.
"""

from __future__ import annotations

import hashlib
import json
import math
import uuid
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from xharness.export.datasets import DatasetPart
from xharness.export.options import ExportOptions
from xharness.export.portable_names import portable_name
from xharness.export.results import ModelResults, Result, TaskResults
from xharness.leaderboards.cells import Cell
from xharness.records.record import Record

SCHEMA_VERSION = "0.3.0"
UNKNOWN_DEVELOPER = "unspecified"


def every_eval_ever_files(
    models: tuple[ModelResults, ...], options: ExportOptions, now: float
) -> tuple[dict[PurePosixPath, str], list[str]]:
    """Return one file for each model, suite and profile, and the models whose developer is not known.

    Args:
        models: What to export.
        options: What the records do not know.
        now: Seconds since 1970, for the time of the export where the options name no date.

    Returns:
        Texts by path below the output folder, and remarks for the user.
    """
    files: dict[PurePosixPath, str] = {}
    remarks = []
    for model in models:
        developer, name = _identity(model, options)
        if developer == UNKNOWN_DEVELOPER:
            remarks.append(f"{model.name}: developer not known, give --developer")
        groups: dict[tuple[str, str], list[TaskResults]] = {}
        for task in model.tasks:
            if task.results:
                groups.setdefault((task.record.suite, task.record.profile), []).append(task)
        for (suite, _), tasks in groups.items():
            parts = (portable_name(part) for part in (suite, developer, name))
            path = PurePosixPath("data", *parts, f"{_identifier(tasks)}.json")
            log = evaluation_log(model, tasks, options, now)
            files[path] = json.dumps(log, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return files, remarks


def evaluation_log(
    model: ModelResults, tasks: Sequence[TaskResults], options: ExportOptions, now: float
) -> dict[str, Any]:
    """Return the log of one model on tasks of one suite under one profile."""
    records = [record for task in tasks for record in task.records]
    developer, name = _identity(model, options)
    created = now if options.timestamp is None else options.timestamp
    log: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{tasks[0].record.suite}/{developer}/{name}/{_identifier(tasks)}",
        "retrieved_timestamp": f"{created:.0f}",
    }
    if options.date is not None:
        log["evaluation_timestamp"] = options.date
    source: dict[str, Any] = {
        "source_name": "xharness",
        "source_type": "evaluation_run",
        "source_organization_name": options.organization or "unspecified",
        "evaluator_relationship": options.relationship,
    }
    if options.source_url is not None:
        source["additional_details"] = {"records": options.source_url}
    return {
        **log,
        "source_metadata": source,
        "eval_library": _library(records),
        "model_info": _model_info(model, developer, name, records),
        "evaluation_results": [
            _result(task, result, figure)
            for task in tasks
            for result in task.results
            for figure in result.figures
        ],
    }


def _identifier(tasks: Sequence[TaskResults]) -> str:
    """Return a UUID that the records decide; the format takes names of version 4 only."""
    digests = sorted(record.digest() for task in tasks for record in task.records)
    digest = hashlib.sha256("".join(digests).encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


def _identity(model: ModelResults, options: ExportOptions) -> tuple[str, str]:
    """Return developer and name: those of the hub id, where the model came from the hub."""
    reference = str(model.info.get("reference", ""))
    owner, slash, name = reference.partition("/")
    if model.info.get("revision") and slash and "/" not in name:
        return owner, name
    return options.developer or UNKNOWN_DEVELOPER, model.name


def _library(records: Sequence[Record]) -> dict[str, Any]:
    versions: dict[str, dict[str, None]] = {}
    for record in records:
        for key, value in record.environment.items():
            versions.setdefault(key, {})[str(value)] = None
    joined = {key: ", ".join(values) for key, values in sorted(versions.items())}
    library: dict[str, Any] = {"name": "xharness", "version": joined.pop("xharness", "unknown")}
    if joined:
        library["additional_details"] = joined
    return library


def _model_info(
    model: ModelResults, developer: str, name: str, records: Sequence[Record]
) -> dict[str, Any]:
    from_hub = bool(model.info.get("revision"))
    details = {
        "deployment_type": "self_deployed",
        "model_availability": "open_weights" if from_hub else "unknown",
    }
    for key in ("architecture", "parameters", "layers", "weights_sha256", "revision"):
        if model.info.get(key) is not None:
            details[key] = str(model.info[key])
    info: dict[str, Any] = {"name": model.name, "id": f"{developer}/{name}"}
    if developer != UNKNOWN_DEVELOPER:
        info["developer"] = developer
    adapter = str(model.info.get("adapter", "xharness"))
    versions = dict.fromkeys(str(record.environment.get(adapter, "")) for record in records)
    engine = {"name": adapter}
    if "" not in versions:
        engine["version"] = ", ".join(versions)
    return {**info, "inference_engine": engine, "additional_details": details}


def _result(task: TaskResults, result: Result, figure: str) -> dict[str, Any]:
    name = f"{task.record.suite}.{task.spec.name}"
    if result.language is not None:
        name += f".{result.language}"
    cell = result.figures[figure]
    assert cell.value is not None
    details = {
        "level": "language" if result.language else "mean over languages",
        "percent": repr(cell.value),
        "notes": "; ".join(result.notes),
    }
    if result.language is not None:
        details["language"] = result.language
        counts = [record.languages[result.language].counts for record in task.records]
        for key in dict.fromkeys(key for seed in counts for key in seed):
            # One number where the seeds agree, else one a seed.
            values = [str(seed.get(key, 0)) for seed in counts]
            details[f"count_{key}"] = ", ".join(values if len(set(values)) > 1 else values[:1])
    score: dict[str, Any] = {"score": cell.value / 100, "details": details}
    if cell.deviation is not None:
        score["uncertainty"] = _uncertainty(cell)
    return {
        "evaluation_result_id": f"{name}.{figure}",
        "evaluation_name": name,
        "source_data": _source_data(task, result),
        "metric_config": _metric(task, result, figure),
        "score_details": score,
        "generation_config": _generation(task),
    }


def _uncertainty(cell: Cell) -> dict[str, Any]:
    """Return the spread over seeds, each of which is one sample here, as a proportion."""
    assert cell.deviation is not None
    deviation = cell.deviation / 100
    return {
        "standard_error": {
            "value": deviation / math.sqrt(cell.seeds),
            "method": "sample standard deviation over fine-tuning seeds / sqrt(number of seeds)",
        },
        "standard_deviation": deviation,
        "num_samples": cell.seeds,
    }


def _metric(task: TaskResults, result: Result, figure: str) -> dict[str, Any]:
    metric = task.spec.metric
    kind = {"exact_match": "exact-match", "map@20": "map_at_20"}.get(figure, figure)
    # XTREME's POS figure counts runs of equal tags; no other benchmark's F1 means that.
    own = metric == "pos_f1" and figure != "accuracy"
    scope = f"in {result.language}" if result.language else "mean over languages"
    return {
        "evaluation_description": f"{task.spec.title}, {figure} {scope}",
        "metric_id": f"xtreme.pos_{kind}" if own else kind,
        "metric_name": figure,
        "metric_kind": kind,
        "metric_unit": "proportion",
        "metric_parameters": {"scorer": metric, "profile": task.record.profile},
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": 0.0,
        "max_score": 1.0,
    }


def _source_data(task: TaskResults, result: Result) -> dict[str, Any]:
    """Return the data set: the hub's where its rows were read, else the files with their digests."""
    part: DatasetPart = result.dataset
    record = task.record
    details = {"citation": task.spec.citation, "licence": task.spec.licence}
    declared = {"config": part.config, "revision": part.revision, **part.rows}
    details |= {key: value for key, value in declared.items() if value is not None}
    if part.from_hub and part.repository is not None:
        data: dict[str, Any] = {
            "dataset_name": task.spec.title,
            "source_type": "hf_dataset",
            "hf_repo": part.repository,
        }
        if part.split is not None:
            data["hf_split"] = part.split
        examples = record.data.examples.get(result.language or "")
        if examples is not None:
            data["samples_number"] = examples
        return {**data, "additional_details": details}
    if part.repository is not None:
        details["same_data_on_the_hub"] = part.repository
    if part.split is not None:
        details["split"] = part.split
    if result.language is not None:
        origin = record.data.test.get(result.language, {})
        details |= {f"sha256:{path}": digest for path, digest in origin.items() if path != "note"}
    return {
        "dataset_name": task.spec.title,
        "source_type": "other",
        "additional_details": details,
    }


def _generation(task: TaskResults) -> dict[str, Any]:
    protocol = task.record.protocol
    details = {
        "recipe": protocol.recipe,
        "settings": json.dumps(protocol.settings, sort_keys=True),
        "fine_tuned": "yes" if protocol.finetuned else "no",
        "protocol": task.record.setting,
    }
    if protocol.training_set is not None:
        details["training_set"] = protocol.training_set
    if task.record.data.train_examples is not None:
        details["training_examples"] = str(task.record.data.train_examples)
    if task.seeds:
        details["seeds"] = ", ".join(map(str, task.seeds))
    commands = dict.fromkeys(record.command for record in task.records)
    return {
        "generation_args": {"execution_command": " && ".join(commands)},
        "additional_details": details,
    }
