"""The masked-LM loss in blocks, so that logits of all predictions over the whole vocabulary never exist at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Sizes:
    """How much is computed at once.

    Attributes:
        chunk: Bytes that the logits of one chunk of rows may take.
        block: Bytes of one block of a chunk. On a CPU a block stays in the cache from its product to its
            exponentials, and again from its scaling to the products of its gradients; on a GPU few large products
            are faster.
    """

    chunk: int
    block: int


CPU_SIZES = Sizes(chunk=160 * 2**20, block=5 * 2**19)
GPU_SIZES = Sizes(chunk=2**30, block=2**28)


def masked_lm_loss(
    states: Tensor,
    weight: Tensor,
    bias: Tensor,
    labels: Tensor,
    *,
    dtype: torch.dtype = torch.float32,
    sizes: Sizes | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the mean cross-entropy in nats, and how many predictions were right.

    A prediction is right if the masked piece has the largest logit, and of equal ones the lowest id, as ``argmax``
    has it; bfloat16 makes many equal. The loss of no predictions is 0.

    Args:
        states: What the head makes of the masked positions, (predictions, output_embedding_size).
        weight: Output embeddings, (vocabulary, output_embedding_size).
        bias: Of the pieces, (vocabulary,).
        labels: The masked pieces, (predictions,).
        dtype: Format of the logits and products; sums are kept in float32.
        sizes: How much is computed at once; smaller is slower.
    """
    sizes = sizes or (CPU_SIZES if states.device.type == "cpu" else GPU_SIZES)
    apply: Callable[..., tuple[Tensor, Tensor]] = _BlockedCrossEntropy.apply
    # What is computed here has its format already; autocast would convert operands once more.
    with torch.autocast(states.device.type, enabled=False):
        return apply(states, weight, bias, labels, dtype, sizes)


@dataclass(frozen=True)
class _Block:
    """Logits of a chunk of rows for a stretch of the vocabulary, (rows, pieces); later their gradient."""

    logits: Tensor
    first: int

    @property
    def pieces(self) -> slice:
        return slice(self.first, self.first + self.logits.shape[1])


