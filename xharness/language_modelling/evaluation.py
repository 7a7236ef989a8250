"""Perplexity of a language model on a text, read from its beginning to its end with the state carried along."""

from __future__ import annotations

import torch

from xharness.language_modelling.model import LanguageModel
from xharness.language_modelling.perplexity import Perplexity
from xharness.language_modelling.sequence_models import State
from xharness.language_modelling.streams import cut_streams
from xharness.language_modelling.words import Ids

#: Words that an LSTM reads at one time; with the state carried, their number does not change what it finds.
_LSTM_WINDOW = 256


@torch.no_grad()
def evaluate(model: LanguageModel, ids: Ids, end_id: int, *, streams: int = 1) -> Perplexity:
    """Return the perplexity of a text, in float32 and without dropout.

    Args:
        model: The model; it is left in training mode if it was.
        ids: The text, (words,).
        end_id: Number of ``<eos>``, which stands before the first word.
        streams: Parts read side by side. One is the text as it stands; more are faster, but begin each part without
            what comes before it, and leave out fewer than ``streams`` words at the end.
    """
    cut = cut_streams(ids, streams, end_id)
    settings = model.config
    window = settings.training.window if settings.model.kind == "transformer" else _LSTM_WINDOW
    device = next(model.parameters()).device
    was_training = model.training
    model.eval()
    state: State | None = None
    loss = 0.0
    with model.input.cached(model.vocabulary):
        for part in cut.windows(window):
            inputs, targets = (
                torch.from_numpy(one).to(device) for one in (part.inputs, part.targets)
            )
            found, state = model(inputs, targets, state)
            loss += float(found)
    model.train(was_training)
    return Perplexity(loss, cut.targets.size)
