"""The masked-LM loss in blocks: the value and gradients of full logits, which it never holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import RemBertConfig, RemBertForMaskedLM

from tests.encoder.tiny_models import filled, tiny_config
from xharness.encoder import DecoupledForMaskedLM
from xharness.encoder.masked_lm_loss import CPU_SIZES, GPU_SIZES, Sizes, masked_lm_loss


@dataclass(frozen=True)
class Problem:
    """Inputs of the loss."""

    states: Tensor
    weight: Tensor
    bias: Tensor
    labels: Tensor

    @property
    def leaves(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.states, self.weight, self.bias


def problem(
    predictions: int, vocabulary: int, width: int, scale: float = 1.0, seed: int = 0
) -> Problem:
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape: int) -> Tensor:
        return (scale * torch.randn(shape, generator=generator)).requires_grad_()

    labels = torch.randint(0, vocabulary, (predictions,), generator=generator)
    return Problem(drawn(predictions, width), drawn(vocabulary, width), drawn(vocabulary), labels)


def solved(loss: Tensor, leaves: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Return the loss and the gradients of the leaves."""
    return (loss.detach(), *torch.autograd.grad(loss, leaves))


def in_double(given: Problem) -> tuple[Tensor, ...]:
    """Return loss and gradients by torch's own cross-entropy on full logits, in double precision."""
    leaves = tuple(leaf.detach().double().requires_grad_() for leaf in given.leaves)
    states, weight, bias = leaves
    return solved(cross_entropy(states @ weight.t() + bias, given.labels), leaves)


def in_blocks(given: Problem, **options: Any) -> tuple[Tensor, ...]:
    loss, _ = masked_lm_loss(*given.leaves, given.labels, **options)
    return solved(loss, given.leaves)


def hits(given: Problem, **options: Any) -> int:
    return int(masked_lm_loss(*given.leaves, given.labels, **options)[1])


@settings(max_examples=60)
@example(predictions=1, vocabulary=9, width=9, scale=4.0, chunk=1, block=16, seed=1338)
@given(
    predictions=st.integers(1, 30),
    vocabulary=st.integers(1, 50),
    width=st.integers(1, 9),
    scale=st.sampled_from([0.0, 0.1, 1.0, 4.0]),
    chunk=st.integers(1, 8000),
    block=st.integers(1, 8000),
    seed=st.integers(0, 2**32),
)
def test_sizes_do_not_matter(
    predictions: int, vocabulary: int, width: int, scale: float, chunk: int, block: int, seed: int
) -> None:
    """Loss, gradients and hits are those of double precision, whatever is computed at once."""
    given = problem(predictions, vocabulary, width, scale, seed)
    sizes = Sizes(chunk, block)
    # Logits are products of two factors of this scale, and their rounding is that of the probabilities.
    atol = 2e-6 * (1 + scale**2)
    for found, expected in zip(in_blocks(given, sizes=sizes), in_double(given), strict=True):
        assert_close(found.double(), expected, atol=atol, rtol=2e-5)
    assert hits(given, sizes=sizes) == hits(given)


@pytest.mark.parametrize("sizes", [None, CPU_SIZES, GPU_SIZES, Sizes(2**16, 2**12)], ids=str)
def test_accuracy_of_single_precision(sizes: Sizes | None) -> None:
    """As close to double precision as torch's own loss in single precision, within a factor of four."""
    given = problem(150, 1000, 24, 1.0)
    exact = in_double(given)
    states, weight, bias = given.leaves
    plain = solved(cross_entropy(states @ weight.t() + bias, given.labels), given.leaves)
    for found, torchs, expected in zip(in_blocks(given, sizes=sizes), plain, exact, strict=True):
        own = (found.double() - expected).abs().max()
        assert own <= 4 * (torchs.double() - expected).abs().max() + 1e-7


def test_of_large_logits() -> None:
    """exp of 300 is no single-precision number; a model that is sure has a loss and a gradient of 0."""
    states = torch.tensor([[300.0], [300.0]], requires_grad=True)
    weight = torch.tensor([[1.0], [-1.0], [0.0]], requires_grad=True)
    bias = torch.zeros(3, requires_grad=True)
    sure = Problem(states, weight, bias, torch.tensor([0, 0]))
    assert [float(part.abs().max()) for part in in_blocks(sure)] == [0.0, 0.0, 0.0, 0.0]
    wrong = Problem(states, weight, bias, torch.tensor([1, 1]))
    loss, *gradients = in_blocks(wrong)
    assert float(loss) == 600.0
    assert gradients[2].tolist() == [1.0, -1.0, 0.0]


