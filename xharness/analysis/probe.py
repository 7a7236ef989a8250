"""The probe: a small classifier of spans over frozen states (edge probing, Tenney et al. 2019, arXiv 1905.06316).

In its "mix" form it reads a learned sum of all layers, weighted by a softmax and scaled (ELMo's scalar mix).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from xharness.analysis.activations import Activations
from xharness.errors import InputError
from xharness.inference.progress import Progress
from xharness.tasks.pieces import ranges

#: What pads spans of a batch to the longest of them.
_NOTHING = torch.finfo(torch.float32).min


@dataclass(frozen=True)
class ProbeSettings:
    """How probes are built and trained; the same for every layer and model.

    Attributes:
        projection: Width that states are mapped to before pooling.
        hidden: Width between the classifier's two layers.
        dropout: Before its second layer.
        learning_rate: Of Adam.
        mix_learning_rate: Of the layers' weights, a handful of numbers that would else hardly move in few steps.
        batch_size: Items a step.
        epochs: Passes over the training items; the best one on English dev is kept.
        seed: Of initial weights, order and dropout.
    """

    projection: int = 256
    hidden: int = 256
    dropout: float = 0.2
    learning_rate: float = 1e-3
    mix_learning_rate: float = 1e-2
    batch_size: int = 64
    epochs: int = 5
    seed: int = 1


@dataclass(frozen=True)
class LabelledSpans:
    """Items with the states of their pieces.

    Attributes:
        activations: The states.
        spans: Half-open ranges of words: (items, spans of an item, 2).
        labels: Label numbers; -1 for a label that training never saw, which no answer meets.
    """

    activations: Activations
    spans: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)


class LayerMix(nn.Module):
    """The sum of layers, weighted by a softmax and scaled."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.scores = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))

    @property
    def weights(self) -> Tensor:
        """The layers' weights, which sum to 1."""
        return torch.softmax(self.scores, dim=0)

    def forward(self, states: Tensor) -> Tensor:
        """Map (pieces, layers, width) to (pieces, width)."""
        return self.scale * torch.einsum("plw,l->pw", states, self.weights)


class SpanPooling(nn.Module):
    """One vector a span: projected states, weighted by an attention of the span over itself."""

    def __init__(self, width: int, projection: int) -> None:
        super().__init__()
        self.projection = nn.Linear(width, projection)
        self.attention = nn.Linear(projection, 1)

    def forward(self, pieces: Tensor, places: Tensor, filled: Tensor) -> Tensor:
        """Pool (pieces, width) to (items, projection); ``places`` and ``filled`` are (items, longest)."""
        projected = self.projection(pieces)
        scores = self.attention(projected)[:, 0][places].masked_fill(~filled, _NOTHING)
        weights = torch.softmax(scores, dim=1)
        return torch.einsum("il,ilp->ip", weights, projected[places])


class EdgeProbe(nn.Module):
    """A label for one span, or for two: mix, a pooling of its own for each span, a net of two layers."""

    def __init__(
        self, layers: int, width: int, spans: int, labels: int, settings: ProbeSettings
    ) -> None:
        super().__init__()
        self.mix = LayerMix(layers)
        self.pooling = nn.ModuleList(SpanPooling(width, settings.projection) for _ in range(spans))
        self.classifier = nn.Sequential(
            nn.Linear(spans * settings.projection, settings.hidden),
            nn.Tanh(),
            nn.LayerNorm(settings.hidden),
            nn.Dropout(settings.dropout),
            nn.Linear(settings.hidden, labels),
        )

    def forward(self, spans: Sequence[tuple[Tensor, Tensor, Tensor]]) -> Tensor:
        """Return logits, (items, labels), from the states, places and filling of each span."""
        pooled = [
            pool(self.mix(states), places, filled)
            for pool, (states, places, filled) in zip(self.pooling, spans, strict=True)
        ]
        logits: Tensor = self.classifier(torch.cat(pooled, dim=1))
        return logits


@dataclass(frozen=True)
class ProbeResult:
    """A trained probe's figures.

    Attributes:
        accuracy: Percent of items by test set. Every item has one label and gets one, so that it is micro F1 too.
        dev: The same on English dev; ``None`` without.
        weights: The layers' weights.
        epoch: The epoch that was kept, from 1.
    """

    accuracy: dict[str, float]
    dev: float | None
    weights: tuple[float, ...]
    epoch: int


