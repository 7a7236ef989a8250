"""The score of each choice of an example, the same for training and prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from xharness.tasks.pieces import IndexArray


def choice_scores(model: Any, inputs: dict[str, torch.Tensor], choices: IndexArray) -> torch.Tensor:
    """Return the scores of some examples' choices, (examples, most choices), in float32.

    A multiple-choice head scores every window by itself, so each is given as the only choice of an example; that
    leaves the number of choices free, where the head itself wants the same for all.

    Args:
        model: A model with a multiple-choice head.
        inputs: The windows, each (windows, length), examples one after the other.
        choices: Number of choices of each example.

    Returns:
        The scores; minus infinity where an example has fewer choices than the one with the most.
    """
    output = model(**{name: tensor[:, None] for name, tensor in inputs.items()})
    scores = output.logits.float().flatten()  # (windows,)
    filled = torch.from_numpy(np.arange(choices.max()) < choices[:, None]).to(scores.device)
    rows = torch.full(filled.shape, -torch.inf, device=scores.device)
    return rows.masked_scatter(filled, scores)