def test_by_hand() -> None:
    """Logits (0, ln 3) and (ln 3, 0): probabilities of a quarter and three quarters."""
    three = float(torch.tensor(3.0).log())
    given = Problem(
        torch.tensor([[0.0, 1.0], [1.0, 0.0]], requires_grad=True),
        torch.tensor([[0.0, three], [three, 0.0]], requires_grad=True)
        .flip(0)
        .detach()
        .requires_grad_(),
        torch.zeros(2, requires_grad=True),
        torch.tensor([1, 1]),
    )
    loss, _, _, bias = in_blocks(given)
    assert float(loss) == pytest.approx(
        (torch.tensor(4 / 3).log() + torch.tensor(4.0).log()).item() / 2
    )
    assert bias.tolist() == pytest.approx([(0.25 + 0.75) / 2, (0.75 - 1 + 0.25 - 1) / 2])
    assert hits(given) == 1


@pytest.mark.parametrize("sizes", [None, Sizes(400, 60)], ids=["at once", "in blocks"])
def test_a_right_prediction_is_what_argmax_gives(sizes: Sizes | None) -> None:
    """Of equal logits the first counts: here all are small whole numbers, so that most rows have equal ones."""
    generator = torch.Generator().manual_seed(3)
    states = torch.randint(-1, 2, (400, 3), generator=generator).float()
    weight = torch.randint(-1, 2, (40, 3), generator=generator).float()
    labels = (states @ weight.t()).argmax(1)
    given = Problem(states, weight, torch.zeros(40), labels)
    assert hits(given, sizes=sizes) == 400
    last = 39 - (states @ weight.t()).flip(1).argmax(1)
    assert (last == labels).sum() < 200
    given = Problem(states, weight, torch.zeros(40), last)
    assert hits(given, sizes=sizes) == int((last == labels).sum())
    assert hits(given, sizes=sizes, dtype=torch.bfloat16) == int((last == labels).sum())


def test_of_no_predictions() -> None:
    """A micro-batch may have none, where the tokenizer knows no token of its rows."""
    loss, *gradients = in_blocks(problem(0, 7, 3))
    assert float(loss) == 0.0
    assert [gradient.shape for gradient in gradients] == [(0, 3), (7, 3), (7,)]
    assert all((gradient == 0).all() for gradient in gradients)
    assert hits(problem(0, 7, 3)) == 0


@pytest.mark.parametrize("factor", [0.25, 3.0])
def test_scaled(factor: float) -> None:
    """As a micro-batch's share of the batch scales it."""
    given = problem(11, 20, 5)
    loss, _ = masked_lm_loss(*given.leaves, given.labels)
    scaled = torch.autograd.grad(factor * loss, given.leaves)
    for found, expected in zip(scaled, in_double(given)[1:], strict=True):
        assert_close(found.double(), factor * expected, atol=1e-6, rtol=1e-5)


def test_without_gradients() -> None:
    given = problem(11, 20, 5)
    with torch.no_grad():
        loss, _ = masked_lm_loss(*given.leaves, given.labels)
    assert not loss.requires_grad
    assert_close(loss.double(), in_double(given)[0], atol=1e-6, rtol=1e-6)


