"""The ``analyze fertility`` verb."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from rich.console import Console
from tabulate import tabulate

from xharness.analysis.drawing import Point, check_figure, draw_points
from xharness.analysis.encoders import checkpoint_reference, model_name
from xharness.analysis.fertility import Fertility, fertility
from xharness.analysis.task_data import languages_with_data, open_task
from xharness.analysis.word_similarity import Correlation, correlation
from xharness.errors import InputError
from xharness.files import write_json
from xharness.models.checkpoints import load_config, load_tokenizer
from xharness.records.record import Record
from xharness.records.store import read_records
from xharness.runs.display import RunDisplay

#: Score by language of one model on one task, in percent, under "model, task".
Scores = dict[str, dict[str, float]]


@dataclass(frozen=True)
class FertilityCommand:
    """The options of ``xharness analyze fertility`` as typed.

    Attributes:
        model: Checkpoint folder, hub id or ``sample``; only its tokenizer is opened.
        task: Task whose test files are cut.
        data: Data folder, ``sample`` or ``hub``.
        languages: Languages; all that have data where absent.
        limit: Examples a language at most.
        max_length: Pieces in a window, special tokens included.
        records: Run folders or records whose scores are set beside.
        json_file: Where the figures go as JSON.
        figure: Where the scatter plot goes; it needs records.
    """

    model: str
    task: str = "udpos"
    data: str | None = None
    languages: tuple[str, ...] | None = None
    limit: int | None = None
    max_length: int = 128
    records: tuple[Path, ...] = ()
    json_file: Path | None = None
    figure: Path | None = None

    def execute(self) -> str:
        """Cut, write the files asked for, and return the table for the terminal.

        Raises:
            InputError: The model, task, data or records are unusable.
        """
        check_figure(self.figure)
        if self.figure is not None and not self.records:
            raise InputError(
                "the figure sets fertility beside scores",
                where="--figure",
                mend="name a run with --records",
            )
        task, source = open_task(self.task, self.data)
        scores = scores_by_language(read_records(self.records)) if self.records else {}
        reference = checkpoint_reference(self.model)
        _, pieces = load_tokenizer(reference, load_config(reference))
        languages = languages_with_data(task, source, self.languages)
        found: dict[str, Fertility] = {}
        with RunDisplay(Console(stderr=True), len(languages)) as display:
            for language in languages:
                display.stage(language)
                split = source.read(task, "test", language, self.limit)
                found[language] = fertility(split.examples, pieces, self.max_length)
                display.finished(brief=True)
        agreements = {group: _agreement(found, values) for group, values in scores.items()}
        if self.json_file is not None:
            content = {
                "model": model_name(self.model),
                "task": task.name,
                "max_length": min(self.max_length, pieces.max_length),
                "languages": {code: one.as_json() for code, one in found.items()},
                "scores": scores,
                "correlation_with_pieces_per_unit": {
                    group: one.as_json() for group, one in agreements.items()
                },
            }
            write_json(self.json_file, content)
        if self.figure is not None:
            self._draw(self.figure, found, scores, agreements)
        return _table(found, scores, agreements)

    def _draw(
        self,
        path: Path,
        found: Mapping[str, Fertility],
        scores: Scores,
        agreements: Mapping[str, Correlation],
    ) -> None:
        points = [
            Point(code, found[code].pieces_per_unit, value, group)
            for group, values in scores.items()
            for code, value in values.items()
            if code in found
        ]
        if not points:
            raise InputError("no language has both text and a score", where="--records")
        unit = next(iter(found.values())).unit
        only = next(iter(agreements.values())).spearman if len(agreements) == 1 else None
        said = "" if only is None else f", Spearman {only / 100:.2f}"
        draw_points(
            path,
            points,
            x_label=f"pieces per {unit} ({model_name(self.model)})",
            y_label="score (%)",
            title=f"{next(iter(scores))}{said}" if len(scores) == 1 else "",
        )


def scores_by_language(records: Sequence[Record]) -> Scores:
    """Return each model's score by language and task, the mean over its seeds."""
    collected: dict[str, dict[str, list[float]]] = {}
    for record in records:
        group = collected.setdefault(f"{record.model['name']}, {record.task_title}", {})
        for code, result in record.languages.items():
            if result.status == "scored":
                score = mean(result.figures[name] for name in record.score_figures)
                group.setdefault(code, []).append(score)
    return {
        group: {code: mean(values) for code, values in by_code.items()}
        for group, by_code in collected.items()
    }


def _agreement(found: Mapping[str, Fertility], values: Mapping[str, float]) -> Correlation:
    import numpy as np

    common = [code for code in found if code in values]
    return correlation(
        np.array([found[code].pieces_per_unit for code in common]),
        np.array([values[code] for code in common]),
    )


def _table(
    found: Mapping[str, Fertility], scores: Scores, agreements: Mapping[str, Correlation]
) -> str:
    unit = next(iter(found.values())).unit
    rows = [
        [
            code,
            str(one.units),
            f"{one.pieces_per_unit:.2f}",
            f"{one.characters_per_piece:.2f}",
            f"{one.unknown_rate:.2f}",
            f"{one.truncation:.1f}",
            *(f"{values[code]:.1f}" if code in values else "-" for values in scores.values()),
        ]
        for code, one in found.items()
    ]
    header = ["language", f"{unit}s", f"pieces/{unit}", "characters/piece", "unknown %"]
    header += ["too long %", *scores]
    align = ("left", *["right"] * (len(header) - 1))
    table = tabulate(rows, header, "simple", colalign=align, disable_numparse=True)
    lines = [
        f"{group}: score and pieces per {unit} correlate by {_figure(one.spearman)} (Spearman), "
        f"{_figure(one.pearson)} (Pearson), x 100"
        for group, one in agreements.items()
    ]
    return "\n".join([table, "", *lines]).rstrip()


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
