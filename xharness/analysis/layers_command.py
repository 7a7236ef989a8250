"""The ``analyze layers`` verb: drop the last layers, fine-tune, score (RemBERT, section 6.2, Figure 1)."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from tabulate import tabulate

from xharness.analysis.drawing import Curve, check_figure, draw_curves
from xharness.analysis.encoders import checkpoint_reference, model_name
from xharness.analysis.statements import Statement, higher_over_seeds, lines_of, over_seeds
from xharness.analysis.truncation import check_depth, write_truncated
from xharness.errors import InputError
from xharness.files import write_json
from xharness.models.checkpoints import load_config
from xharness.records.record import Record
from xharness.records.store import read_records
from xharness.runs.command import RunCommand

#: Read off Figure 1 of arXiv 2010.12821: XNLI dev accuracy with 8 to 12 of 12 layers, approximate.
PUBLISHED: dict[str, tuple[float, ...]] = {
    "RemBERT, output 128": (68.1, 68.6, 68.2, 68.5, 68.3),
    "RemBERT, output 768": (68.2, 69.0, 70.0, 70.5, 70.4),
    "RemBERT, output 3072": (69.6, 70.2, 70.3, 70.6, 71.1),
}


@dataclass(frozen=True)
class Depth:
    """The scores of an encoder with some of its layers.

    Attributes:
        layers: Layers kept.
        dropped: Layers deleted.
        scores: By task title, each seed's score in percent.
    """

    layers: int
    dropped: int
    scores: dict[str, tuple[float, ...]]

    @property
    def means(self) -> tuple[float, ...]:
        """Each seed's mean over the tasks; empty where a task has no score."""
        columns = list(self.scores.values())
        if not columns or len({len(column) for column in columns}) != 1:
            return ()
        return tuple(map(mean, zip(*columns, strict=True)))

    def as_json(self) -> dict[str, Any]:
        """Return what the JSON file holds of it."""
        return {
            "layers": self.layers,
            "dropped": self.dropped,
            "scores": {task: list(values) for task, values in self.scores.items()},
        }


@dataclass(frozen=True)
class LayersCommand:
    """The options of ``xharness analyze layers`` as typed.

    Attributes:
        run: What to do with each encoder, as ``xharness run`` has it; its output folder holds a folder a depth.
        drop: Layers to drop at most.
        json_file: Where the figures go as JSON.
        figure: Where the curves go.
    """

    run: RunCommand
    drop: int = 4
    json_file: Path | None = None
    figure: Path | None = None

    def execute(self) -> str:
        """Truncate, run, write the files asked for, and return the table for the terminal.

        What an earlier call finished in the folder is not done again.

        Raises:
            InputError: Wrong use, too few layers, or a run fails.
        """
        check_figure(self.figure)
        if not self.run.finetune:
            raise InputError(
                "an encoder that lost layers must be fine-tuned", where="--no-finetune"
            )
        reference = checkpoint_reference(self.run.model)
        config = load_config(reference)
        check_depth(config, self.drop, reference)
        layers = int(config.num_hidden_layers)
        name = self.run.name or model_name(self.run.model)
        depths = []
        for dropped in range(self.drop + 1):
            kept = layers - dropped
            folder = self.run.output / f"drop-{dropped}"
            encoder = self.run.output / "encoders" / f"drop-{dropped}"
            write_truncated(reference, dropped, encoder)
            command = replace(
                self.run, model=str(encoder), output=folder, name=f"{name}, {kept} layers"
            )
            with redirect_stdout(sys.stderr):
                command.execute()
            depths.append(Depth(kept, dropped, _scores(folder, self.run.languages)))
        statements = layer_statements(name, depths)
        if self.json_file is not None:
            content = {
                "model": name,
                "depths": [depth.as_json() for depth in depths],
                "statements": [statement.as_json() for statement in statements],
            }
            write_json(self.json_file, content)
        if self.figure is not None:
            _draw(self.figure, depths, layers)
        return _table(name, depths, statements)


def _scores(folder: Path, languages: str | None) -> dict[str, tuple[float, ...]]:
    """Return each seed's score by task title; a task with a hole in some seed has none.

    Args:
        folder: The run.
        languages: Those that the run was limited to; the scores are then means over these, and the titles say so.
    """
    records = sorted(read_records([folder]), key=lambda record: record.seed)
    codes = [part.strip() for part in languages.split(",") if part.strip()] if languages else []
    found: dict[str, tuple[float, ...]] = {}
    for title in dict.fromkeys(record.task_title for record in records):
        scores = [_score(record, codes) for record in records if record.task_title == title]
        known = tuple(score for score in scores if score is not None)
        named = f"{title} ({' '.join(codes)})" if codes else title
        found[named] = known if len(known) == len(scores) else ()
    return found


def _score(record: Record, languages: Sequence[str]) -> float | None:
    if not languages:
        return record.score
    results = [record.languages[code] for code in languages if code in record.languages]
    if not results or any(result.status != "scored" for result in results):
        return None
    return mean(mean(result.figures[name] for name in record.score_figures) for result in results)


def layer_statements(name: str, depths: Sequence[Depth]) -> list[Statement]:
    """Judge what section 6.2 states by each seed's mean over the tasks.

    Args:
        name: The encoder's.
        depths: The first with all layers, each further one with one less.
    """
    whole = depths[0].means
    statements = []
    if len(depths) > 1:
        statements.append(
            higher_over_seeds(
                "Dropping one layer helps (section 6.2, of output embeddings of 128 and 768)",
                ("one dropped", depths[1].means),
                ("none dropped", whole),
            ).about(name)
        )
    statements += [
        higher_over_seeds(
            f"Dropping {depth.dropped} layers hurts (section 6.2, of output embeddings of 768 and 3072)",
            ("none dropped", whole),
            (f"{depth.dropped} dropped", depth.means),
        ).about(name)
        for depth in depths[2:]
    ]
    return statements


def _table(name: str, depths: Sequence[Depth], statements: Sequence[Statement]) -> str:
    tasks = list(depths[0].scores)
    rows = [
        [
            str(depth.layers),
            str(depth.dropped),
            *(over_seeds(depth.scores.get(task, ())) for task in tasks),
            over_seeds(depth.means),
        ]
        for depth in depths
    ]
    header = ["layers", "dropped", *tasks, "mean"]
    table = tabulate(
        rows, header, "simple", colalign=("right",) * len(header), disable_numparse=True
    )
    return "\n".join([name, table, "", *lines_of(statements)])


def _draw(path: Path, depths: Sequence[Depth], layers: int) -> None:
    columns: Mapping[str, list[tuple[float, ...]]] = {
        task: [depth.scores.get(task, ()) for depth in depths] for task in depths[0].scores
    }
    curves = [
        Curve(
            task,
            [depth.layers for depth in depths],
            [mean(values) if values else None for values in column],
            [stdev(values) if len(values) > 1 else 0.0 for values in column],
        )
        for task, column in columns.items()
    ]
    if layers == 12:
        curves += [
            Curve(f"{name}, XNLI", range(8, 13), values, published=True)
            for name, values in PUBLISHED.items()
        ]
    draw_curves(path, curves, x_label="layers kept", y_label="score (%)")
