"""Translation retrieval layer by layer, as in RemBERT's section 6.3 and appendix A.9 (arXiv 2010.12821)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt
import torch

from xharness.analysis.encoders import OpenedEncoder, layer_states
from xharness.errors import InputError
from xharness.inference.device import Device
from xharness.inference.memory import with_less_memory
from xharness.inference.progress import Progress
from xharness.specs.recipe import Settings
from xharness.tasks.encoding import Encoding
from xharness.tasks.retrieval import BLOCK, encode_sentences, first_of_equal

Vectors = npt.NDArray[np.floating]

#: The layers of RemBERT's 12 between which the slope is taken.
_FIRST_UPPER, _LAST_UPPER, _DEPTH = 7, 11, 12


@dataclass(frozen=True)
class LayerAccuracies:
    """Retrieval between two languages.

    Attributes:
        pairs: Sentence pairs searched through.
        accuracies: Percent by layer; entry 0 is the first block's input, entry ``l`` the output of block ``l``.
        counts: Sentences cut, and sentences without a piece, whose vector is zero.
    """

    pairs: int
    accuracies: tuple[float, ...]
    counts: Counter[str]


def retrieve(
    encoder: OpenedEncoder,
    queries: Sequence[str],
    targets: Sequence[str],
    settings: Settings,
    progress: Progress,
) -> LayerAccuracies:
    """Search each sentence's translation at every layer.

    The states of all layers lie in a file while they are needed, not in memory.

    Args:
        encoder: The encoder.
        queries: English sentences.
        targets: Their translations, in the same order.
        settings: For ``max_length``.
        progress: Told of sentences done.

    Raises:
        InputError: The sides differ in length, or states are not finite.
    """
    if len(queries) != len(targets) or not queries:
        raise InputError(
            f"{len(queries)} sentences and {len(targets)} translations",
            where="retrieval",
            mend="both sides need one sentence a pair",
        )
    texts = list(dict.fromkeys((*queries, *targets)))
    index = {text: i for i, text in enumerate(texts)}
    encoding = encode_sentences(texts, encoder.pieces, settings)
    before, after = map(len, encoder.pieces.template.single)
    counts = Counter(encoding.counts)
    counts["sentences_without_pieces"] = int(np.sum(encoding.lengths <= before + after))
    with TemporaryDirectory(prefix="xharness-") as folder:
        shape = (encoder.layers + 1, len(texts), encoder.width)
        vectors = np.lib.format.open_memmap(
            Path(folder) / "means.npy", mode="w+", dtype=np.float32, shape=shape
        )

        def work(device: Device) -> None:
            _fill_means(vectors, encoder, encoding, device, progress, (before, after))

        _, counts["memory_halvings"] = with_less_memory(encoder.device, work)
        at, to = ([index[text] for text in side] for side in (queries, targets))
        gold = first_of_equal(targets)
        accuracies = tuple(accuracy(layer[at], layer[to], gold) for layer in vectors)
    return LayerAccuracies(len(queries), accuracies, +counts)


def _fill_means(
    vectors: npt.NDArray[np.float32],
    encoder: OpenedEncoder,
    encoding: Encoding,
    device: Device,
    progress: Progress,
    specials: tuple[int, int],
) -> None:
    """Put the mean of each sentence's states, special tokens left out, into (layers + 1, sentences, width)."""
    before, after = specials
    for rows, inputs, states in layer_states(encoder, encoding, device, progress):
        mask = inputs["attention_mask"]
        at = torch.arange(mask.shape[1], device=mask.device)
        kept = (at >= before) & (at < mask.sum(dim=1, keepdim=True) - after)
        weights = kept[:, :, None].float()  # (batch, length, 1)
        sizes = weights.sum(dim=1).clamp(min=1)
        for layer, state in enumerate(states):
            mean = (state.float() * weights).sum(dim=1) / sizes
            vectors[layer, rows] = mean.cpu().numpy()


def accuracy(queries: Vectors, targets: Vectors, gold: npt.NDArray[np.int64]) -> float:
    """Return the share of queries, in percent, whose nearest target is their translation.

    The mean difference of all pairs is added to each query; the nearest target is that of least Euclidean distance.

    Args:
        queries: (pairs, width).
        targets: (pairs, width), row ``i`` the translation of query ``i``.
        gold: For each pair the first target that is the same sentence as its own: equal sentences count as one.

    Raises:
        InputError: A vector is not finite.
    """
    source, target = queries.astype(np.float64), targets.astype(np.float64)
    if not (np.isfinite(source).all() and np.isfinite(target).all()):
        raise InputError(
            "states are not finite", where="sentence vectors", mend="use --dtype float32"
        )
    moved = source + (target - source).mean(axis=0)
    squares = np.square(target).sum(axis=1)
    found = np.concatenate(
        [
            # The query's own square is the same for all targets.
            np.argmin(squares - 2 * (moved[at : at + BLOCK] @ target.T), axis=1)
            for at in range(0, len(moved), BLOCK)
        ]
    )
    return float(100 * np.mean(gold[found] == gold))


def upper_layers(layers: int) -> range:
    """Return the layers that are to a model's depth what 7 to 11 are to RemBERT's 12."""
    return range(max(layers * _FIRST_UPPER // _DEPTH, 1), layers * _LAST_UPPER // _DEPTH + 1)


def upper_slope(accuracies: Sequence[float]) -> float | None:
    """Return the least-squares slope over the upper layers, in points per twelfth of the depth.

    Args:
        accuracies: By layer, from layer 0.

    Returns:
        The slope; for 12 layers, points per layer. ``None`` where there are fewer than two upper layers.
    """
    layers = len(accuracies) - 1
    upper = list(upper_layers(layers))
    if len(upper) < 2:
        return None
    slope = np.polyfit(upper, [accuracies[layer] for layer in upper], 1)[0]
    return float(slope * layers / _DEPTH)
