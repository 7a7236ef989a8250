"""Published rows: what papers print, as YAML files with a source for every row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from xharness.errors import InputError
from xharness.leaderboards.results import Source
from xharness.specs.languages import LanguageCode
from xharness.specs.registry import available, benchmark_of_suite, load
from xharness.specs.suite import Suite
from xharness.specs.task import METRIC_FIGURES, TaskSpec
from xharness.specs.validation import SpecModel, build
from xharness.specs.yaml_loading import load_document

_PACKAGE = Path(__file__).resolve().parents[1]

#: The folder with the rows that are shipped: in a checkout beside the package, inside it when installed.
PUBLISHED: Path = next(
    folder
    for folder in (
        _PACKAGE / "leaderboards" / "published",
        _PACKAGE.parent / "leaderboards" / "published",
        _PACKAGE,
    )
    if folder.is_dir()
)

_Percent = Annotated[float, Field(ge=0, le=100)]
_Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
#: Without characters that end a link in markdown, LaTeX or HTML.
_Url = Annotated[str, StringConstraints(pattern=r"^https?://[A-Za-z0-9._~:/?@!$'*+,;=-]+$")]


class PrintedAverages(SpecModel):
    """Averages that a paper prints over several tasks.

    Attributes:
        source: Table or section.
        suite: The suite whose averages they are.
        figures: Percentages by ``overall`` (mean over the tasks), ``categories`` (mean over the categories) or a
            category's name.
    """

    source: _Text
    suite: str
    figures: dict[str, _Percent] = Field(min_length=1)

    @model_validator(mode="after")
    def _known(self) -> PrintedAverages:
        if self.suite not in available(Suite):
            raise ValueError(f"suite: no suite named {self.suite!r}")
        known = {"overall", "categories", *load(Suite, self.suite).categories}
        for name in self.figures:
            if name not in known:
                raise ValueError(f"figures: {name!r} is none of {', '.join(sorted(known))}")
        return self


class PublishedRow(SpecModel):
    """What one source prints of one model in one setting.

    Attributes:
        model: Name of the model. Rows of the same name and setting are the same run, also across files; runs that
            differ have different names, such as ``XLM-R Large (XLM-R paper)``.
        setting: ``zero-shot``, ``translate-train`` and so on.
        source: Table or section of the file's paper or page.
        languages: Percentages by task, figure and language.
        averages: Percentages by suite, task and figure, as printed: means over that suite's languages of the task.
        printed: Averages over several tasks.
        remarks: What a reader must know of the figures of a task.
    """

    model: _Text
    setting: _Text = "zero-shot"
    source: _Text
    languages: dict[str, dict[str, dict[LanguageCode, _Percent]]] = {}
    averages: dict[str, dict[str, dict[str, _Percent]]] = {}
    printed: tuple[PrintedAverages, ...] = ()
    remarks: dict[str, _Text] = {}

    @model_validator(mode="after")
    def _known(self) -> PublishedRow:
        for task, figures in self.languages.items():
            _check_figures(f"languages.{task}", task, figures)
        for suite, tasks in self.averages.items():
            if suite not in available(Suite):
                raise ValueError(f"averages: no suite named {suite!r}")
            for task, averages in tasks.items():
                if task not in load(Suite, suite).tasks:
                    raise ValueError(f"averages.{suite}: {task!r} is not a task of the suite")
                _check_figures(f"averages.{suite}.{task}", task, averages)
        covered = {*self.languages, *(task for found in self.averages.values() for task in found)}
        for task in self.remarks:
            if task not in covered:
                raise ValueError(f"remarks: the row has no figures of {task!r}")
        if not covered:
            raise ValueError("a row needs languages or averages")
        return self


def _check_figures(where: str, task: str, figures: Iterable[str]) -> None:
    if task not in available(TaskSpec):
        raise ValueError(f"{where}: no task named {task!r}")
    known = METRIC_FIGURES[load(TaskSpec, task).metric]
    for name in figures:
        if name not in known:
            raise ValueError(f"{where}: {name!r} is none of {', '.join(known)}")


class PublishedFile(SpecModel):
    """The rows of one paper or page.

    Attributes:
        title: Short name, such as ``RemBERT paper``.
        citation: The paper or page in full.
        url: Where it is found.
        notes: Anything about the source.
        rows: Its rows.
    """

    title: _Text
    citation: _Text
    url: _Url
    notes: str | None = None
    rows: tuple[PublishedRow, ...]

    @model_validator(mode="after")
    def _some(self) -> PublishedFile:
        # Not a minimal length, which would be a second complaint about a file whose only row is wrong.
        if not self.rows:
            raise ValueError("rows: there is none")
        return self


@dataclass(frozen=True)
class Published:
    """A row with its source.

    Attributes:
        row: The row.
        source: Where it was printed.
        place: ``file:line`` of the row.
    """

    row: PublishedRow
    source: Source
    place: str
    file: PublishedFile

    def source_of(self, table: str) -> Source:
        """Return the source of a further table of the same paper."""
        return Source(f"{self.file.title}, {table}", self.file.url)

    def figures(self) -> Iterator[tuple[str, str, str, float]]:
        """Yield task, language, figure and percentage of every language's figure."""
        for task, figures in self.row.languages.items():
            for figure, languages in figures.items():
                for language, value in languages.items():
                    yield task, language, figure, value

    def averages(self) -> Iterator[tuple[str, tuple[str, ...], str, str, float]]:
        """Yield suite, languages averaged over, task, figure and percentage of every printed average."""
        for suite, tasks in self.row.averages.items():
            benchmark = benchmark_of_suite(suite)
            for task, figures in tasks.items():
                for figure, value in figures.items():
                    yield suite, benchmark.task(task).languages, task, figure, value


def read_published_file(path: Path) -> list[Published]:
    """Read the rows of a file.

    Raises:
        InputError: It does not validate; a row without a source is named by file and line.
    """
    document = load_document(path)
    file = build(PublishedFile, document)
    return [
        Published(
            row,
            Source(f"{file.title}, {row.source}", file.url),
            document.place(("rows", index)),
            file,
        )
        for index, row in enumerate(file.rows)
    ]


def read_published(folder: Path = PUBLISHED) -> list[Published]:
    """Read all rows of a folder, files by name.

    Raises:
        InputError: There is no file, or one does not validate; a row without a source is named by file and line.
    """
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise InputError("no published rows here", where=folder, mend="one YAML file a paper")
    return [row for path in files for row in read_published_file(path)]
