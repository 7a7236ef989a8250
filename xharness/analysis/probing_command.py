"""The ``analyze probing`` verb."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any, cast

from rich.console import Console
from tabulate import tabulate

from xharness.analysis.drawing import Curve, check_figure, draw_curves
from xharness.analysis.encoders import open_encoder
from xharness.analysis.probe import ProbeResult, ProbeSettings
from xharness.analysis.probing import ProbingData, ProbingResult, others, run_probing, stages_of
from xharness.analysis.probing_items import (
    Arcs,
    Items,
    arc_items,
    entity_items,
    read_arcs,
    split_in_five,
    treebank_files,
    word_items,
)
from xharness.analysis.statements import Statement, by_output_size, lines_of, rising
from xharness.analysis.task_data import languages_with_data, open_task, window_settings
from xharness.data.examples import SplitName, TaggingExample
from xharness.errors import InputError
from xharness.files import write_json
from xharness.inference.device import choose_device
from xharness.runs.display import RunDisplay

PROBES = ("pos", "entities", "dependencies")
_TITLES = {"pos": "POS", "entities": "entities", "dependencies": "dependencies"}

#: Table 9 of arXiv 2010.12821 for output embeddings of 128, 768 and 3072: micro F1 on English, other test sets.
PUBLISHED: dict[str, tuple[float, float, float]] = {
    "pos": (96.7, 96.7, 96.8),
    "entities": (93.7, 94.0, 94.2),
    "dependencies": (94.3, 94.4, 94.5),
}


@dataclass(frozen=True)
class ProbingCommand:
    """The options of ``xharness analyze probing`` as typed.

    Attributes:
        models: Checkpoint folders, hub ids or ``sample``.
        probes: Some of ``pos``, ``entities`` and ``dependencies``; those with data where absent.
        data: Folder with the tagging tasks' files, ``sample`` or ``hub``.
        pos_task: The task that words and tags come from; ``udpos``, or the sample's.
        entity_task: The task that entities come from; ``panx``, or the sample's.
        treebanks: Folder of CoNLL-U files, for dependencies.
        languages: Test languages, English always among them; all that have data where absent.
        limit: Dev and test sentences a language at most.
        limit_train: Training sentences at most.
        max_length: Pieces in a window, special tokens included.
        per_layer: Whether each layer is probed alone, beside the mix.
        settings: Sizes and hyperparameters of the probes.
        device: ``cpu``, ``cuda``, ``mps`` or ``auto``, for the encoder; probes train on the CPU.
        dtype: ``float32``, ``bfloat16`` or ``auto``.
        json_file: Where the figures go as JSON.
        figure: Where the curves go.
    """

    models: tuple[str, ...]
    probes: tuple[str, ...] | None = None
    data: str | None = None
    pos_task: str | None = None
    entity_task: str | None = None
    treebanks: Path | None = None
    languages: tuple[str, ...] | None = None
    limit: int | None = 200
    limit_train: int | None = 1000
    max_length: int = 128
    per_layer: bool = True
    settings: ProbeSettings = field(default_factory=ProbeSettings)
    device: str = "auto"
    dtype: str = "auto"
    json_file: Path | None = None
    figure: Path | None = None

    def execute(self) -> str:
        """Probe, write the files asked for, and return the tables for the terminal.

        Raises:
            InputError: Wrong use, or a model or data are unusable.
        """
        check_figure(self.figure)
        window = window_settings(self.max_length)
        data = {probe: self._data(probe) for probe in self._probes()}
        device = choose_device(self.device, self.dtype)
        results: dict[str, dict[str, ProbingResult]] = {}
        configs: list[tuple[str, Any]] = []
        for model in self.models:
            encoder = open_encoder(model, device)
            configs.append((encoder.name, encoder.config))
            results[encoder.name] = {}
            for probe, items in data.items():
                stages = stages_of(items, encoder.layers, per_layer=self.per_layer)
                with RunDisplay(Console(stderr=True), stages) as display:
                    results[encoder.name][probe] = run_probing(
                        encoder,
                        items,
                        _TITLES[probe],
                        window,
                        self.settings,
                        display,
                        per_layer=self.per_layer,
                    )
        statements = probing_statements(results, configs)
        if self.json_file is not None:
            content = {
                "models": {
                    name: {probe: result.as_json() for probe, result in by_probe.items()}
                    for name, by_probe in results.items()
                },
                "statements": [statement.as_json() for statement in statements],
            }
            write_json(self.json_file, content)
        if self.figure is not None:
            _draw(self.figure, results)
        return _report(results, statements)

    def _probes(self) -> tuple[str, ...]:
        if self.probes is None:
            found = (*(PROBES[:2] if self.data else ()), *(PROBES[2:] if self.treebanks else ()))
            if not found:
                raise InputError(
                    "nothing to probe with",
                    where="--data",
                    mend="give --data for tags and entities, --treebanks for dependencies",
                )
            return found
        unknown = [probe for probe in self.probes if probe not in PROBES]
        if unknown or not self.probes:
            raise InputError(
                f"unknown probe {', '.join(unknown) or '(none)'}",
                where="--probes",
                mend=f"some of {', '.join(PROBES)}",
            )
        return self.probes

    def _data(self, probe: str) -> ProbingData:
        if probe == "dependencies":
            return self._treebank_data()
        sample = self.data == "sample"
        name = (
            (self.pos_task or ("sample_pos" if sample else "udpos"))
            if probe == "pos"
            else (self.entity_task or ("sample_ner" if sample else "panx"))
        )
        task, source = open_task(name, self.data)
        if task.kind != "tagging":
            raise InputError(f"{task.name} has no tagged words", where=f"--{probe}-task")
        make = word_items if probe == "pos" else entity_items

        def read(split: SplitName, language: str, limit: int | None) -> Items:
            examples = source.read(task, split, language, limit).examples
            return make(cast(Sequence[TaggingExample], examples))

        found = languages_with_data(task, source, self._with_english())
        languages = dict.fromkeys(("en", *found))
        dev = read("dev", "en", self.limit) if source.has(task, "dev", "en") else None
        tests = {language: read("test", language, self.limit) for language in languages}
        return ProbingData(read("train", "en", self.limit_train), dev, tests)

    def _with_english(self) -> tuple[str, ...] | None:
        return None if self.languages is None else tuple(dict.fromkeys(("en", *self.languages)))

    def _treebank_data(self) -> ProbingData:
        if self.treebanks is None:
            raise InputError(
                "dependencies come from CoNLL-U files", where="--treebanks", mend="give a folder"
            )
        files = treebank_files(self.treebanks)
        wanted = self._with_english()
        tests = {
            language: _arcs(paths, self.limit)
            for (language, split), paths in files.items()
            if split == "test" and (wanted is None or language in wanted)
        }
        absent = [language for language in wanted or ("en",) if language not in tests]
        if absent:
            raise InputError(f"no test treebank of {', '.join(absent)}", where=self.treebanks)
        note = ""
        if ("en", "train") in files:
            train = _arcs(files["en", "train"], self.limit_train)
            dev = _arcs(files["en", "dev"], self.limit) if ("en", "dev") in files else None
        else:
            whole = _arcs(files["en", "test"], None)
            parts = split_in_five(len(whole.sentences))
            train, dev, tests["en"] = (whole.part(part) for part in parts)
            note = "no English training treebank: the test one was split 3:1:1 into train, dev and test"
        arcs = {"train": train, **({} if dev is None else {"dev": dev}), **tests}
        made = {key: arc_items(one) for key, one in arcs.items()}
        return ProbingData(
            made["train"], made.get("dev"), {key: made[key] for key in tests}, arcs, note
        )


def _arcs(paths: Sequence[Path], limit: int | None) -> Arcs:
    read = [read_arcs(path, limit) for path in paths]
    whole = Arcs(
        tuple(words for one in read for words in one.sentences),
        tuple(heads for one in read for heads in one.heads),
        tuple(relations for one in read for relations in one.relations),
        tuple(count for one in read for count in one.words_split),
    )
    return whole if limit is None else whole.part(range(min(limit, len(whole.sentences))))


def probing_statements(
    results: dict[str, dict[str, ProbingResult]], configs: Sequence[tuple[str, Any]]
) -> list[Statement]:
    """Judge what Table 9 states by the mixes' accuracy on English."""
    names = by_output_size(configs)
    probes = next(iter(results.values()))
    statements = [
        rising(
            f"A larger output embedding keeps more of {_TITLES[probe]} (Table 9: "
            f"{', '.join(map(str, PUBLISHED[probe]))} for 128, 768, 3072)",
            {name: results[name][probe].mix.accuracy["en"] for name in names},
        )
        for probe in probes
    ]
    averages = {
        name: mean(result.mix.accuracy["en"] for result in results[name].values()) for name in names
    }
    text = "So on average (Table 9: 86.9, 87.1, 87.4 over ten probes)"
    return [*statements, rising(text, averages)]


