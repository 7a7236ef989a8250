"""From windows to decisions: classes, tags, spans and sentence vectors; batches change them by rounding alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch

from xharness.errors import InputError
from xharness.inference.batching import PADDING_SHARE, collate, length_batches
from xharness.inference.choice_scores import choice_scores
from xharness.inference.device import Device
from xharness.inference.needed_positions import only_needed
from xharness.inference.progress import Progress
from xharness.inference.streams import each_batch
from xharness.tasks.encoding import Encoding
from xharness.tasks.multiple_choice import ChoiceEncoding
from xharness.tasks.pair_classification import PairEncoding
from xharness.tasks.pieces import IndexArray
from xharness.tasks.question_answering import QuestionEncoding
from xharness.tasks.tagging import TaggingEncoding, batch_positions

Indices = npt.NDArray[np.int64]


#: Does what is to be done with the rows of one batch and its inputs.
Work = Callable[[IndexArray, dict[str, torch.Tensor]], None]


def _for_each_batch(
    model: Any, encoding: Encoding, device: Device, progress: Progress, work: Work
) -> None:
    model.eval()
    progress.start(len(encoding))
    pad_id = int(model.config.pad_token_id or 0)
    batches = length_batches(
        encoding.lengths, device.tokens, most_padding=device.tokens // PADDING_SHARE
    )

    def of(rows: IndexArray) -> None:
        work(rows, collate(encoding, rows, pad_id, device.torch))

    for rows in each_batch(device, batches, of):
        progress.advance(len(rows))


def _highest(logits: torch.Tensor) -> Indices:
    """Return the index of each row's highest logit, the first of equals.

    Raises:
        InputError: A row has a logit that is no number; it would otherwise pass for a decision.
    """
    logits = logits.float()
    # Padded choices are -inf, which is a number here; NaN is not.
    if bool(logits.isnan().any()):
        raise InputError(
            "the model's outputs are not numbers (NaN)",
            mend="check the checkpoint, or use --dtype float32",
        )
    highest: Indices = logits.argmax(dim=-1).cpu().numpy()
    return highest


def predict_classes(
    model: Any, encoding: PairEncoding, device: Device, progress: Progress
) -> Indices:
    """Return the class index of each pair, (pairs,)."""
    classes = np.empty(len(encoding), np.int64)
    with only_needed(model) as needed:

        def decide(rows: IndexArray, inputs: dict[str, torch.Tensor]) -> None:
            if needed.works:
                needed.first()
            with device.autocast():
                logits = model(**inputs).logits  # (batch, classes)
            classes[rows] = _highest(logits)

        _for_each_batch(model, encoding, device, progress, decide)
    return classes


def predict_choices(
    model: Any, encoding: ChoiceEncoding, device: Device, progress: Progress
) -> Indices:
    """Return the index of the chosen answer of each example, (examples,); the first of equals."""
    chosen = np.empty(len(encoding), np.int64)

    def decide(rows: IndexArray, inputs: dict[str, torch.Tensor]) -> None:
        with device.autocast():
            scores = choice_scores(model, inputs, encoding.choices[rows])
        chosen[rows] = _highest(scores)

    _for_each_batch(model, encoding, device, progress, decide)
    return chosen


def predict_tags(
    model: Any, encoding: TaggingEncoding, device: Device, progress: Progress
) -> Indices:
    """Return the tag index of each word, (words,), from the word's first piece."""
    tags = np.empty(len(encoding.labels), np.int64)
    with only_needed(model) as needed:

        def decide(rows: IndexArray, inputs: dict[str, torch.Tensor]) -> None:
            row, position, word = batch_positions(encoding, rows)
            at = torch.from_numpy(row), torch.from_numpy(position)
            if needed.works:
                needed.at(*at)
            with device.autocast():
                logits = model(**inputs).logits  # (1, words, tags), or (batch, length, tags)
            tags[word] = _highest(logits[0] if needed.works else logits[at])

        _for_each_batch(model, encoding, device, progress, decide)
    return tags


def predict_spans(
    model: Any,
    encoding: QuestionEncoding,
    device: Device,
    progress: Progress,
    *,
    n_best: int,
    max_answer_length: int,
) -> tuple[npt.NDArray[np.float32], Indices, Indices]:
    """Return each window's best span: score, first and last position in the window, each (windows,)."""
    scores = np.empty(len(encoding), np.float32)
    starts, ends = np.empty(len(encoding), np.int64), np.empty(len(encoding), np.int64)

    def decide(rows: IndexArray, inputs: dict[str, torch.Tensor]) -> None:
        with device.autocast():
            output = model(**inputs)
        allowed = _allowed_positions(encoding, rows, output.start_logits.shape[1])
        best = best_spans(
            output.start_logits.float(),
            output.end_logits.float(),
            *(torch.from_numpy(mask).to(device.torch) for mask in allowed),
            n_best=n_best,
            max_answer_length=max_answer_length,
        )
        scores[rows], starts[rows], ends[rows] = (tensor.cpu().numpy() for tensor in best)

    _for_each_batch(model, encoding, device, progress, decide)
    return scores, starts, ends


