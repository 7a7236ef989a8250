"""One probing task on one encoder: activations once, then a probe on each layer and one on their mix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from xharness.analysis.activations import store_activations
from xharness.analysis.encoders import OpenedEncoder
from xharness.analysis.head_probe import HeadedSentences, frequent_offset, train_head_probe
from xharness.analysis.probe import (
    LabelledSpans,
    ProbeResult,
    ProbeSettings,
    centre_of_gravity,
    majority,
    train_probe,
)
from xharness.analysis.probing_items import Arcs, Items
from xharness.errors import InputError
from xharness.runs.display import RunDisplay
from xharness.specs.recipe import Settings
from xharness.tasks.pieces import starts_of


@dataclass(frozen=True)
class ProbingData:
    """The items of one probing task.

    Attributes:
        train: English, to train on.
        dev: English, to choose the epoch on; ``None`` where there is none.
        tests: Test sets by language.
        arcs: The heads of the same sentences, by ``train``, ``dev`` and language; empty but for dependencies.
        note: How these data differ from what was wanted.
    """

    train: Items
    dev: Items | None
    tests: dict[str, Items]
    arcs: dict[str, Arcs] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class AttachmentResult:
    """Unlabelled attachment: each word chooses its head among all words of its sentence and the root.

    Attributes:
        layers: A probe's figures on each layer, from 0; empty where only the mix was asked for.
        mix: Those on the mix of layers 1 and up.
        frequent_offset: What attaching at the most frequent distance scores by test set, in percent.
    """

    layers: tuple[ProbeResult, ...]
    mix: ProbeResult
    frequent_offset: dict[str, float]

    def as_json(self) -> dict[str, Any]:
        """Return what the JSON file holds of it."""
        return {
            "frequent_offset": _rounded(self.frequent_offset),
            "by_layer": [_rounded(probe.accuracy) for probe in self.layers],
            "mix": _rounded(self.mix.accuracy),
        }


@dataclass(frozen=True)
class ProbingResult:
    """One probing task on one encoder.

    Attributes:
        items: Number of items by set.
        unseen: Items by test set whose label training never saw.
        majority: What always answering the most frequent label scores by test set, in percent.
        layers: A probe's figures on each layer, from 0; empty where only the mix was asked for.
        mix: Those on the mix of layers 1 and up.
        counts: Words without pieces and the like, over all sets.
        note: How the data differ from what was wanted.
        attachment: For dependencies, how often the head itself is found; ``None`` for other probes.
    """

    items: dict[str, int]
    unseen: dict[str, int]
    majority: dict[str, float]
    layers: tuple[ProbeResult, ...]
    mix: ProbeResult
    counts: Counter[str]
    note: str
    attachment: AttachmentResult | None = None

    @property
    def centre(self) -> float:
        """Mean layer by the mix's weights."""
        return centre_of_gravity(self.mix.weights, range(1, len(self.mix.weights) + 1))

    def as_json(self) -> dict[str, Any]:
        """Return what the JSON file holds of it."""
        return {
            "items": self.items,
            "items_of_unseen_labels": self.unseen,
            "majority": _rounded(self.majority),
            "by_layer": [
                {"layer": layer, "dev": probe.dev, "accuracy": _rounded(probe.accuracy)}
                for layer, probe in enumerate(self.layers)
            ],
            "mix": {
                "dev": self.mix.dev,
                "accuracy": _rounded(self.mix.accuracy),
                "weights": [round(weight, 4) for weight in self.mix.weights],
                "centre_of_gravity": round(self.centre, 3),
            },
            "attachment": None if self.attachment is None else self.attachment.as_json(),
            "counts": dict(self.counts),
            "note": self.note,
        }


def others(accuracy: Mapping[str, float]) -> float | None:
    """Return the mean over the languages but English; ``None`` where there is none."""
    values = [value for language, value in accuracy.items() if language != "en"]
    return mean(values) if values else None


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values.items()}


