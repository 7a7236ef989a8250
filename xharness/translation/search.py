"""Beam search over the model's own translations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from xharness.inference.device import Device
from xharness.translation.attention import KeysValues
from xharness.translation.batches import IntArray, padded
from xharness.translation.config import SearchSettings
from xharness.translation.modeling import TranslationModel
from xharness.translation.vocabulary import BEGIN, END, PAD, UNKNOWN


@dataclass(frozen=True)
class Hypothesis:
    """A translation that was found.

    Attributes:
        pieces: Its pieces, without begin and end.
        score: Log-probability of the pieces and the end in nats, divided by their number ** length exponent.
        cut: Whether it was as long as allowed, so that the end was forced.
    """

    pieces: tuple[int, ...]
    score: float
    cut: bool = False


def length_limit(settings: SearchSettings, source_pieces: int) -> int:
    """Return the most pieces of a translation, its end included, of so many source pieces."""
    return int(settings.length_factor * source_pieces) + settings.length_offset


def translate(
    model: TranslationModel,
    sources: Sequence[IntArray],
    settings: SearchSettings,
    device: Device,
) -> list[Hypothesis]:
    """Translate sentences in batches of similar length.

    Args:
        model: In evaluation mode.
        sources: Pieces of each sentence and the end.
        settings: How to search.
        device: Where the model is.

    Returns:
        The best hypothesis of each sentence, in their order.
    """
    order = sorted(range(len(sources)), key=lambda at: len(sources[at]))
    at_once = max(1, settings.rows // settings.beam)
    found: dict[int, Hypothesis] = {}
    for first in range(0, len(order), at_once):
        chosen = order[first : first + at_once]
        source = torch.from_numpy(padded([sources[at] for at in chosen])).to(device.torch)
        found.update(zip(chosen, beam_search(model, source, settings), strict=True))
    return [found[at] for at in range(len(sources))]


@dataclass
class _Sentence:
    """A sentence that is still searched.

    Attributes:
        place: Its place in the batch.
        limit: The most pieces of its translation, the end included.
        best: The best finished hypothesis.
        finished: How many there were.
    """

    place: int
    limit: int
    best: Hypothesis | None = None
    finished: int = field(default=0)

    def finish(self, hypothesis: Hypothesis) -> None:
        self.finished += 1
        if self.best is None or hypothesis.score > self.best.score:
            self.best = hypothesis


@torch.no_grad()
def beam_search(
    model: TranslationModel, source: Tensor, settings: SearchSettings
) -> list[Hypothesis]:
    """Translate a batch, (sentences, length), padded at the end.

    At each position the ``beam`` best of all extensions are looked at: those by the end are finished, and the best
    others go on. A sentence is done after ``beam`` finished hypotheses, or once no open one can score better. Special
    pieces but the end are never chosen.
    """
    lengths = (source != PAD).sum(1).tolist()
    sentences = [
        _Sentence(place, length_limit(settings, length)) for place, length in enumerate(lengths)
    ]
    found: list[Hypothesis] = [Hypothesis((), 0.0)] * len(sentences)
    memory = model.encode(source)
    beam = settings.beam
    scores = torch.full((len(sentences), beam), -torch.inf, device=source.device)
    scores[:, 0] = 0.0  # one empty hypothesis; the others never were
    history = torch.full((len(sentences), beam, 1), BEGIN, device=source.device)
    kept: list[KeysValues] | None = None
    position = 0
    while sentences:
        logits, kept = model.step(history[:, :, -1], position, kept, memory)
        total = scores[:, :, None] + _allowed(logits, sentences, position + 1)
        values, parents, pieces = _candidates(total, beam)
        ends = pieces == END
        _finish(sentences, values, parents, history, ends, beam, settings.length_exponent)
        # Of the first 2 x beam candidates at most beam are ends, one a hypothesis, so beam others are left.
        open_first = torch.argsort(ends.to(torch.uint8), dim=1, stable=True)[:, :beam]
        scores, parents, pieces = (part.gather(1, open_first) for part in (values, parents, pieces))
        scores = scores.masked_fill(ends.gather(1, open_first), -torch.inf)
        history = torch.cat(
            (history.gather(1, parents[:, :, None].expand_as(history)), pieces[:, :, None]), 2
        )
        position += 1
        done = _done(sentences, scores, settings, position)
        for sentence, over in zip(sentences, done, strict=True):
            if over:
                assert sentence.best is not None
                found[sentence.place] = sentence.best
        rows = (torch.arange(len(sentences), device=source.device)[:, None] * beam) + parents
        if any(done):
            going = torch.tensor([not over for over in done], device=source.device)
            sentences = [s for s, over in zip(sentences, done, strict=True) if not over]
            scores, history, rows = scores[going], history[going], rows[going]
            memory = memory.selected(going)
        kept = [layer.selected(rows.flatten()) for layer in kept]
    return found


def _allowed(logits: Tensor, sentences: Sequence[_Sentence], length: int) -> Tensor:
    """Return log-probabilities; where a translation must end with this piece, of the end alone."""
    log_probabilities = logits.log_softmax(-1)
    log_probabilities[:, :, [PAD, UNKNOWN, BEGIN]] = -torch.inf
    last = [number for number, sentence in enumerate(sentences) if sentence.limit <= length]
    if last:
        ends = log_probabilities[last, :, END]
        log_probabilities[last] = -torch.inf
        log_probabilities[last, :, END] = ends
    return log_probabilities


def _candidates(total: Tensor, beam: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the 2 x beam best extensions, best first: scores, hypotheses and pieces, each (sentences, 2 x beam)."""
    vocabulary = total.shape[-1]
    values, flat = total.flatten(1).topk(2 * beam, dim=1)
    return values, flat // vocabulary, flat % vocabulary


def _finish(
    sentences: Sequence[_Sentence],
    values: Tensor,
    parents: Tensor,
    history: Tensor,
    ends: Tensor,
    beam: int,
    exponent: float,
) -> None:
    """Keep what ends among the ``beam`` best extensions."""
    length = history.shape[2]  # the begin is there, the end is not yet
    ending = ends[:, :beam] & values[:, :beam].isfinite()
    for row, rank in ending.nonzero().tolist():
        sentence = sentences[row]
        pieces = tuple(history[row, parents[row, rank], 1:].tolist())
        score = float(values[row, rank]) / length**exponent
        sentence.finish(Hypothesis(pieces, score, cut=length == sentence.limit))


def _done(
    sentences: Sequence[_Sentence], scores: Tensor, settings: SearchSettings, position: int
) -> list[bool]:
    """Tell which sentences need no further piece."""
    best_open = scores.amax(1).tolist()
    done = []
    for sentence, log_probability in zip(sentences, best_open, strict=True):
        # A log-probability only falls, and is divided by at most this.
        reachable = log_probability / sentence.limit**settings.length_exponent
        beaten = sentence.best is not None and sentence.best.score >= reachable
        done.append(sentence.finished >= settings.beam or beaten or position >= sentence.limit)
    return done
