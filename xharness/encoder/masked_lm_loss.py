"""The masked-LM loss in chunks of rows, so that logits of all predictions never exist at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

#: Bytes that the logits of one chunk may take.
CHUNK_BYTES = 96 * 2**20


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Mean cross-entropy of ``states @ weight.T + bias``; gradients are formed in the forward pass.

    The softmax of a chunk is turned into the gradient of its logits in place and used at once, so a chunk's
    logits are computed once and one buffer serves all chunks.
    """

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, weight: Tensor, bias: Tensor, labels: Tensor, chunk_bytes: int
    ) -> tuple[Tensor, Tensor]:
        predictions, pieces = len(labels), len(weight)
        rows = max(1, min(predictions, chunk_bytes // (pieces * states.element_size())))
        wanted = any(ctx.needs_input_grad[:3])
        state_grad = torch.empty_like(states) if wanted else None
        weight_grad = torch.empty_like(weight) if wanted else None
        bias_grad = torch.zeros_like(bias, dtype=torch.float32) if wanted else None
        losses = states.new_empty(predictions, dtype=torch.float32)
        hits = torch.zeros((), dtype=torch.long, device=states.device)
        buffer = states.new_empty(rows, pieces)
        for start in range(0, predictions, rows):
            part, gold = states[start : start + rows], labels[start : start + rows]
            logits = torch.addmm(bias, part, weight.t(), out=buffer[: len(part)])
            at_gold = logits.gather(1, gold[:, None])
            peak = logits.amax(1, keepdim=True)
            hits += (at_gold == peak).sum()
            at_gold = (at_gold - peak)[:, 0].float()
            logits.sub_(peak).exp_()
            total = logits.sum(1, keepdim=True, dtype=torch.float32)
            losses[start : start + rows] = total[:, 0].log() - at_gold
            if weight_grad is None or state_grad is None or bias_grad is None:
                continue
            # Softmax minus one at the gold piece, over the number of predictions: the gradient of the mean.
            share = logits.mul_((1 / (predictions * total)).to(logits.dtype))
            share[torch.arange(len(part), device=share.device), gold] -= 1 / predictions
            torch.mm(share, weight, out=state_grad[start : start + rows])
            if start:
                weight_grad.addmm_(share.t(), part)
            else:
                torch.mm(share.t(), part, out=weight_grad)
            bias_grad += share.sum(0)
        ctx.save_for_backward(state_grad, weight_grad, bias_grad)
        ctx.mark_non_differentiable(hits)
        return losses.mean(), hits

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        state_grad, weight_grad, bias_grad = ctx.saved_tensors
        scale = grads[0]
        if scale != 1:
            state_grad, weight_grad = state_grad * scale, weight_grad * scale
            bias_grad = bias_grad * scale
        needed = ctx.needs_input_grad
        return (
            state_grad if needed[0] else None,
            weight_grad if needed[1] else None,
            bias_grad if needed[2] else None,
            None,
            None,
        )


def masked_lm_loss(
    states: Tensor, weight: Tensor, bias: Tensor, labels: Tensor, chunk_bytes: int = CHUNK_BYTES
) -> tuple[Tensor, Tensor]:
    """Return the mean cross-entropy in nats, and how many predictions were right.

    Args:
        states: What the head makes of the masked positions, (predictions, output_embedding_size).
        weight: Output embeddings, (vocabulary, output_embedding_size).
        bias: Of the pieces, (vocabulary,).
        labels: The masked pieces, (predictions,).
        chunk_bytes: What the logits of one chunk may take; less is slower.
    """
    apply: Callable[..., tuple[Tensor, Tensor]] = _ChunkedCrossEntropy.apply
    return apply(states, weight, bias, labels, chunk_bytes)