def _report(results: dict[str, dict[str, ProbingResult]], statements: Sequence[Statement]) -> str:
    parts = []
    for name, by_probe in results.items():
        header, columns = ["layer"], []
        for title, probes in _figures(by_probe):
            columns.append([f"{one.accuracy['en']:.1f}" for one in probes])
            header.append(f"{title}, en")
            if others(probes[-1].accuracy) is not None:
                columns.append([f"{others(one.accuracy):.1f}" for one in probes])
                header.append(_others_name(probes[-1]))
        depth = len(next(iter(by_probe.values())).layers)
        names = [*map(str, range(depth)), "mix"]
        rows = [list(row) for row in zip(names, *columns, strict=True)]
        align = ("left", *["right"] * len(columns))
        parts += [name, tabulate(rows, header, "simple", colalign=align, disable_numparse=True)]
        for probe, result in by_probe.items():
            line = (
                f"{_TITLES[probe]}: {result.items['train']} items to train on; most frequent label "
                f"{result.majority['en']:.1f} on English; the mix's centre of gravity is layer {result.centre:.2f}"
            )
            notes = [f"{key} {count}" for key, count in sorted(result.counts.items())]
            unseen = sum(result.unseen.values())
            notes += [f"items of labels unseen in training {unseen}"] if unseen else []
            notes += [result.note] if result.note else []
            parts.append("; ".join([line, *notes]))
            if result.attachment is not None:
                parts.append(
                    "heads: attaching at the most frequent distance scores "
                    f"{result.attachment.frequent_offset['en']:.1f} on English; punctuation counts"
                )
        parts.append("")
    parts.append(
        "Accuracy in percent, which is micro F1 here (heads: unlabelled attachment); layer 0 is the first block's "
        "input, the mix is of the others."
    )
    return "\n".join([*parts, *lines_of(statements)])


