"""The ``analyze retrieval`` verb."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, cast

from rich.console import Console
from tabulate import tabulate

from xharness.analysis.drawing import Curve, check_figure, draw_curves
from xharness.analysis.encoders import open_encoder
from xharness.analysis.retrieval import LayerAccuracies, retrieve, upper_layers, upper_slope
from xharness.analysis.statements import Statement, by_output_size, higher, lines_of, rising
from xharness.analysis.task_data import languages_with_data, open_task, window_settings
from xharness.data.examples import Bitext, Split
from xharness.errors import InputError
from xharness.files import write_json
from xharness.inference.device import choose_device
from xharness.runs.display import RunDisplay

#: Read off Figure 2 of arXiv 2010.12821, English to German, percent at layers 1 to 12: approximate.
PUBLISHED: dict[str, tuple[int, ...]] = {
    "RemBERT, output 128": (33, 36, 54, 61, 65, 72, 74, 74, 69, 64, 60, 44),
    "RemBERT, output 768": (35, 38, 53, 58, 67, 72, 75, 76, 74, 71, 68, 50),
    "RemBERT, output 3072": (32, 37, 47, 57, 70, 73, 77, 77, 78, 75, 76, 64),
}


@dataclass(frozen=True)
class ModelResult:
    """One model's retrieval.

    Attributes:
        name: The model's.
        config: Its configuration.
        languages: Results by language.
    """

    name: str
    config: Any
    languages: dict[str, LayerAccuracies]

    @property
    def means(self) -> tuple[float, ...]:
        """Mean over the languages at each layer, in percent, from layer 0."""
        return tuple(map(mean, zip(*(r.accuracies for r in self.languages.values()), strict=True)))

    @property
    def slope(self) -> float | None:
        """Slope of the means over the upper layers, in points per twelfth of the depth."""
        return upper_slope(self.means)

    @property
    def upper_mean(self) -> float:
        """Mean over languages and upper layers."""
        means = self.means
        upper = upper_layers(len(means) - 1)
        return mean(means[layer] for layer in upper) if len(upper) else means[-1]

    def as_json(self) -> dict[str, Any]:
        """Return what the JSON file holds of it."""
        upper = upper_layers(len(self.means) - 1)
        return {
            "model": self.name,
            "languages": {
                code: {
                    "pairs": result.pairs,
                    "accuracy_by_layer": [round(value, 4) for value in result.accuracies],
                    "counts": dict(result.counts),
                }
                for code, result in self.languages.items()
            },
            "mean_by_layer": [round(value, 4) for value in self.means],
            "upper_layers": list(upper),
            "upper_slope": None if self.slope is None else round(self.slope, 4),
        }


@dataclass(frozen=True)
class RetrievalCommand:
    """The options of ``xharness analyze retrieval`` as typed.

    Attributes:
        models: Checkpoint folders, hub ids or ``sample``.
        task: A retrieval task with gold pairs whose target side is English.
        data: Data folder, ``sample`` or ``hub``.
        languages: Languages to pair with English; all that have data where absent.
        limit: Pairs a language at most, the first ones.
        max_length: Pieces of a sentence at most, special tokens included.
        device: ``cpu``, ``cuda``, ``mps`` or ``auto``.
        dtype: ``float32``, ``bfloat16`` or ``auto``.
        json_file: Where the figures go as JSON.
        figure: Where the curves go.
    """

    models: tuple[str, ...]
    task: str = "tatoeba"
    data: str | None = None
    languages: tuple[str, ...] | None = None
    limit: int | None = None
    max_length: int = 128
    device: str = "auto"
    dtype: str = "auto"
    json_file: Path | None = None
    figure: Path | None = None

    def execute(self) -> str:
        """Search, write the files asked for, and return the table for the terminal.

        Raises:
            InputError: A model, task or file is unusable.
        """
        check_figure(self.figure)
        task, source = open_task(self.task, self.data)
        if task.kind != "retrieval" or task.method == "ranking":
            raise InputError(
                f"{task.name} has no pairs of translations",
                where="--task",
                mend="use tatoeba or another task of nearest neighbours",
            )
        settings = window_settings(self.max_length)
        languages = languages_with_data(task, source, self.languages)
        device = choose_device(self.device, self.dtype)
        results = []
        with RunDisplay(Console(stderr=True), len(self.models) * (len(languages) + 1)) as display:
            for model in self.models:
                display.stage(f"open {model}")
                encoder = open_encoder(model, device)
                display.finished()
                found = {}
                for language in languages:
                    display.stage(f"{encoder.name}, {language}")
                    english, other = aligned(source.read(task, "test", language, None), self.limit)
                    found[language] = retrieve(encoder, english, other, settings, display)
                    display.finished(f"best {max(found[language].accuracies):.1f}")
                results.append(ModelResult(encoder.name, encoder.config, found))
                del encoder
        statements = retrieval_statements(results)
        if self.json_file is not None:
            content = {
                "task": task.name,
                "models": [result.as_json() for result in results],
                "statements": [statement.as_json() for statement in statements],
            }
            write_json(self.json_file, content)
        if self.figure is not None:
            _draw(self.figure, results, languages)
        return _table(results, statements)


def aligned(split: Split, limit: int | None) -> tuple[list[str], list[str]]:
    """Return the English sentences of a split and their translations, pair by pair.

    Args:
        split: A retrieval split; its target side is English.
        limit: Pairs at most, the first ones.

    Raises:
        InputError: It has no gold pairs.
    """
    bitext = cast(Bitext, split.examples[0])
    if not bitext.gold:
        raise InputError(
            f"{split.task} {split.language} has no gold pairs",
            where="--data",
            mend="give files whose lines are aligned, as LASER's",
        )
    source = dict(zip(bitext.source.ids, bitext.source.texts, strict=True))
    target = dict(zip(bitext.target.ids, bitext.target.texts, strict=True))
    pairs = bitext.gold if limit is None else bitext.gold[:limit]
    return [target[to] for _, to in pairs], [source[of] for of, _ in pairs]


def retrieval_statements(results: Sequence[ModelResult]) -> list[Statement]:
    """Judge what section 6.3 states by these figures."""
    statements = [
        higher(
            "The last layer finds fewer translations than the one before it (section 6.3)",
            (f"layer {len(result.means) - 2}", result.means[-2]),
            (f"layer {len(result.means) - 1}", result.means[-1]),
        ).about(result.name)
        for result in results
        if len(result.means) > 2
    ]
    names = by_output_size([(result.name, result.config) for result in results])
    chosen = [result for name in names for result in results if result.name == name]
    statements.append(
        rising(
            "A larger output embedding finds more translations at upper layers (section 6.3)",
            {result.name: result.upper_mean for result in chosen},
        )
    )
    slopes = {result.name: result.slope for result in chosen}
    statements.append(
        rising(
            "A larger output embedding flattens the fall over layers 7 to 11 of 12 (section 6.3; read off "
            "Figure 2: -3.8, -1.9, -0.4 points a layer)",
            {name: slope for name, slope in slopes.items() if slope is not None},
        )
    )
    return statements


def _table(results: Sequence[ModelResult], statements: Sequence[Statement]) -> str:
    parts = []
    for result in results:
        depth = range(len(result.means))
        rows = [
            [code, str(found.pairs), *(f"{value:.1f}" for value in found.accuracies)]
            for code, found in result.languages.items()
        ]
        rows.append(["mean", "", *(f"{value:.1f}" for value in result.means)])
        header = ["language", "pairs", *map(str, depth)]
        align = ("left", *["right"] * (len(header) - 1))
        parts += [
            result.name,
            tabulate(rows, header, "simple", colalign=align, disable_numparse=True),
        ]
        upper = upper_layers(len(result.means) - 1)
        if result.slope is not None:
            parts.append(
                f"slope over layers {upper[0]} to {upper[-1]}: {result.slope:+.2f} points per twelfth of the depth"
            )
        counts: Counter[str] = Counter()
        for found in result.languages.values():
            counts += found.counts
        parts += [f"{name}: {count}" for name, count in sorted(counts.items())]
        parts.append("")
    parts.append(
        "Accuracy in percent by layer, English to the language; 0 is the first block's input."
    )
    return "\n".join([*parts, *lines_of(statements)])


def _draw(path: Path, results: Sequence[ModelResult], languages: Sequence[str]) -> None:
    depths = {len(result.means) - 1 for result in results}
    each = len(results) == 1 and 1 < len(languages) <= 6
    mean_of = f", mean of {len(languages)} languages" if len(languages) > 1 else ""
    curves = [
        Curve(
            result.name + (mean_of if each else ""),
            range(len(result.means)),
            result.means,
        )
        for result in results
    ]
    if each:
        result = results[0]
        curves += [
            Curve(code, range(len(found.accuracies)), found.accuracies)
            for code, found in result.languages.items()
        ]
    if depths == {12}:
        curves += [
            Curve(name, range(1, 13), values, published=True) for name, values in PUBLISHED.items()
        ]
    y_label = "translations found (%)" + ("" if each else mean_of)
    draw_curves(path, curves, x_label="layer", y_label=y_label)