def run_probing(
    encoder: OpenedEncoder,
    data: ProbingData,
    name: str,
    window: Settings,
    settings: ProbeSettings,
    display: RunDisplay,
    *,
    per_layer: bool,
) -> ProbingResult:
    """Probe an encoder.

    Args:
        encoder: The encoder; it is run once over each set.
        data: The items.
        name: What the display calls the task.
        window: For ``max_length``.
        settings: Of all probes.
        display: Told of as many stages as ``stages_of`` says.
        per_layer: Whether each layer gets a probe of its own.

    Raises:
        InputError: There is no test item, or nothing to train on.
    """
    if not any(len(test) for test in data.tests.values()):
        raise InputError(f"no test item for {name}", where="probing")
    sets = {"train": data.train, "dev": data.dev, **data.tests}
    known = {label: i for i, label in enumerate(sorted(set(data.train.labels)))}
    counts: Counter[str] = Counter()
    found: dict[str, LabelledSpans] = {}
    with TemporaryDirectory(prefix="xharness-") as folder:
        for number, (key, items) in enumerate(sets.items()):
            if items is None:
                continue
            display.stage(f"{encoder.name}, {name}: states of {key}")
            path = Path(folder) / f"{number}.npy"
            states = store_activations(encoder, items.sentences, window, path, display)
            labels = np.array([known.get(label, -1) for label in items.labels], np.int64)
            found[key] = LabelledSpans(states, items.spans, labels)
            counts += states.counts + items.counts
            display.finished(brief=True)
        tests = {language: found[language] for language in data.tests}
        depth = encoder.layers
        results = []
        for title, layers in _layers_probed(depth, per_layer):
            display.stage(f"{encoder.name}, {name}: {title}")
            probe = train_probe(
                found["train"], found.get("dev"), tests, layers, len(known), settings, display
            )
            results.append(probe)
            display.finished(_shown(probe))
        attachment = None
        if data.arcs:
            headed = {key: _headed(data.arcs[key], found[key]) for key in found}
            attachment = _run_attachment(encoder, headed, settings, display, per_layer=per_layer)
        return ProbingResult(
            items={key: len(items) for key, items in found.items()},
            unseen={language: int(np.sum(test.labels < 0)) for language, test in tests.items()},
            majority={language: majority(found["train"], test) for language, test in tests.items()},
            layers=tuple(results[:-1]),
            mix=results[-1],
            counts=+counts,
            note=data.note,
            attachment=attachment,
        )


def stages_of(data: ProbingData, layers: int, *, per_layer: bool) -> int:
    """Return how many stages an encoder of so many layers has."""
    sets = 1 + (data.dev is not None) + len(data.tests)
    probes = len(_layers_probed(layers, per_layer))
    return sets + probes * (2 if data.arcs else 1)


def _layers_probed(depth: int, per_layer: bool) -> list[tuple[str, list[int]]]:
    single = [(f"layer {layer}", [layer]) for layer in range(depth + 1)] if per_layer else []
    return [*single, ("mix", list(range(1, depth + 1)))]


def _shown(probe: ProbeResult) -> str:
    return f"{probe.accuracy.get('en', mean(probe.accuracy.values())):.1f}"


def _headed(arcs: Arcs, items: LabelledSpans) -> HeadedSentences:
    starts = starts_of([len(words) for words in arcs.sentences])
    heads = np.array([head for one in arcs.heads for head in one], np.int64)
    return HeadedSentences(items.activations, starts, heads)


def _run_attachment(
    encoder: OpenedEncoder,
    headed: Mapping[str, HeadedSentences],
    settings: ProbeSettings,
    display: RunDisplay,
    *,
    per_layer: bool,
) -> AttachmentResult:
    train, dev = headed["train"], headed.get("dev")
    tests = {key: one for key, one in headed.items() if key not in ("train", "dev")}
    results = []
    for title, layers in _layers_probed(encoder.layers, per_layer):
        display.stage(f"{encoder.name}, heads: {title}")
        probe = train_head_probe(train, dev, tests, layers, settings, display)
        results.append(probe)
        display.finished(_shown(probe))
    offsets = {key: frequent_offset(train, test) for key, test in tests.items()}
    return AttachmentResult(tuple(results[:-1]), results[-1], offsets)
