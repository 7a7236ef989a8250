"""Runs a plan stage by stage; what was finished before is not done again."""

from __future__ import annotations

import resource
import shutil
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from xharness.data.sources import DataSource
from xharness.errors import InputError
from xharness.files import write_text
from xharness.inference.device import Device
from xharness.models.adapter import ModelAdapter
from xharness.records.provenance import software
from xharness.records.record import Data, LanguageResult, Protocol, Record
from xharness.records.store import write_record
from xharness.runs.display import RunDisplay
from xharness.runs.plan import (
    Plan,
    Stage,
    TaskPlan,
    check_same_plan,
    spec_digest,
    training_splits,
)
from xharness.runs.receipts import Receipt, ReceiptStore, inputs_digest
from xharness.scoring.scores import TaskScores, score_task
from xharness.tasks.predictions import gold_text, prediction_text


class Runner:
    """Carries out a plan in an output folder.

    Folders: ``checkpoints/<training set>/seed-<n>/``; ``predictions/seed-<n>/<task>/`` in the submission layout;
    ``gold/<task>/``; ``records/``; ``receipts/``.

    Args:
        plan: What to do.
        model: The model, before any fine-tuning.
        source: Where the data come from.
        device: Where models run.
        output: The run's folder.
    """

    def __init__(
        self, plan: Plan, model: ModelAdapter, source: DataSource, device: Device, output: Path
    ):
        self._plan = plan
        self._model = model
        self._source = source
        self._device = device
        self._output = output
        self._receipts = ReceiptStore(output)
        self._tuned: tuple[Path, ModelAdapter] | None = None
        self._done: dict[str, Receipt] = {}

    def run(self, display: RunDisplay) -> list[Path]:
        """Do every stage that is not done yet.

        Returns:
            The records, in the order of the plan.

        Raises:
            InputError: Another run works in the folder, the folder holds another plan, or a stage fails.
        """
        try:
            self._output.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self._output / ".lock")
            lock.acquire(timeout=0)
        except Timeout as error:
            raise InputError(
                "another run works in this folder",
                where=self._output,
                mend="wait for it or stop it",
            ) from error
        except OSError as error:
            raise InputError(
                f"cannot be written: {error.strerror}",
                where=self._output,
                mend="use another --output",
            ) from error
        with lock:
            check_same_plan(self._output / "plan.json", self._plan.identity())
            records = []
            for stage in self._plan.stages():
                display.stage(stage.title)
                if stage.kind == "score":
                    path, score = self._score(stage)
                    records.append(path)
                    display.finished("incomplete" if score is None else f"{score:.1f}")
                    continue
                inputs = self._inputs(stage)
                receipt = self._receipts.find(stage.name, inputs)
                if receipt is not None:
                    self._done[stage.name] = receipt
                    display.finished("done before", brief=stage.kind == "predict")
                    continue
                work = self._finetune if stage.kind == "finetune" else self._predict
                began = time.monotonic()
                paths, result = work(stage, display)
                seconds = time.monotonic() - began
                outputs = self._receipts.outputs_of(paths)
                receipt = Receipt(inputs, outputs, seconds, peak_mib(), result)
                self._receipts.write(stage.name, receipt)
                self._done[stage.name] = receipt
                display.finished(brief=stage.kind == "predict")
            return records

    def _inputs(self, stage: Stage) -> str:
        """Return the digest of everything that decides a stage's output."""
        plan = stage.plan
        parts: dict[str, Any] = {"weights": self._plan.model.weights_sha256, "seed": stage.seed}
        if plan.training_key is not None:
            parts["training"] = [plan.training_key, plan.train_fingerprint]
        if plan.before is not None and stage.kind == "finetune":
            parts["start"] = self._tuning(plan.before, stage.seed).outputs
        if stage.kind == "predict":
            parts["spec"] = spec_digest(plan.task)
            parts["settings"] = plan.settings.model_dump(mode="json")
            parts["test"] = next(t.fingerprint for t in plan.tests if t.language == stage.language)
            if plan.training_key is not None:
                parts["checkpoint"] = self._tuning(plan, stage.seed).outputs
        return inputs_digest(parts)

    def _tuning(self, plan: TaskPlan, seed: int) -> Receipt:
        """Return the receipt of the fine-tuning that a task's predictions rest on."""
        return self._done[f"finetune_{plan.training_key}_seed-{seed}"]

    # -- stages -----------------------------------------------------------------------------------------

    def _checkpoint(self, plan: TaskPlan, seed: int) -> Path:
        assert plan.training_key is not None
        return self._output / "checkpoints" / plan.training_key / f"seed-{seed}"

    def _finetune(self, stage: Stage, display: RunDisplay) -> tuple[list[Path], dict[str, Any]]:
        options = self._plan.options
        train, dev = training_splits(stage.plan.task, stage.plan.settings, self._source, options)
        into = self._checkpoint(stage.plan, stage.seed)
        aside = into.with_name(f".{into.name}.partial")
        for folder in (aside, into):
            shutil.rmtree(folder, ignore_errors=True)
        aside.mkdir(parents=True)
        plan = stage.plan
        start = self._model if plan.before is None else self._model_for(plan.before, stage.seed)
        report = start.finetune(plan.task, train, dev, plan.settings, stage.seed, aside, display)
        aside.rename(into)
        result = {
            "report": asdict(report),
            "train_origin": train.origin,
            "train_counts": dict(train.counts),
            "train_examples": len(train),
            "train_available": train.available,
            "dev_origin": {} if dev is None else dev.origin,
        }
        return sorted(path for path in into.rglob("*") if path.is_file()), result

    def _predict(self, stage: Stage, display: RunDisplay) -> tuple[list[Path], dict[str, Any]]:
        plan, task = stage.plan, stage.plan.task
        language = str(stage.language)
        split = self._source.read(task, "test", language, self._plan.options.limit)
        dev = None
        if task.method == "mining" and split.stand_in is None:
            dev = self._source.read(task, "dev", language, None)
        model = self._model_for(plan, stage.seed)
        predictions = model.predict(task, split, plan.settings, display, dev)
        name = task.file_name(split.language)
        path = self._predictions(stage.seed) / task.name / name
        write_text(path, prediction_text(task, predictions))
        paths = [path]
        gold = gold_text(task, split)
        if gold is not None:
            paths.append(self._output / "gold" / task.name / name)
            write_text(paths[-1], gold)
        result = {
            "origin": split.origin,
            "available": split.available,
            "counts": dict(split.counts + predictions.counts),
            "stand_in": split.stand_in,
            "details": predictions.details,
        }
        return paths, result

    def _model_for(self, plan: TaskPlan, seed: int) -> ModelAdapter:
        if plan.training_key is None:
            return self._model
        folder = self._checkpoint(plan, seed)
        if self._tuned is None or self._tuned[0] != folder:
            self._tuned = (folder, self._model.finetuned(plan.task, folder))
        return self._tuned[1]

    def _predictions(self, seed: int) -> Path:
        return self._output / "predictions" / f"seed-{seed}"

    def _score(self, stage: Stage) -> tuple[Path, float | None]:
        """Score a task's prediction files; write its record and return it with the score."""
        plan, options = stage.plan, self._plan.options
        task = plan.task
        scores = score_task(
            task, self._predictions(stage.seed), self._output / "gold", options.profile
        )
        timings: dict[str, float] = {}
        training: dict[str, Any] = {}
        if plan.training_key is not None:
            receipts = [self._tuning(part, stage.seed) for part in plan.trainings]
            training = _training_result(plan, receipts)
            timings["finetune_seconds"] = sum(receipt.seconds for receipt in receipts)
            timings["peak_mib"] = max(receipt.peak_mib for receipt in receipts)
        found = {
            test.language: self._done[Stage("predict", plan, stage.seed, test.language).name]
            for test in plan.tests
            if test.absent is None
        }
        timings["predict_seconds"] = sum(receipt.seconds for receipt in found.values())
        timings["peak_mib"] = max(
            [timings.get("peak_mib", 0.0), *(receipt.peak_mib for receipt in found.values())]
        )
        record = Record(
            suite=self._plan.benchmark.name,
            task=task.name,
            task_title=task.title,
            spec=task.model_dump(mode="json", exclude_defaults=True),
            spec_sha256=spec_digest(task),
            model=asdict(self._plan.model),
            seed=stage.seed,
            profile=options.profile,
            languages=self._language_results(plan, scores, found),
            averages=scores.averages,
            score_figures=task.score_figures(options.profile),
            score=scores.score,
            protocol=Protocol(
                recipe=options.recipe.name,
                settings=plan.settings.model_dump(mode="json"),
                finetuned=plan.training_key is not None,
                training_set=task.training,
                training=training.get("report"),
                # A corpus to mine is never cut.
                limit=None if task.method == "mining" else options.limit,
                limit_train=options.limit_train if plan.training_key is not None else None,
            ),
            data=Data(
                source=self._plan.source,
                train=training.get("train_origin", {}),
                dev=training.get("dev_origin", {}),
                test={language: receipt.result["origin"] for language, receipt in found.items()},
                examples={
                    language: receipt.result["available"] for language, receipt in found.items()
                },
                train_examples=training.get("train_examples"),
                train_counts=training.get("train_counts", {}),
                notes=_notes(found, training.get("train_origin", {})),
            ),
            environment={**software(), **self._device.describe()},
            command=options.command,
            timings=timings,
        )
        return write_record(record, self._output / "records"), record.score

    def _language_results(
        self, plan: TaskPlan, scores: TaskScores, found: dict[str, Receipt]
    ) -> dict[str, LanguageResult]:
        results = {}
        for test in plan.tests:
            score = scores.languages[test.language]
            if test.absent is not None:
                results[test.language] = LanguageResult(status="missing", reason=test.absent)
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


def _training_result(plan: TaskPlan, receipts: list[Receipt]) -> dict[str, Any]:
    """Return what a record says of a task's fine-tuning, intermediate tasks included.

    Args:
        plan: The task's plan.
        receipts: Receipts of its fine-tunings, in order.
    """
    results = [dict(receipt.result) for receipt in receipts]
    for result in results:
        result["report"] = {k: v for k, v in result["report"].items() if k != "seconds"}
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
    for part in ("train_origin", "dev_origin"):
        own[part] = {name: value for result in results for name, value in result[part].items()}
    return own


def _notes(found: dict[str, Receipt], train_origin: dict[str, str]) -> tuple[str, ...]:
    """Return how the data that were read differ from the official ones, as their source says."""
    origins = [train_origin, *(receipt.result["origin"] for receipt in found.values())]
    return tuple(sorted({origin["note"] for origin in origins if "note" in origin}))


def peak_mib() -> float:
    """Return the highest memory of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024) if sys.platform == "darwin" else peak / 1024
