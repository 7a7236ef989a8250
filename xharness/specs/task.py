"""The task specification: what is predicted, in which languages, from which files, scored how."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from xharness.specs.languages import LanguageCode
from xharness.specs.protocol import SplitName, TransferProtocol
from xharness.specs.sources import (
    FileSource,
    HubSource,
    HubTable,
    PathPattern,
    Sources,
    placeholders,
)
from xharness.specs.validation import SpecModel

__all__ = [
    "METRIC_FIGURES",
    "FileSource",
    "HubSource",
    "HubTable",
    "Kind",
    "Metric",
    "PathPattern",
    "Sources",
    "TaskSpec",
    "placeholders",
]

Kind = Literal[
    "pair_classification", "multiple_choice", "tagging", "question_answering", "retrieval"
]
Metric = Literal["accuracy", "pos_f1", "entity_f1", "squad", "mlqa", "mined_pairs", "map_at_20"]

#: What each metric reports, in percent, under the names of the official script.
METRIC_FIGURES: dict[Metric, tuple[str, ...]] = {
    "accuracy": ("accuracy",),
    "pos_f1": ("f1", "precision", "recall", "accuracy"),
    "entity_f1": ("f1", "precision", "recall"),
    "squad": ("exact_match", "f1"),
    "mlqa": ("exact_match", "f1"),
    "mined_pairs": ("f1", "precision", "recall"),
    "map_at_20": ("map@20",),
}


class TaskSpec(SpecModel):
    """One task of the benchmark.

    Attributes:
        name: Short name; also the folder of its prediction files.
        title: Name in tables.
        kind: Which of the kinds in ``xharness.tasks`` encodes and decodes it.
        category: Group that it belongs to by default; a suite has the last word.
        languages: Test languages, in the official order.
        labels: Classes or tags, in the order of the classifier's outputs.
        label_aliases: Other spellings in the data, mapped to a label.
        metric: How prediction files are scored.
        score: Figures whose mean is the task's score, by profile; ``default`` for those not listed.
        training: Training set; tasks that name the same one share a fine-tuned model.
        intermediate_task: Task whose training set the model is fine-tuned on first, with that task's own settings
            (intermediate-task training, Phang et al. 2018, arXiv 1811.01088); that task may name one in turn.
        method: How a retrieval task decides: each source's nearest target, mined pairs over a threshold, or a
            ranking of targets.
        sources: Where the data come from. A ranking task may have none: it is scored from prediction files,
            and a run leaves it as a hole.
        protocol: What models are trained on and tested in; zero-shot transfer from English where absent.
        recipe: Settings of this task that a recipe may override.
        citation: Whom to cite.
        licence: Licence of the data.
        notes: Anything a reader of the scores should know.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    kind: Kind
    category: str
    languages: tuple[LanguageCode, ...] = Field(min_length=1)
    labels: tuple[str, ...] = ()
    label_aliases: dict[str, str] = {}
    metric: Metric
    score: dict[str, tuple[str, ...]] = Field(min_length=1)
    training: str | None = None
    intermediate_task: str | None = None
    method: Literal["nearest_neighbour", "mining", "ranking"] | None = None
    sources: Sources = Sources()
    protocol: TransferProtocol = TransferProtocol()
    recipe: dict[str, Any] = {}
    citation: str
    licence: str
    notes: str | None = None

    @field_validator("protocol")
    @classmethod
    def _protocol_fits(cls, value: TransferProtocol, info: ValidationInfo) -> TransferProtocol:
        kind, sources = info.data.get("kind"), info.data.get("sources")
        if value.kind == "zero_shot" or kind is None or sources is None:
            return value
        if kind == "retrieval":
            raise ValueError("a retrieval task is not fine-tuned, so it has no protocol")
        # The words of a translated sentence, and where an answer stands in it, are no longer those of the gold.
        if value.kind == "translate_test" and kind not in (
            "pair_classification",
            "multiple_choice",
        ):
            raise ValueError(f"the gold of a {kind} task does not hold for translated test data")
        for name in ("files", "hub"):
            if getattr(value, name) is not None and getattr(sources, name) is None:
                raise ValueError(f"{name}: there is no sources.{name} to lay it over")
        languages = value.training_languages
        if not isinstance(languages, str):
            for code in languages:
                if code not in info.data.get("languages", ()):
                    raise ValueError(f"training_languages: the task has no language {code!r}")
        return value

    @model_validator(mode="after")
    def _fits_kind(self) -> Self:
        if len(set(self.languages)) != len(self.languages):
            raise ValueError("languages: a language occurs twice")
        if self.kind in ("pair_classification", "tagging"):
            if len(self.labels) < 2:
                raise ValueError(f"labels: a {self.kind} task needs two or more")
            if len(set(self.labels)) != len(self.labels):
                raise ValueError("labels: a label occurs twice")
        for alias, label in self.label_aliases.items():
            if label not in self.labels:
                raise ValueError(
                    f"label_aliases: {alias!r} stands for {label!r}, which is not a label"
                )
        if self.kind == "retrieval":
            if self.method is None:
                raise ValueError(
                    "method: a retrieval task needs nearest_neighbour, mining or ranking"
                )
            if self.intermediate_task is not None:
                raise ValueError("intermediate_task: a retrieval task is not fine-tuned")
        elif self.training is None:
            raise ValueError(f"training: a {self.kind} task needs the name of its training set")
        if self.kind == "multiple_choice" and self.labels:
            raise ValueError("labels: a multiple_choice task has none, its choices are its own")
        if (self.method == "ranking") != (self.metric == "map_at_20"):
            raise ValueError("method: ranking and metric map_at_20 belong together")
        if self.sources == Sources() and self.method != "ranking":
            raise ValueError("sources: give files, hub or both")
        if "default" not in self.score:
            raise ValueError("score: needs the key 'default'")
        for profile, figures in self.score.items():
            for figure in figures:
                if figure not in METRIC_FIGURES[self.metric]:
                    raise ValueError(
                        f"score.{profile}: metric {self.metric} has no figure {figure!r}"
                    )
        return self

    def zero_shot(self) -> TaskSpec:
        """Return the task under the zero-shot protocol."""
        return self.model_copy(update={"protocol": TransferProtocol()})

    def from_protocol(self, split: SplitName) -> TaskSpec:
        """Return the task with the sources that its protocol reads a split from."""
        return self.model_copy(update={"sources": self.protocol.laid_over(self.sources, split)})

    def file_name(self, language: str) -> str:
        """Return the name of a language's prediction file and gold file in the submission layout."""
        suffix = "tsv"
        if self.kind == "question_answering" or self.method == "ranking":
            suffix = "json"
        elif self.kind == "multiple_choice":
            suffix = "jsonl"
        return f"test-{language}.{suffix}"

    @property
    def scored_only(self) -> bool:
        """Whether there is no data source to predict from, only prediction files to score."""
        return self.sources == Sources()

    def score_figures(self, profile: str) -> tuple[str, ...]:
        """Return the figures whose mean is the task's score under a profile."""
        return self.score.get(profile, self.score["default"])
