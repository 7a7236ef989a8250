"""From a task's prediction files and receipts to its record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from xharness.data.training_sets import merged_origins
from xharness.records.provenance import software
from xharness.records.record import Data, LanguageResult, Protocol, Record
from xharness.runs.plan import Plan, TaskPlan, spec_digest
from xharness.runs.receipts import Receipt
from xharness.scoring.scores import TaskScores, score_task


def make_record(
    plan: Plan,
    part: TaskPlan,
    seed: int,
    trainings: Mapping[str, Receipt],
    found: Mapping[str, Receipt],
    predictions: Path,
    gold: Path,
    device: dict[str, str | int],
) -> Record:
    """Score a task's prediction files.

    Args:
        plan: The run's plan.
        part: The task's part of it.
        seed: The seed.
        trainings: Receipts of the fine-tunings that the predictions rest on, by training key.
        found: Receipt of each predicted language; none where its fine-tuning came to nothing.
        predictions: Folder with the task's predictions.
        gold: Folder with the gold files.
        device: This process's device, for receipts that do not name the one they were made on.
    """
    options, task = plan.options, part.task
    scores = score_task(task, predictions, gold, options.profile)
    receipts = [*trainings.values(), *found.values()]
    timings = {
        "predict_seconds": sum(receipt.seconds for receipt in found.values()),
        "peak_mib": max((receipt.peak_mib for receipt in receipts), default=0.0),
    }
    training: dict[str, Any] = {}
    if trainings:
        training = _training_of_each(part, trainings) if part.parts else _training(part, trainings)
        timings["finetune_seconds"] = sum(receipt.seconds for receipt in trainings.values())
    return Record(
        suite=plan.benchmark.name,
        task=task.name,
        task_title=task.title,
        spec=task.model_dump(mode="json", exclude_defaults=True),
        spec_sha256=spec_digest(task),
        model=asdict(plan.model),
        seed=seed,
        profile=options.profile,
        languages=_language_results(part, scores, found),
        averages=scores.averages,
        score_figures=task.score_figures(options.profile),
        score=scores.score,
        protocol=Protocol(
            recipe=options.recipe.name,
            settings=part.settings.model_dump(mode="json"),
            setting=None if task.protocol.kind == "zero_shot" else task.protocol.setting,
            finetuned=part.finetuned,
            training_set=task.training,
            training=training.get("report"),
            # A corpus to mine is never cut.
            limit=None if task.method == "mining" else options.limit,
            limit_train=options.limit_train if part.finetuned else None,
        ),
        data=Data(
            source=plan.source,
            train=training.get("train_origin", {}),
            dev=training.get("dev_origin", {}),
            test={language: receipt.result["origin"] for language, receipt in found.items()},
            examples={language: receipt.result["available"] for language, receipt in found.items()},
            train_examples=training.get("train_examples"),
            train_counts=training.get("train_counts", {}),
            notes=_notes(found, training.get("train_origin", {})),
        ),
        environment={**software(), **_made_on(receipts, device)},
        command=options.command,
        timings=timings,
    )


def _made_on(receipts: Sequence[Receipt], device: dict[str, str | int]) -> dict[str, str | int]:
    """Return the device of the first receipt that names one: whoever scores may have another."""
    for receipt in receipts:
        if "device" in receipt.result:
            made_on: dict[str, str | int] = receipt.result["device"]
            return made_on
    return device


def _language_results(
    part: TaskPlan, scores: TaskScores, found: Mapping[str, Receipt]
) -> dict[str, LanguageResult]:
    results = {}
    for test in part.tests:
        score = scores.languages[test.language]
        if test.language not in found:
            reason = test.absent or "the fine-tuning failed"
            results[test.language] = LanguageResult(status="missing", reason=reason)
            continue
        result = found[test.language].result
        results[test.language] = LanguageResult(
            status=score.status,
            figures=score.figures,
            counts={**score.counts, **result["counts"]},
            reason=score.reason,
            stand_in=result["stand_in"],
            details=result["details"],
        )
    return results


def _training(plan: TaskPlan, receipts: Mapping[str, Receipt]) -> dict[str, Any]:
    """Return what a record says of one model's fine-tuning, earlier ones included.

    Args:
        plan: The task's plan, or one language's part of it.
        receipts: Receipts of fine-tunings by training key.
    """
    results = [dict(receipts[str(part.training_key)].result) for part in plan.trainings]
    failed = next((result["failed"] for result in results if "failed" in result), None)
    if failed is not None:
        report = {**results[-1].get("facts", {}), "failed": failed}
        return {**results[-1], **_origins(results), "report": report}
    for result in results:
        told = {k: v for k, v in result["report"].items() if k != "seconds"}
        result["report"] = {**result.get("facts", {}), **told}
    own = results[-1]
    earlier = [
        {
            "task": part.task.name,
            "settings": part.settings.model_dump(mode="json"),
            "train_examples": result["train_examples"],
            "train_counts": result["train_counts"],
            **result["report"],
        }
        for part, result in zip(plan.trainings[:-1], results[:-1], strict=True)
    ]
    if earlier:
        own["report"] = {**own["report"], "intermediate": earlier}
    return {**own, **_origins(results)}


def _training_of_each(plan: TaskPlan, receipts: Mapping[str, Receipt]) -> dict[str, Any]:
    """Return what a record says of the fine-tunings of a task of which each language has its own model.

    Its ``report`` has one for each language under ``models``; an earlier fine-tuning that they share is told once.
    """
    own = {str(part.language): _training(part, receipts) for part in plan.parts}
    counts: Counter[str] = Counter()
    for result in own.values():
        counts.update(result["train_counts"])
    report: dict[str, Any] = {"models": {code: result["report"] for code, result in own.items()}}
    shared = [result["report"].pop("intermediate", None) for result in own.values()]
    if any(shared):
        report["intermediate"] = next(filter(None, shared))
    language_of = {part.training_key: str(part.language) for part in plan.parts}
    read = {
        language_of.get(part.training_key, part.task.name): receipts[str(part.training_key)].result
        for part in plan.trainings
    }
    return {
        "report": report,
        "train_examples": sum(result["train_examples"] for result in own.values()),
        "train_counts": dict(counts),
        **{
            split: merged_origins({name: result[split] for name, result in read.items()})
            for split in ("train_origin", "dev_origin")
        },
    }


def _origins(results: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Return what all fine-tunings of a task read, by split."""
    return {
        part: {name: value for result in results for name, value in result[part].items()}
        for part in ("train_origin", "dev_origin")
    }


def _notes(found: Mapping[str, Receipt], train_origin: dict[str, str]) -> tuple[str, ...]:
    """Return how the data that were read differ from the official ones, as their source says."""
    origins = [train_origin, *(receipt.result["origin"] for receipt in found.values())]
    # The notes of several training languages have the language before them.
    return tuple(
        sorted(
            {
                value
                for origin in origins
                for name, value in origin.items()
                if name == "note" or name.endswith(": note")
            }
        )
    )
