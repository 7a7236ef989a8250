"""The ``analyze embeddings`` verb."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from rich.console import Console
from tabulate import tabulate

from xharness.analysis.drawing import Curve, check_figure, draw_curves
from xharness.analysis.embeddings import EmbeddingTables, open_tables, word_vectors
from xharness.analysis.geometry import Isotropy, isotropy, neighbour_overlap
from xharness.analysis.statements import Statement, by_output_size, higher, lines_of, rising
from xharness.analysis.word_similarity import (
    Correlation,
    SetResult,
    SimilaritySet,
    correlation,
    rate,
    read_sets,
    similarities,
)
from xharness.files import write_json

#: Table 8 of arXiv 2010.12821, dot products x 100; which coefficient it is is not said.
_PUBLISHED_SETS = ("MEN", "MTurk-771", "Rare-Word", "SimLex-999", "Verb-143")
PUBLISHED: dict[str, tuple[float, ...]] = {
    "Table 8, 768/768, input": (39.2, 37.5, 24.0, 17.6, 59.4),
    "Table 8, 768/768, output": (27.7, 24.3, 12.2, 16.1, 43.9),
}


@dataclass(frozen=True)
class SideResult:
    """One embedding of a checkpoint.

    Attributes:
        sets: Agreement with each set of ratings.
        isotropy: How it fills its space.
    """

    sets: dict[str, SetResult]
    isotropy: Isotropy

    @property
    def mean(self) -> float | None:
        """Mean over the sets of Spearman's correlation with dot products; ``None`` where one has none."""
        found = [result.dot.spearman for result in self.sets.values()]
        known = [value for value in found if value is not None]
        return mean(known) if known and len(known) == len(found) else None

    def as_json(self) -> dict[str, Any]:
        """Return what the JSON file holds of it."""
        return {
            "word_similarity": {
                name: {
                    "dot": result.dot.as_json(),
                    "cosine": result.cosine.as_json(),
                    "pairs": result.pairs,
                    "missing_pairs": result.missing_pairs,
                    "missing_words": len(result.missing_words),
                }
                for name, result in self.sets.items()
            },
            "isotropy": self.isotropy.as_json(),
        }


@dataclass(frozen=True)
class ModelResult:
    """Both embeddings of a checkpoint.

    Attributes:
        tables: The tables.
        input: The input embedding's figures.
        output: The output embedding's; ``None`` where there is none, or it is the input's.
        overlap: Shared nearest neighbours of both, in percent.
        agreement: Correlation of both embeddings' cosines over the pairs of all sets.
    """

    tables: EmbeddingTables
    input: SideResult
    output: SideResult | None
    overlap: float | None
    agreement: Correlation | None

    def as_json(self) -> dict[str, Any]:
        """Return what the JSON file holds of it."""
        output = "tied to the input" if self.tables.tied else self.tables.note
        return {
            "model": self.tables.name,
            "input": self.input.as_json(),
            "output": output if self.output is None else self.output.as_json(),
            "shared_neighbours": self.overlap,
            "agreement": None if self.agreement is None else self.agreement.as_json(),
        }


@dataclass(frozen=True)
class EmbeddingsCommand:
    """The options of ``xharness analyze embeddings`` as typed.

    Attributes:
        models: Checkpoint folders, hub ids or ``sample``.
        words: Files of human ratings, or folders of them.
        json_file: Where the figures go as JSON.
        figure: Where the picture goes.
    """

    models: tuple[str, ...]
    words: tuple[Path, ...]
    json_file: Path | None = None
    figure: Path | None = None

    def execute(self) -> str:
        """Measure, write the files asked for, and return the tables for the terminal.

        Raises:
            InputError: A model or a set is unusable.
        """
        check_figure(self.figure)
        sets = read_sets(self.words)
        console = Console(stderr=True)
        results = []
        for model in self.models:
            with console.status(f"embeddings of {model}"):
                results.append(measure(open_tables(model), sets))
        statements = embedding_statements(results)
        if self.json_file is not None:
            content = {
                "models": [result.as_json() for result in results],
                "statements": [statement.as_json() for statement in statements],
            }
            write_json(self.json_file, content)
        if self.figure is not None:
            _draw(self.figure, results, [one.name for one in sets])
        return _report(results, statements)


