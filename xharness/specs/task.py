"""The task specification: what is predicted, in which languages, from which files, scored how."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from xharness.specs.languages import LanguageCode, language_table
from xharness.specs.validation import SpecModel

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

#: A path pattern, or one for each part that a format reads (``source``, ``target``, ``gold``).
PathPattern = str | dict[str, str]


class FileSource(SpecModel):
    """Files below the data folder. Patterns may hold ``{language}``, ``{iso3}``, ``{english}`` and ``{name}``.

    Attributes:
        format: Name of the reader, see ``xharness.data.readers``.
        train: Pattern of the training split.
        dev: Pattern of the development split.
        test: Pattern of the test split.
        root: Data folder used where the user names none; ``sample`` is the one inside the package.
        options: Passed to the reader, such as column numbers.
        names: What ``{name}`` stands for in each language; the language code where it is not listed.
        test_stand_in: The split read in place of an absent test; the record and the table say so.
        train_stand_in: The split read in place of an absent train, likewise.
        sha256: Expected digests by path below the data folder.
        alternatives: Other layouts of the same data, tried in order where the files of this one are absent.
    """

    format: str
    train: PathPattern | None = None
    dev: PathPattern | None = None
    test: PathPattern
    root: str | None = None
    options: dict[str, Any] = {}
    names: dict[LanguageCode, str] = {}
    test_stand_in: Literal["dev"] | None = None
    train_stand_in: Literal["dev"] | None = None
    sha256: dict[str, str] = {}
    alternatives: tuple[FileSource, ...] = ()


class HubTable(SpecModel):
    """One split of a data set on the hub.

    Attributes:
        repository: Data set id; the source's own where absent.
        revision: Commit, tag or branch of that other repository; ``main`` where absent.
        config: Configuration name, may hold the placeholders of ``FileSource``.
        split: Split name on the hub.
        where: Rows to keep, as column to value; a value may hold placeholders.
        id_prefix: Rows to keep by the beginning of their id, may hold placeholders.
        columns: Columns that differ from the source's.
    """

    repository: str | None = None
    revision: str | None = None
    config: str | None = None
    split: str
    where: dict[str, str] = {}
    id_prefix: str | None = None
    columns: dict[str, str] = {}


class HubSource(SpecModel):
    """Tables on the Hugging Face hub, read through ``datasets``.

    Attributes:
        repository: Data set id.
        revision: Commit, tag or branch; the record holds the commit that it resolved to.
        format: Name of the row reader, see ``xharness.data.hub``.
        train: The training table.
        dev: The development table.
        test: The test table.
        columns: Column of each field of an example.
        names: What ``{name}`` stands for in each language.
        note: How these data differ from the official files; kept in the record.
    """

    repository: str
    revision: str = "main"
    format: str
    train: HubTable | None = None
    dev: HubTable | None = None
    test: HubTable
    columns: dict[str, str] = {}
    names: dict[LanguageCode, str] = {}
    note: str | None = None


class Sources(SpecModel):
    """Where the data come from; at least one of the two, but for tasks that are only scored."""

    files: FileSource | None = None
    hub: HubSource | None = None


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
    recipe: dict[str, Any] = {}
    citation: str
    licence: str
    notes: str | None = None

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


def placeholders(language: str, names: dict[str, str]) -> dict[str, str]:
    """Return what the placeholders of a pattern stand for in a language."""
    entry = language_table()[language]
    return {
        "language": language,
        "iso3": entry.iso3,
        "english": entry.name,
        "name": names.get(language, language),
    }