def _allowed_positions(
    encoding: QuestionEncoding, rows: IndexArray, length: int
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return masks (batch, length) of where an answer may start and end.

    Both must be context pieces; the start must be one that this window sees with maximum context.
    """
    at = np.arange(length)
    begin = encoding.context_at[rows][:, None]
    lengths = encoding.context_lengths[rows]
    context = (at >= begin) & (at < begin + lengths[:, None])
    before = np.concatenate([[0], np.cumsum(encoding.context_lengths)])
    start = np.zeros_like(context)
    for i, row in enumerate(rows.tolist()):
        span = slice(int(begin[i, 0]), int(begin[i, 0] + lengths[i]))
        start[i, span] = encoding.is_max_context[before[row] : before[row + 1]]
    return start, context


def best_spans(
    start_logits: torch.Tensor,
    end_logits: torch.Tensor,
    start_allowed: torch.Tensor,
    end_allowed: torch.Tensor,
    *,
    n_best: int,
    max_answer_length: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the best span of each window: score, start and end position, each (batch,).

    As in SQuAD's reference code the ``n_best`` starts are paired with the ``n_best`` ends, an end may not lie
    before its start, a span may not exceed ``max_answer_length`` pieces, and the highest sum of logits wins.
    Candidates are drawn from allowed positions only: the question and special tokens take no candidate's place.
    The score is ``-inf`` where no span is possible; logits that are not finite never win.

    Args:
        start_logits: (batch, length).
        end_logits: (batch, length).
        start_allowed: (batch, length).
        end_allowed: (batch, length).
        n_best: Candidates on each side.
        max_answer_length: Longest span, in pieces.
    """
    nothing = torch.finfo(torch.float32).min
    count = min(n_best, start_logits.shape[1])
    usable = start_allowed & start_logits.isfinite()
    start_score, start = start_logits.masked_fill(~usable, nothing).topk(count, dim=1)
    usable = end_allowed & end_logits.isfinite()
    end_score, end = end_logits.masked_fill(~usable, nothing).topk(count, dim=1)
    length = end[:, None, :] - start[:, :, None] + 1  # (batch, starts, ends)
    possible = (length >= 1) & (length <= max_answer_length)
    possible &= (start_score > nothing)[:, :, None] & (end_score > nothing)[:, None, :]
    sums = start_score[:, :, None] + end_score[:, None, :]
    score, flat = sums.masked_fill(~possible, -torch.inf).flatten(1).max(dim=1)
    rows = torch.arange(len(flat), device=flat.device)
    return score, start[rows, flat // count], end[rows, flat % count]


def embed_sentences(
    model: Any,
    encoding: Encoding,
    device: Device,
    progress: Progress,
    *,
    layer: int,
    pooling: Literal["mean", "first_token"],
    specials: tuple[int, int] = (0, 0),
) -> npt.NDArray[np.float32]:
    """Return a vector for each window, (windows, hidden), from one layer's output.

    Args:
        model: An encoder.
        encoding: The windows.
        device: Where it runs.
        progress: Told of windows done.
        layer: Hidden state to pool; 1 is the first block's output.
        pooling: Mean over the window, or its first token.
        specials: Special tokens at the beginning and end of a window that the mean leaves out.
    """
    vectors = np.empty((len(encoding), int(model.config.hidden_size)), np.float32)
    before, after = specials

    def embed(rows: IndexArray, inputs: dict[str, torch.Tensor]) -> None:
        with device.autocast():
            states = model(**inputs, output_hidden_states=True).hidden_states[layer].float()
        if pooling == "first_token":
            pooled = states[:, 0]
        else:
            mask = inputs["attention_mask"]
            lengths = mask.sum(dim=1, keepdim=True)
            at = torch.arange(mask.shape[1], device=mask.device)
            kept = (at >= before) & (at < lengths - after)
            weights = kept.to(states.dtype)[:, :, None]  # (batch, length, 1)
            pooled = (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
        vectors[rows] = pooled.cpu().numpy()

    _for_each_batch(model, encoding, device, progress, embed)
    return vectors