def measure(tables: EmbeddingTables, sets: Sequence[SimilaritySet]) -> ModelResult:
    """Measure the embeddings of one checkpoint."""
    words = [word for one in sets for word in one.words]
    vectors = word_vectors(words, tables.input, tables.pieces)
    rows = tables.input[tables.ordinary]
    entry = SideResult({one.name: rate(one, vectors) for one in sets}, isotropy(rows))
    if tables.output is None or tables.tied:
        return ModelResult(tables, entry, None, None, None)
    others = word_vectors(words, tables.output, tables.pieces)
    other_rows = tables.output[tables.ordinary]
    leaving = SideResult({one.name: rate(one, others) for one in sets}, isotropy(other_rows))
    pairs = [pair for one in sets for pair in one.pairs if vectors.keys() >= set(pair)]
    agreement = correlation(similarities(pairs, vectors)[1], similarities(pairs, others)[1])
    return ModelResult(tables, entry, leaving, neighbour_overlap(rows, other_rows), agreement)


def embedding_statements(results: Sequence[ModelResult]) -> list[Statement]:
    """Judge what section 6.1 states by these figures: means over the sets, Spearman, dot products."""
    statements = []
    for result in results:
        text = (
            "Output embeddings agree less with human similarity than input embeddings (RemBERT, Table 8; Press and "
            "Wolf found the reverse for an LSTM)"
        )
        name = result.tables.name
        entry, leaving = result.input.mean, result.output.mean if result.output else None
        if entry is None or leaving is None:
            reason = "both are one matrix" if result.tables.tied else result.tables.note
            why = reason or "a set has no figure"
            statements.append(Statement(text, "cannot be tried", why, name))
        else:
            statements.append(higher(text, ("input", entry), ("output", leaving)).about(name))
    names = by_output_size([(result.tables.name, result.tables.config) for result in results])
    sizes = {
        name: result.output.mean
        for name in names
        for result in results
        if result.tables.name == name and result.output is not None
    }
    statements.append(
        rising(
            "The larger the output embedding, the less it agrees with human similarity (RemBERT, Table 8: "
            "29.9, 24.9, 10.2 on average for 128, 768, 3072)",
            {name: value for name, value in sizes.items() if value is not None},
            falling=True,
        )
    )
    return statements


def _sides(result: ModelResult) -> Iterator[tuple[str, SideResult]]:
    yield ("input and output" if result.tables.tied else "input"), result.input
    if result.output is not None:
        yield "output", result.output


def _report(results: Sequence[ModelResult], statements: Sequence[Statement]) -> str:
    parts = []
    for result in results:
        rows, spaces = [], []
        for side, figures in _sides(result):
            for name, one in figures.sets.items():
                found = (one.dot.spearman, one.dot.pearson, one.cosine.spearman, one.cosine.pearson)
                counts = [str(one.pairs), str(len(one.missing_words))]
                rows.append([side, name, *map(_figure, found), *counts])
            space = figures.isotropy
            spaces.append(
                f"{side}: {space.width} dimensions, mean cosine of random pieces {space.mean_cosine:.3f}, "
                f"participation ratio {space.participation_ratio:.1f}, IsoScore {space.isoscore:.3f}"
            )
        header = ["embedding", "set", "dot, Spearman", "dot, Pearson", "cosine, Spearman"]
        header += ["cosine, Pearson", "pairs", "missing words"]
        align = ("left", "left", *["right"] * 6)
        table = tabulate(rows, header, "simple", colalign=align, disable_numparse=True)
        parts += [result.tables.name, table, *spaces]
        if result.overlap is not None and result.agreement is not None:
            parts.append(
                f"shared nearest neighbours of input and output: {result.overlap:.1f} %; their cosines agree by "
                f"{_figure(result.agreement.spearman)} (Spearman), {_figure(result.agreement.pearson)} (Pearson)"
            )
        if result.tables.note:
            parts.append(f"no output embedding: {result.tables.note}")
        parts.append("")
    parts.append("Correlations with human ratings x 100; a word of several pieces is their mean.")
    return "\n".join([*parts, *lines_of(statements)])


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _draw(path: Path, results: Sequence[ModelResult], names: Sequence[str]) -> None:
    """Draw a panel for each side where there are several encoders."""
    several = len(results) > 1
    curves = [
        Curve(
            result.tables.name if several else f"{result.tables.name}, {side}",
            range(len(names)),
            [figures.sets[name].dot.spearman for name in names],
            joined=False,
            panel=_panel(side) if several else "",
        )
        for result in results
        for side, figures in _sides(result)
    ]
    if set(names) <= set(_PUBLISHED_SETS):
        places = [_PUBLISHED_SETS.index(name) for name in names]
        curves += [
            Curve(
                label,
                range(len(names)),
                [values[at] for at in places],
                published=True,
                joined=False,
                panel=_panel(label) if several else "",
            )
            for label, values in PUBLISHED.items()
        ]
    draw_curves(
        path,
        curves,
        x_label="set of human ratings",
        y_label="Spearman with dot products (x 100)",
        ticks=names,
    )


def _panel(side: str) -> str:
    return (
        "output embedding" if side.endswith("output") and "input" not in side else "input embedding"
    )