def _figures(by_probe: dict[str, ProbingResult]) -> Iterator[tuple[str, list[ProbeResult]]]:
    """Yield each probe's title and figures, by layer and mixed at the end."""
    for probe, result in by_probe.items():
        yield _TITLES[probe], [*result.layers, result.mix]
        if result.attachment is not None:
            yield "heads", [*result.attachment.layers, result.attachment.mix]


def _others_name(result: ProbeResult) -> str:
    languages = [language for language in result.accuracy if language != "en"]
    return languages[0] if len(languages) == 1 else f"mean of {len(languages)} others"


def _draw(path: Path, results: dict[str, dict[str, ProbingResult]]) -> None:
    """Draw a panel for each probe where there are several encoders."""
    curves = []
    for name, by_probe in results.items():
        for probe, (*layers, mix) in _figures(by_probe):
            if len(results) > 1:
                title, panel = name, f"{probe}, en"
            else:
                title, panel = f"{probe}, en (mix {mix.accuracy['en']:.1f})", ""
            if not layers:
                curves.append(Curve(title, [0], [mix.accuracy["en"]], joined=False, panel=panel))
                continue
            depth = range(len(layers))
            curves.append(Curve(title, depth, [one.accuracy["en"] for one in layers], panel=panel))
            mixed = others(mix.accuracy)
            if mixed is not None and len(results) == 1:
                title = f"{probe}, {_others_name(mix)} (mix {mixed:.1f})"
                curves.append(Curve(title, depth, [others(one.accuracy) for one in layers]))
    draw_curves(path, curves, x_label="layer", y_label="accuracy (%)")