def test_a_part_alone_is_trained() -> None:
    """A frozen matrix gets no gradient, the states theirs."""
    given = problem(11, 20, 5)
    frozen = given.weight.detach()
    loss, _ = masked_lm_loss(given.states, frozen, given.bias, given.labels)
    torch.autograd.backward(loss)
    assert frozen.grad is None
    _, states, _, bias = in_double(given)
    assert given.states.grad is not None
    assert given.bias.grad is not None
    assert_close(given.states.grad.double(), states, atol=1e-6, rtol=1e-5)
    assert_close(given.bias.grad.double(), bias, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("sizes", [None, Sizes(2**15, 2**11)], ids=["at once", "in blocks"])
def test_bfloat16(sizes: Sizes | None) -> None:
    """Eight bits of precision: a loss within a hundredth, gradients that point the same way, all in float32."""
    given = problem(200, 1000, 24, 0.4)
    found, exact = in_blocks(given, dtype=torch.bfloat16, sizes=sizes), in_double(given)
    assert float(found[0]) == pytest.approx(float(exact[0]), rel=0.01)
    for own, expected in zip(found[1:], exact[1:], strict=True):
        assert own.dtype == torch.float32
        cosine = torch.nn.functional.cosine_similarity(
            own.double().flatten(), expected.flatten(), dim=0
        )
        assert cosine > 0.9995
        assert float(own.norm() / expected.norm()) == pytest.approx(1, abs=0.005)


# -- against transformers ---------------------------------------------------------------------------------


@contextmanager
def gradients_of(model: torch.nn.Module) -> Iterator[dict[str, Tensor]]:
    found: dict[str, Tensor] = {}
    model.zero_grad()
    yield found
    found |= {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("sizes", [None, Sizes(3000, 400)], ids=["at once", "in blocks"])
def test_as_transformers_rembert(monkeypatch: pytest.MonkeyPatch, sizes: Sizes | None) -> None:
    """The same weights, rows and masks: the same loss and the same gradient of every weight, to 1e-5."""
    if sizes is not None:
        monkeypatch.setattr("xharness.encoder.masked_lm_loss.CPU_SIZES", sizes)
    config = tiny_config(input_projection=True, hidden_dropout_prob=0.0)
    ours = filled(DecoupledForMaskedLM(config)).train()
    theirs = RemBertForMaskedLM(
        RemBertConfig(
            vocab_size=config.vocab_size,
            hidden_size=config.hidden_size,
            num_hidden_layers=config.num_hidden_layers,
            num_attention_heads=config.num_attention_heads,
            intermediate_size=config.intermediate_size,
            input_embedding_size=config.input_embedding_size,
            output_embedding_size=config.output_embedding_size,
            max_position_embeddings=config.max_position_embeddings,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
    ).train()
    missing = theirs.load_state_dict(ours.state_dict(), strict=False)
    assert not missing.unexpected_keys
    assert {name.split(".")[-1] for name in missing.missing_keys} <= {"position_ids"}
    generator = torch.Generator().manual_seed(7)
    ids = torch.randint(1, config.vocab_size, (4, 12), generator=generator)
    positions = torch.tensor([1, 5, 13, 14, 30, 47])
    labels = torch.randint(1, config.vocab_size, (6,), generator=generator)
    everywhere = torch.full((48,), -100)
    everywhere[positions] = labels
    with gradients_of(ours) as own:
        loss, right = ours.loss_at(ids, positions, labels)
        loss.backward()
    with gradients_of(theirs) as expected:
        output = theirs(input_ids=ids, labels=everywhere.view(4, 12))
        output.loss.backward()
    assert float(loss.detach()) == pytest.approx(float(output.loss.detach()), abs=1e-5)
    predicted = output.logits.flatten(0, 1)[positions].argmax(1)
    assert int(right) == int((predicted == labels).sum())
    assert own.keys() == expected.keys()
    for name, gradient in own.items():
        assert_close(gradient, expected[name], atol=1e-5, rtol=1e-5, msg=name)


def test_a_shared_matrix_gets_both_gradients() -> None:
    """Coupled embeddings: what the matrix gets as input and as output adds up."""
    config = tiny_config(coupling="coupled", output_embedding_size=None)
    model = filled(DecoupledForMaskedLM(config)).train()
    ids = torch.randint(1, config.vocab_size, (2, 8), generator=torch.Generator().manual_seed(8))
    positions, labels = torch.tensor([2, 9, 12]), torch.tensor([3, 5, 3])
    loss, _ = model.loss_at(ids, positions, labels)
    loss.backward()
    found = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    everywhere = torch.full((16,), -100)
    everywhere[positions] = labels
    model(ids, labels=everywhere.view(2, 8)).loss.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        assert_close(found[name], parameter.grad, atol=1e-6, rtol=1e-5, msg=name)


# -- memory -----------------------------------------------------------------------------------------------


class Largest(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps the number of elements of the largest tensor that any operation gives."""

    elements = 0

    def __torch_dispatch__(
        self, function: Any, types: Any, arguments: Any = (), options: Any = None
    ) -> Any:
        result = function(*arguments, **(options or {}))
        for one in result if isinstance(result, tuple | list) else [result]:
            if isinstance(one, Tensor):
                self.elements = max(self.elements, one.numel())
        return result


def watched() -> Largest:
    return Largest()  # type: ignore[no-untyped-call]


def test_full_logits_never_exist() -> None:
    """400 predictions of 3,000 pieces: nothing larger than a chunk of 50,000 is made, or than the embeddings."""
    given = problem(400, 3000, 8)
    with watched() as largest:
        loss, _ = masked_lm_loss(
            *given.leaves, given.labels, sizes=Sizes(chunk=200_000, block=50_000)
        )
        torch.autograd.backward(loss)
    assert given.weight.numel() < largest.elements <= 50_000
    # What the mode finds where full logits are made.
    with watched() as largest:
        cross_entropy(given.states @ given.weight.t() + given.bias, given.labels)
    assert largest.elements == 1_200_000


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_usual_sizes_bound_memory(dtype: torch.dtype) -> None:
    """Logits of twice a chunk's 160 MiB, which it does not exceed."""
    pieces = 50_000
    given = problem(2 * 160 * 2**20 // (pieces * dtype.itemsize), pieces, 2)
    with watched() as largest, torch.no_grad():
        masked_lm_loss(*given.leaves, given.labels, dtype=dtype)
    assert 160 * 2**19 < largest.elements * dtype.itemsize <= 160 * 2**20
