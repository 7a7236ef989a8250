"""The probe that finds heads: of all words of a sentence and the root, the likeliest head of each word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from xharness.analysis.activations import Activations
from xharness.analysis.probe import LayerMix, ProbeResult, ProbeSettings, SpanPooling, fit
from xharness.errors import InputError
from xharness.inference.progress import Progress


@dataclass(frozen=True)
class HeadedSentences:
    """Sentences with the states of their pieces and the heads of their words.

    Attributes:
        activations: The states.
        word_starts: Sentence ``i`` has the words ``word_starts[i]:word_starts[i + 1]``.
        heads: Head of each word, counted in its sentence from 1; 0 is the root, -1 unknown, which is passed over.
    """

    activations: Activations
    word_starts: npt.NDArray[np.int64]
    heads: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.word_starts) - 1

    def of(self, sentence: int) -> npt.NDArray[np.int64]:
        """Return the heads of one sentence's words."""
        return self.heads[self.word_starts[sentence] : self.word_starts[sentence + 1]]


class HeadProbe(nn.Module):
    """A score for each word as the head of each other one: mix, a pooling for either role, a net of two layers."""

    def __init__(self, layers: int, width: int, settings: ProbeSettings) -> None:
        super().__init__()
        self.mix = LayerMix(layers)
        self.as_dependent = SpanPooling(width, settings.projection)
        self.as_head = SpanPooling(width, settings.projection)
        self.root = nn.Parameter(torch.zeros(1, settings.projection))
        # The first layer of a net over both vectors, side by side, is a sum of two maps.
        self.of_dependent = nn.Linear(settings.projection, settings.hidden)
        self.of_head = nn.Linear(settings.projection, settings.hidden, bias=False)
        self.score = nn.Linear(settings.hidden, 1)

    def forward(self, states: Tensor, places: Tensor, filled: Tensor) -> Tensor:
        """Return scores, (words, words + 1), the root in column 0; a word is never its own head.

        Args:
            states: Of the sentence's pieces, (pieces, layers, width).
            places: Pieces of each word, (words, longest).
            filled: Which of those are there.
        """
        mixed = self.mix(states)
        dependents = self.of_dependent(self.as_dependent(mixed, places, filled))
        heads = torch.cat([self.root, self.as_head(mixed, places, filled)])
        hidden = torch.tanh(dependents[:, None] + self.of_head(heads)[None])
        scores = self.score(hidden)[:, :, 0]
        itself = torch.arange(len(places))
        mask = torch.zeros(scores.shape, dtype=torch.bool)
        mask[itself, itself + 1] = True
        allowed: Tensor = scores.masked_fill(mask, torch.finfo(torch.float32).min)
        return allowed


def train_head_probe(
    train: HeadedSentences,
    dev: HeadedSentences | None,
    tests: Mapping[str, HeadedSentences],
    layers: Sequence[int],
    settings: ProbeSettings,
    progress: Progress,
) -> ProbeResult:
    """Train and test a probe, as ``train_probe`` does.

    Returns:
        Its figures; the accuracy is the unlabelled attachment score over all words, punctuation included, each word
        on its own: nothing makes a tree of the answers.

    Raises:
        InputError: There is no word with a head to train on.
    """
    if not np.any(train.heads >= 0):
        raise InputError("no word with a head to train a probe on", where="probing")
    chosen = np.array(layers, np.int64)
    taught = [i for i in range(len(train)) if np.any(train.of(i) >= 0)]

    def loss(probe: HeadProbe, rows: npt.NDArray[np.int64]) -> Tensor:
        (row,) = rows.tolist()
        gold = torch.from_numpy(train.of(taught[row]))
        scores = probe(*_sentence(train, taught[row], chosen))
        return nn.functional.cross_entropy(scores, gold, ignore_index=-1)

    def score(probe: HeadProbe) -> float | None:
        return None if dev is None else attachment(probe, dev, chosen)

    width = train.activations.states.shape[2]
    probe, reached, epoch = fit(
        lambda: HeadProbe(len(chosen), width, settings),
        len(taught),
        loss,
        score,
        settings,
        progress,
        batch_size=1,  # a sentence: an item for each of its words
    )
    return ProbeResult(
        {name: attachment(probe, test, chosen) for name, test in tests.items()},
        reached,
        tuple(probe.mix.weights.tolist()),
        epoch,
    )


@torch.inference_mode()
def attachment(probe: HeadProbe, items: HeadedSentences, layers: npt.NDArray[np.int64]) -> float:
    """Return the percentage of words with a known head that get it; 0 where there is none."""
    probe.eval()
    right = known = 0
    for sentence in range(len(items)):
        gold = items.of(sentence)
        if not len(gold):
            continue
        found = probe(*_sentence(items, sentence, layers)).argmax(dim=1).numpy()
        right += int(np.sum((found == gold) & (gold >= 0)))
        known += int(np.sum(gold >= 0))
    return 100 * right / known if known else 0.0


def _sentence(
    items: HeadedSentences, sentence: int, layers: npt.NDArray[np.int64]
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the states of a sentence's pieces, and each word's places among them, padded."""
    first, last = items.word_starts[sentence], items.word_starts[sentence + 1]
    starts = items.activations.word_starts[first : last + 1]
    states = items.activations.states[starts[0] : starts[-1]][:, layers]
    sizes = np.diff(starts)
    filled = np.arange(int(sizes.max())) < sizes[:, None]
    places = np.zeros(filled.shape, np.int64)
    places[filled] = np.arange(int(sizes.sum()))
    return (
        torch.from_numpy(states.astype(np.float32)),
        torch.from_numpy(places),
        torch.from_numpy(filled),
    )


def frequent_offset(train: HeadedSentences, test: HeadedSentences) -> float:
    """Return what attaching each word at the distance most frequent in training would score, in percent.

    The root counts as a distance of its own.
    """
    offsets, wanted = (
        [
            None if head == 0 else int(head) - number
            for sentence in range(len(items))
            for number, head in enumerate(items.of(sentence).tolist(), 1)
            if head >= 0
        ]
        for items in (train, test)
    )
    if not offsets or not wanted:
        return 0.0
    ((most, _),) = Counter(offsets).most_common(1)
    return 100 * sum(offset == most for offset in wanted) / len(wanted)
