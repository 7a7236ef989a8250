"""Runs a plan stage by stage; what was finished before is not done again."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from xharness.data.sources import DataSource
from xharness.data.training_sets import read_training_set
from xharness.data.translated_tests import read_test_set
from xharness.errors import InputError
from xharness.files import folder_aside
from xharness.finetuning.training import DivergenceError
from xharness.inference.device import Device
from xharness.inference.progress import Progress
from xharness.models.adapter import ModelAdapter
from xharness.records.store import write_record
from xharness.runs.plan import (
    Plan,
    Stage,
    TaskPlan,
    Unit,
    spec_digest,
)
from xharness.runs.receipts import Receipt, ReceiptStore, inputs_digest
from xharness.runs.recording import make_record
from xharness.runs.run_folder import BRIEF_WAIT, RunFolder
from xharness.tasks.predictions import Decided, write_with_gold


class StageDisplay(Progress, Protocol):
    """Told of stages and of the work inside them."""

    def stage(self, title: str) -> None:
        """Begin a stage."""
        ...

    def finished(self, note: str = "", *, brief: bool = False) -> None:
        """End the current stage."""
        ...


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
        keep: Called with each finished stage's name and receipt, once both are on the disk.
    """

    def __init__(
        self,
        plan: Plan,
        model: ModelAdapter,
        source: DataSource,
        device: Device,
        output: Path,
        keep: Callable[[str, Receipt], None] = lambda name, receipt: None,
    ):
        self._keep = keep
        self._plan = plan
        self._model = model
        self._source = source
        self._device = device
        self._output = output
        self._folder = RunFolder(output)
        self._receipts = ReceiptStore(output)
        self._tuned: tuple[Path, ModelAdapter] | None = None
        self._done: dict[str, Receipt] = {}

    def run(self, display: StageDisplay) -> list[Path]:
        """Do every stage that is not done yet, here and in the order of the plan.

        Returns:
            The records, in the order of the plan.

        Raises:
            InputError: Another run works in the folder, the folder holds another plan, or a stage fails.
        """
        with self._folder.taken():
            self._folder.check_plan(self._plan.identity())
            units = self._plan.units()
            records = [path for unit in units for path in self.run_unit(unit, display)]
            return records + self.score_joint(display)

    def run_unit(self, unit: Unit, display: StageDisplay, wait: float = 0.0) -> list[Path]:
        """Do every stage of a unit that is not done yet.

        Args:
            unit: The unit.
            display: Told of the stages.
            wait: Seconds to wait for another process that works on the unit, which may be about to end.

        Returns:
            Its records.

        Raises:
            InputError: Another process works on the unit, or a stage fails.
        """
        records = []
        with self._folder.unit_taken(unit.name, wait):
            for stage in unit.stages():
                display.stage(stage.title)
                if stage.kind == "score":
                    path, score = self._score(stage)
                    records.append(path)
                    display.finished("incomplete" if score is None else f"{score:.1f}")
                    continue
                if stage.kind == "predict" and self._failed(stage.plan, stage.seed):
                    display.finished("no model to predict with")
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
                result["device"] = self._device.describe()
                outputs = self._receipts.outputs_of(paths)
                receipt = Receipt(inputs, outputs, seconds, peak_mib(), result)
                self._receipts.write(stage.name, receipt)
                self._keep(stage.name, receipt)
                self._done[stage.name] = receipt
                display.finished(result.get("failed", ""), brief=stage.kind == "predict")
        return records

    def score_joint(self, display: StageDisplay | None = None) -> list[Path]:
        """Score the tasks of which each language has its own model, once their units are run or gathered.

        Args:
            display: Told of the stages.

        Returns:
            Their records.
        """
        records = []
        for stage in self._plan.joint_scores():
            if display is not None:
                display.stage(stage.title)
            with self._folder.unit_taken(stage.name, BRIEF_WAIT):
                path, score = self._score(stage)
            records.append(path)
            if display is not None:
                display.finished("incomplete" if score is None else f"{score:.1f}")
        return records

    def gather(self, unit: Unit) -> list[Path] | None:
        """Score a unit that was run, here or elsewhere.

        Its predictions are looked at; a checkpoint is not, since it may lie elsewhere or be gone by now.

        Returns:
            Its records, or ``None`` where a stage is not done.
        """
        stages = unit.stages()
        for stage in stages:
            if stage.kind == "predict" and self._failed(stage.plan, stage.seed):
                continue
            if stage.kind != "score":
                known = self._receipts.read if stage.kind == "finetune" else self._receipts.find
                receipt = known(stage.name, self._inputs(stage))
                if receipt is None:
                    return None
                self._done[stage.name] = receipt
        # Whoever has done every stage may be scoring just now.
        with self._folder.unit_taken(unit.name, BRIEF_WAIT):
            return [self._score(stage)[0] for stage in stages if stage.kind == "score"]

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
            parts["test"] = _test_fingerprint(stage)
            if plan.training_key is not None:
                parts["checkpoint"] = self._tuning(plan, stage.seed).outputs
        return inputs_digest(parts)

    def _tuning(self, plan: TaskPlan, seed: int) -> Receipt:
        """Return the receipt of the fine-tuning that a task's predictions rest on."""
        return self._done[f"finetune_{plan.training_key}_seed-{seed}"]

    def _failed(self, plan: TaskPlan, seed: int) -> str | None:
        """Return why one of the fine-tunings that a task rests on came to nothing."""
        receipts = [self._tuning(part, seed) for part in plan.trainings]
        return next((r.result["failed"] for r in receipts if "failed" in r.result), None)

    # -- stages -----------------------------------------------------------------------------------------

    def _checkpoint(self, plan: TaskPlan, seed: int) -> Path:
        assert plan.training_key is not None
        return self._output / "checkpoints" / plan.training_key / f"seed-{seed}"

    def _finetune(self, stage: Stage, display: Progress) -> tuple[list[Path], dict[str, Any]]:
        plan, task = stage.plan, stage.plan.task
        choose = plan.settings.selection == "best_dev"
        limits = self._plan.options.limits
        found = read_training_set(task, plan.language, self._source, limits, choose=choose)
        train, dev = found.train, found.dev
        _check_planned(found.fingerprint, plan.train_fingerprint, f"{task.name} train")
        result: dict[str, Any] = {
            "train_origin": train.origin,
            "train_counts": dict(train.counts),
            "train_examples": len(train),
            "train_available": train.available,
            "dev_origin": {} if dev is None else dev.origin,
        }
        if found.facts:
            result["facts"] = found.facts
        failed = None if plan.before is None else self._failed(plan.before, stage.seed)
        if failed:
            return [], {"failed": failed, **result}
        into = self._checkpoint(plan, stage.seed)
        start = self._model if plan.before is None else self._model_for(plan.before, stage.seed)
        try:
            with folder_aside(into) as aside:
                report = start.finetune(task, train, dev, plan.settings, stage.seed, aside, display)
        except DivergenceError as error:
            # The same seed would diverge again; others need not, so this one's record says so and the run goes on.
            return [], {"failed": error.what, **result}
        result["report"] = asdict(report)
        return sorted(path for path in into.rglob("*") if path.is_file()), result

    def _predict(self, stage: Stage, display: Progress) -> tuple[list[Path], dict[str, Any]]:
        plan, task = stage.plan, stage.plan.task
        language = str(stage.language)
        split = read_test_set(task, language, self._source, self._plan.options.limit)
        _check_planned(split.fingerprint, _test_fingerprint(stage), f"{task.name} {language}")
        dev = None
        if task.method == "mining" and split.stand_in is None:
            dev = self._source.read(task, "dev", language, None)
        model = self._model_for(plan, stage.seed)
        predictions = Decided(
            model.predict(task, part, plan.settings, display, dev) for part in split.parts()
        )
        name = f"{task.name}/{task.file_name(split.language)}"
        paths = write_with_gold(
            task,
            split,
            predictions,
            self._predictions(stage.seed) / name,
            self._output / "gold" / name,
            writer=stage.name,
        )
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
        plan, seed = stage.plan, stage.seed
        found = {
            test.language: self._done[Stage("predict", plan, seed, test.language).name]
            for test in plan.tests
            if test.absent is None and not self._failed(plan.part(test.language), seed)
        }
        record = make_record(
            self._plan,
            plan,
            seed,
            {str(part.training_key): self._tuning(part, seed) for part in plan.trainings},
            found,
            self._predictions(stage.seed),
            self._output / "gold",
            self._device.describe(),
        )
        return write_record(record, self._output / "records"), record.score


def _test_fingerprint(stage: Stage) -> str:
    return next(t.fingerprint for t in stage.plan.tests if t.language == stage.language)


def _check_planned(found: str, planned: str, what: str) -> None:
    """Refuse data that are not those of the plan: they were changed since, or differ on this machine."""
    if found != planned:
        raise InputError(
            f"the data of {what} are not those that the plan was made with",
            mend="give every machine the same data folder, and start again",
        )


def peak_mib() -> float:
    """Return the highest memory of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024) if sys.platform == "darwin" else peak / 1024