def train_probe(
    train: LabelledSpans,
    dev: LabelledSpans | None,
    tests: Mapping[str, LabelledSpans],
    layers: Sequence[int],
    labels: int,
    settings: ProbeSettings,
    progress: Progress,
) -> ProbeResult:
    """Train a probe on states of some layers, the encoder frozen, and test it.

    Args:
        train: Items to train on.
        dev: Items that choose the epoch.
        tests: Items by test set.
        layers: Layers that the probe mixes; a single one is read as it is, but for the scale.
        labels: Number of labels.
        settings: Sizes and hyperparameters.
        progress: Told of epochs done.

    Raises:
        InputError: There is nothing to train on.
    """
    if not len(train):
        raise InputError("no item to train a probe on", where="probing", mend="raise --limit-train")
    chosen = np.array(layers, np.int64)
    width, spans = train.activations.states.shape[2], train.spans.shape[1]

    def loss(probe: EdgeProbe, rows: npt.NDArray[np.int64]) -> Tensor:
        gold = torch.from_numpy(train.labels[rows])
        return nn.functional.cross_entropy(probe(_batch(train, rows, chosen)), gold)

    def score(probe: EdgeProbe) -> float | None:
        return None if dev is None else accuracy(probe, dev, chosen)

    probe, reached, epoch = fit(
        lambda: EdgeProbe(len(chosen), width, spans, labels, settings),
        len(train),
        loss,
        score,
        settings,
        progress,
    )
    return ProbeResult(
        {name: accuracy(probe, test, chosen) for name, test in tests.items()},
        reached,
        tuple(probe.mix.weights.tolist()),
        epoch,
    )


P = TypeVar("P", bound=nn.Module)


def fit(
    make: Callable[[], P],
    size: int,
    loss: Callable[[P, npt.NDArray[np.int64]], Tensor],
    score: Callable[[P], float | None],
    settings: ProbeSettings,
    progress: Progress,
    batch_size: int | None = None,
) -> tuple[P, float | None, int]:
    """Train a probe and keep its best epoch.

    Args:
        make: Makes the probe, which holds a ``LayerMix`` under ``mix``; weights are drawn by the settings' seed.
        size: Training items.
        loss: Of the items of some numbers.
        score: On dev, in percent; ``None`` keeps the last epoch.
        settings: Hyperparameters.
        progress: Told of epochs done.
        batch_size: Items a step; the settings' where absent.

    Returns:
        The probe, its score on dev, and the epoch, from 1.
    """
    with torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        probe = make()
        order = np.random.default_rng(settings.seed)
        optimizer = _optimizer(probe, settings)
        best: tuple[float | None, int, dict[str, Tensor]] | None = None
        progress.start(settings.epochs)
        for epoch in range(1, settings.epochs + 1):
            probe.train()
            for rows in _slices(order.permutation(size), batch_size or settings.batch_size):
                value = loss(probe, rows)
                optimizer.zero_grad()
                value.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
            reached = score(probe)
            if best is None or reached is None or best[0] is None or reached > best[0]:
                best = (reached, epoch, copy.deepcopy(probe.state_dict()))
            progress.advance(1)
    assert best is not None
    kept, epoch, weights = best
    probe.load_state_dict(weights)
    return probe, kept, epoch


def _optimizer(probe: nn.Module, settings: ProbeSettings) -> torch.optim.Optimizer:
    mix = [value for name, value in probe.named_parameters() if name.startswith("mix.")]
    rest = [value for name, value in probe.named_parameters() if not name.startswith("mix.")]
    groups: list[dict[str, Any]] = [
        {"params": rest},
        {"params": mix, "lr": settings.mix_learning_rate},
    ]
    return torch.optim.Adam(groups, lr=settings.learning_rate)


@torch.inference_mode()
def accuracy(
    probe: EdgeProbe, items: LabelledSpans, layers: npt.NDArray[np.int64], at_once: int = 512
) -> float:
    """Return the percentage of items whose likeliest label is theirs; 0 where there is none."""
    probe.eval()
    right = 0
    for rows in _slices(np.arange(len(items)), at_once):
        found = probe(_batch(items, rows, layers)).argmax(dim=1).numpy()
        right += int(np.sum(found == items.labels[rows]))
    return 100 * right / len(items) if len(items) else 0.0


def _slices(rows: npt.NDArray[np.int64], size: int) -> Iterator[npt.NDArray[np.int64]]:
    for at in range(0, len(rows), size):
        yield rows[at : at + size]


def _batch(
    items: LabelledSpans, rows: npt.NDArray[np.int64], layers: npt.NDArray[np.int64]
) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Return the states of each span's pieces, and where they stand in a padded (items, longest) grid."""
    starts = items.activations.word_starts
    parts = []
    for spans in items.spans[rows].transpose(1, 0, 2):
        first = starts[spans[:, 0]]
        sizes = starts[spans[:, 1]] - first
        pieces, at = np.unique(ranges(first, sizes), return_inverse=True)
        states = torch.from_numpy(items.activations.states[pieces][:, layers].astype(np.float32))
        filled = np.arange(int(sizes.max())) < sizes[:, None]
        places = np.zeros(filled.shape, np.int64)
        places[filled] = at
        parts.append((states, torch.from_numpy(places), torch.from_numpy(filled)))
    return parts


def majority(train: LabelledSpans, test: LabelledSpans) -> float:
    """Return what always answering the most frequent training label would score on a test set, in percent."""
    counts = np.bincount(train.labels[train.labels >= 0])
    return float(100 * np.mean(test.labels == counts.argmax())) if len(test) else 0.0


def centre_of_gravity(weights: Sequence[float], layers: Sequence[int]) -> float:
    """Return the mean layer by the mix's weights (Tenney et al. 2019, arXiv 1905.05950)."""
    return float(np.dot(weights, layers))