def _blocks(buffer: Tensor, rows: int, vocabulary: int, size: int) -> Iterator[_Block]:
    """Cut a flat buffer into the contiguous blocks of one chunk."""
    width = max(1, size // (rows * buffer.element_size()))
    for first in range(0, vocabulary, width):
        last = min(first + width, vocabulary)
        yield _Block(buffer[first * rows : last * rows].view(rows, last - first), first)


class _BlockedCrossEntropy(torch.autograd.Function):
    """Mean cross-entropy of ``states @ weight.T + bias``; gradients are formed in the forward pass.

    Each logit is computed once. A first pass over the vocabulary leaves exp(logit - the block's largest) in a buffer
    and sums it; a second pass makes the gradients of that: the softmax, less one at the gold piece.
    """

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        weight: Tensor,
        bias: Tensor,
        labels: Tensor,
        dtype: torch.dtype,
        sizes: Sizes,
    ) -> tuple[Tensor, Tensor]:
        predictions, vocabulary = len(labels), len(weight)
        most = max(1, sizes.chunk // (vocabulary * dtype.itemsize))
        chunks = max(1, -(-predictions // most))
        rows = max(1, -(-predictions // chunks))
        gradients = None
        if any(ctx.needs_input_grad[:3]):
            gradients = _Gradients(
                torch.zeros_like(states, dtype=torch.float32),
                torch.empty_like(weight) if predictions else torch.zeros_like(weight),
                torch.zeros_like(bias),
            )
        losses = torch.empty(predictions, dtype=torch.float32, device=states.device)
        hits = torch.zeros((), dtype=torch.long, device=states.device)
        buffer = torch.empty(rows * vocabulary, dtype=dtype, device=states.device)
        for start in range(0, predictions, rows):
            part = states[start : start + rows].to(dtype)
            gold = labels[start : start + rows]
            blocks = list(_blocks(buffer, len(part), vocabulary, sizes.block))
            found = _exponentials(blocks, part, weight, bias, gold)
            peak = found.peaks.amax(0)
            scales = (found.peaks - peak).exp_()
            total = (scales * found.sums).sum(0)
            losses[start : start + rows] = total.log() + peak - found.at_gold
            hits += found.right.sum()
            if gradients is not None:
                shares = scales / (predictions * total)
                gradients.add(blocks, part, weight, shares, start)
        if gradients is not None and predictions:
            gradients.subtract_gold(states, weight, labels)
        ctx.gradients = gradients
        ctx.states_dtype = states.dtype
        ctx.mark_non_differentiable(hits)
        return losses.sum() / max(1, predictions), hits

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        gradients, ctx.gradients = ctx.gradients, None
        scale = grads[0]
        parts = (gradients.states.to(ctx.states_dtype), gradients.weight, gradients.bias)
        scaled = [part if scale == 1 else part.mul_(scale) for part in parts]
        pairs = zip(scaled, ctx.needs_input_grad[:3], strict=True)
        return (*(part if needed else None for part, needed in pairs), None, None, None)


@dataclass(frozen=True)
class _Found:
    """What the first pass over a chunk finds, beside what it leaves in the blocks.

    Attributes:
        peaks: The rows' largest logits, (blocks, rows).
        sums: Of exp(logit - peak), (blocks, rows).
        at_gold: The gold pieces' logits, (rows,).
        right: Whether the gold piece is the first with the largest logit of all, (rows,).
    """

    peaks: Tensor
    sums: Tensor
    at_gold: Tensor
    right: Tensor


def _exponentials(
    blocks: list[_Block], states: Tensor, weight: Tensor, bias: Tensor, gold: Tensor
) -> _Found:
    """Fill the blocks with exp(logit - the row's largest of the block)."""
    shape = (len(blocks), len(states))
    peaks = torch.empty(shape, dtype=torch.float32, device=states.device)
    sums, at_gold = torch.empty_like(peaks), torch.empty_like(peaks[0])
    leads = torch.zeros(len(states), dtype=torch.bool, device=states.device)  # in its own block
    columns = torch.arange(blocks[0].logits.shape[1], device=states.device)
    for number, (block, (rows, pieces)) in enumerate(
        zip(blocks, _located(blocks, gold), strict=True)
    ):
        logits = block.logits
        torch.mm(states, weight[block.pieces].to(states.dtype).t(), out=logits)
        logits += bias[block.pieces]
        at_gold[rows] = logits[rows, pieces].float()
        peak = logits.amax(1, keepdim=True)
        peaks[number] = peak[:, 0]
        level = at_gold[rows] == peaks[number, rows]
        tied = rows[level]
        # Whether an equal one comes before it; argmax itself takes ten times as long.
        equal = logits[tied] == peak[tied]
        leads[tied] = ~(equal & (columns[: logits.shape[1]] < pieces[level, None])).any(1)
        torch.sum(logits.sub_(peak).exp_(), 1, dtype=torch.float32, out=sums[number])
    first = peaks.argmax(0) == gold // blocks[0].logits.shape[1]
    return _Found(peaks, sums, at_gold, leads & first)


def _located(blocks: list[_Block], gold: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Return, for each block, the rows whose gold piece it holds, and where in the block that is."""
    width = blocks[0].logits.shape[1]
    order = torch.argsort(gold)
    counts = torch.bincount(gold // width, minlength=len(blocks)).tolist()
    rows = torch.split(order, counts)
    return [(found, gold[found] - block.first) for block, found in zip(blocks, rows, strict=True)]


@dataclass
class _Gradients:
    """Gradients of the mean loss, summed over chunks in float32."""

    states: Tensor
    weight: Tensor
    bias: Tensor

    def add(
        self,
        blocks: list[_Block],
        states: Tensor,
        weight: Tensor,
        shares: Tensor,
        start: int,
    ) -> None:
        """Add the softmax's part for one chunk, which begins at row ``start``.

        ``shares``, (blocks, rows), make the softmax, over the number of predictions, of a block's exponentials. They
        scale the narrow factors and results of the products, not the wide blocks.
        """
        target = self.states[start : start + len(states)]
        for block, share in zip(blocks, shares, strict=True):
            pieces, exponentials = block.pieces, block.logits
            column = share[:, None]
            product = torch.mm(exponentials, weight[pieces].to(states.dtype))
            target.addcmul_(product.float(), column)
            scaled = (states * column).to(states.dtype)
            self.bias[pieces] += torch.mv(exponentials.t(), share.to(states.dtype))
            if states.dtype == torch.float32:
                self.weight[pieces].addmm_(exponentials.t(), scaled, beta=1 if start else 0)
            elif start:
                self.weight[pieces] += torch.mm(exponentials.t(), scaled)
            else:
                self.weight[pieces] = torch.mm(exponentials.t(), scaled)

    def subtract_gold(self, states: Tensor, weight: Tensor, labels: Tensor) -> None:
        """Take off what the gold pieces' own logits add: one over the number of predictions each."""
        share = 1 / len(labels)
        self.states.sub_(weight[labels], alpha=share)
        self.weight.index_add_(0, labels, states.float(), alpha=-share)
        self.bias.index_add_(
            0, labels, torch.ones_like(states[:, 0], dtype=torch.float32), alpha=-share
        )
