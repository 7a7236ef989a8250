"""The record schema."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

from xharness.records.protocol_marks import dev_name, protocol_marks

SCHEMA_VERSION = 1

#: Parts that two runs of the same plan may differ in.
_MEASURED = {"timings", "content_sha256"}


class RecordModel(BaseModel):
    """Base of the parts of a record: immutable, unknown keys refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LanguageResult(RecordModel):
    """One language's result.

    Attributes:
        status: ``missing`` without data or predictions, ``unscored`` without usable gold.
        figures: Percentages by the official names; empty unless scored.
        counts: Examples, unanswered ones, fallbacks, truncations and whatever was mended.
        reason: Why it is not scored.
        stand_in: The split that was scored in place of the test split.
        details: Further values, such as a mining threshold.
    """

    status: Literal["scored", "missing", "unscored"]
    figures: dict[str, float] = {}
    counts: dict[str, int] = {}
    reason: str | None = None
    stand_in: str | None = None
    details: dict[str, Any] = {}


class Protocol(RecordModel):
    """How the model was trained and tested.

    Attributes:
        setting: What tables call a protocol other than zero-shot, such as ``translate-train``; not written otherwise.
        recipe: Name of the recipe.
        settings: Every hyperparameter, resolved.
        finetuned: Whether the harness trained the head.
        training_set: Name of the training set, where there is one.
        training: What the training did: steps, effective batch, dev scores, the step that was kept; or, under
            ``failed``, why it came to nothing. Under other protocols than zero-shot also the training ``languages``
            with their examples, ``dev_language`` (None: the last checkpoint was kept), and the ids of a few
            ``examples``; all that by language under ``models``, where each has its own model.
        limit: Test and dev examples a language at most.
        limit_train: Training examples at most.
    """

    setting: str | None = None
    recipe: str
    settings: dict[str, Any]
    finetuned: bool
    training_set: str | None = None
    training: dict[str, Any] | None = None
    limit: int | None = None
    limit_train: int | None = None

    @model_serializer(mode="wrap")
    def _zero_shot_as_ever(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave ``setting`` out where there is none, so that records of older versions keep their digest."""
        written: dict[str, Any] = serialize(self)
        if self.setting is None:
            written.pop("setting", None)
        return written


class Data(RecordModel):
    """What was read.

    Attributes:
        source: Kind of source, and its revision where it has one.
        train: Origin of the training split: digest by file, or hub coordinates.
        dev: Origin of the dev split.
        test: Origin of each language's test split.
        examples: Test examples that each language has before a limit.
        train_examples: Training examples used; by all models together, where each language has its own.
        train_counts: What was dropped or mended in the training split.
        notes: How the data differ from the official ones.
    """

    source: dict[str, str]
    train: dict[str, str] = {}
    dev: dict[str, str] = {}
    test: dict[str, dict[str, str]] = {}
    examples: dict[str, int] = {}
    train_examples: int | None = None
    train_counts: dict[str, int] = {}
    notes: tuple[str, ...] = ()


class Record(RecordModel):
    """The result of one model on one task with one seed.

    Attributes:
        schema_version: Version of this schema.
        suite: Suite of the run.
        task: Task name.
        task_title: Task name in tables.
        spec: The task specification, without fields left at their defaults.
        spec_sha256: Its digest.
        model: What the adapter says of the model.
        seed: Seed of the fine-tuning; the run's first for tasks without one.
        profile: Scoring profile.
        languages: Result of each language of the task, in its order.
        averages: Unweighted means over the languages, null where one is missing.
        score_figures: The averages whose mean is the score.
        score: The figure that enters averages, null where a language is missing.
        protocol: How it was trained and tested.
        data: What was read.
        environment: Versions, device, number format.
        command: The command that makes this record again.
        timings: Seconds of wall time by stage, and peak memory in MiB.
        content_sha256: Digest of everything above but the timings.
    """

    schema_version: Literal[1] = 1
    suite: str
    task: str
    task_title: str
    spec: dict[str, Any]
    spec_sha256: str
    model: dict[str, Any]
    seed: int
    profile: str
    languages: dict[str, LanguageResult]
    averages: dict[str, float | None]
    score_figures: tuple[str, ...]
    score: float | None
    protocol: Protocol
    data: Data
    environment: dict[str, Any]
    command: str
    timings: dict[str, float] = {}
    content_sha256: str = ""

    def digest(self) -> str:
        """Return the digest of the content, timings aside."""
        content = self.model_dump(mode="json", exclude=_MEASURED)
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def sealed(self) -> Record:
        """Return the record with its digest filled in."""
        return self.model_copy(update={"content_sha256": self.digest()})

    @property
    def setting(self) -> str:
        """What tables call the protocol."""
        return self.protocol.setting or "zero-shot"

    @property
    def marks(self) -> tuple[str, ...]:
        """Return what sets these figures apart from official ones, for the foot of a table."""
        training = self.protocol.training or {}
        marks = []
        if self.protocol.setting is not None:
            marks += protocol_marks(self.protocol.setting, self.seed, training, self.languages)
        if self.protocol.limit_train is not None:
            pooled = " a language" if len(training.get("languages", ())) > 1 else ""
            marks.append(f"trained on at most {self.protocol.limit_train} examples{pooled}")
        if self.protocol.limit is not None:
            marks.append(f"tested on at most {self.protocol.limit} examples a language")
        if "failed" in training:
            marks.append(f"seed {self.seed} failed: {training['failed']}")
        if training.get("degenerate"):
            reached = dict(training["dev_scores"])[training["chosen_step"]]
            dev = dev_name(training.get("dev_language", "en"))
            marks.append(
                f"seed {self.seed} is degenerate: {reached:.1f} on {dev} dev, where always giving the most "
                f"frequent label has {training['dev_chance']:.1f}"
            )
        stood_in: dict[str, list[str]] = {}
        for language, result in self.languages.items():
            if result.stand_in:
                stood_in.setdefault(result.stand_in, []).append(language)
        for split, languages in stood_in.items():
            marks.append(f"{', '.join(languages)} scored on {split}, the test files are absent")
        return (*marks, *self.data.notes)
