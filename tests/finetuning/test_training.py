"""The fine-tuning loop: how many steps over which windows, at which rate, and whose weights are kept."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from xharness.errors import InputError
from xharness.finetuning.objectives import decisions, summed_loss
from xharness.finetuning.training import STEPS_PER_POOL, TrainingReport, _steps, train
from xharness.inference.batching import collate
from xharness.inference.device import Device
from xharness.specs.recipe import Recipe, Settings
from xharness.specs.registry import benchmark_of_suite, load
from xharness.tasks.pair_classification import PairEncoding
from xharness.tasks.pieces import starts_of
from xharness.tasks.question_answering import QuestionEncoding
from xharness.tasks.tagging import TaggingEncoding

CPU = Device("cpu", "float32", 64)


class Bag(torch.nn.Module):
    """A classifier of bags of pieces, with all that the loop asks of a model."""

    def __init__(self, classes: int = 2, pieces: int = 10):
        super().__init__()
        self.config = SimpleNamespace(pad_token_id=0)
        self.embedding = torch.nn.Embedding(pieces, classes)
        torch.nn.init.zeros_(self.embedding.weight)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
        weights = attention_mask[:, :, None].float()
        return SimpleNamespace(logits=(self.embedding(input_ids) * weights).sum(dim=1))


class Watched:
    """Counts the steps it is told of."""

    def __init__(self) -> None:
        self.total = self.done = 0

    def start(self, total: int) -> None:
        self.total = total

    def advance(self, count: int) -> None:
        self.done += count


def encoding_of(windows: int, length: int = 3) -> PairEncoding:
    """Windows whose every piece tells the label: 1 or 2."""
    labels = np.arange(windows) % 2
    ids = np.repeat(labels + 1, length).astype(np.int32)
    return PairEncoding(ids, starts_of([length] * windows), np.zeros(0, np.uint8), {}, labels)


def run(
    model: Any, encoding: Any, evaluate: Callable[[Any], float] | None = None, **values: Any
) -> tuple[TrainingReport, Watched]:
    settings = Settings.model_validate({"learning_rate": 0.1, "epochs": 1, **values})
    progress = Watched()
    return train(model, encoding, settings, 1, CPU, evaluate, progress), progress


@pytest.mark.parametrize(
    ("windows", "batch_size", "epochs", "steps"),
    [
        (8, 4, 1, 2),
        (9, 4, 1, 3),  # the last, partial step counts
        (3, 32, 2, 2),
        (9, 4, 0.5, 2),  # round(1.5) = 2
        (8, 4, 2.5, 5),
        (8, 4, 0.01, 1),  # never none
    ],
)
def test_number_of_steps(windows: int, batch_size: int, epochs: float, steps: int) -> None:
    encoding = encoding_of(windows)
    report, progress = run(Bag(), encoding, batch_size=batch_size, epochs=epochs)
    assert (report.steps, report.windows, report.effective_batch) == (steps, windows, batch_size)
    assert (progress.total, progress.done) == (steps, steps)
    assert report.chosen_step == steps
    assert len(report.losses) == min(steps, 10)
    assert report.dev_scores == ()


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=300),
    st.integers(1, 7),
    st.integers(1, 3),
    st.integers(0, 5),
    st.booleans(),
)
def test_an_epoch_uses_every_window_once(
    lengths: list[int], size: int, epochs: int, seed: int, grouped: bool
) -> None:
    per_epoch = math.ceil(len(lengths) / size)
    settings = Settings(batch_size=size, group_by_length=grouped)
    steps = list(_steps(np.array(lengths), settings, epochs * per_epoch, seed))
    assert len(steps) == epochs * per_epoch
    for epoch in range(epochs):
        of_epoch = steps[epoch * per_epoch : (epoch + 1) * per_epoch]
        used = Counter(row for step in of_epoch for row in step.tolist())
        assert used == Counter(range(len(lengths)))
        sizes = sorted(len(step) for step in of_epoch)
        assert all(s == size for s in sizes[1:])
        assert 1 <= sizes[0] <= size
    # An unfinished epoch is the beginning of the whole one.
    fewer = list(_steps(np.array(lengths), settings, per_epoch, seed))
    for a, b in zip(fewer, steps, strict=False):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("grouped", [False, True])
def test_the_order_depends_on_seed_and_epoch(grouped: bool) -> None:
    lengths = np.ones(64, np.int64)
    settings = Settings(batch_size=8, group_by_length=grouped)

    def order(seed: int, total: int) -> list[list[int]]:
        return [step.tolist() for step in _steps(lengths, settings, total, seed)]

    assert order(1, 16) == order(1, 16)
    assert order(1, 8) != order(2, 8)
    assert order(1, 16)[:8] != order(1, 16)[8:]


def test_a_steps_windows_are_drawn_at_random_or_of_like_length() -> None:
    """At random unless the recipe says otherwise: as the official scripts do, so that scores compare."""
    lengths = np.random.default_rng(0).integers(1, 100, 8 * STEPS_PER_POOL)

    def spreads(**changes: bool) -> list[int]:
        settings = Settings(batch_size=8, **changes)
        steps = _steps(lengths, settings, STEPS_PER_POOL, 0)
        return [int(np.ptp(lengths[step])) for step in steps]

    assert max(spreads(group_by_length=True)) < 20
    assert np.mean(spreads()) > 60
    for recipe in ("xtreme", "xtreme-large", "rembert", "short", "sample"):
        for task in benchmark_of_suite("xtreme").tasks:
            assert not load(Recipe, recipe).resolve(task).group_by_length


def test_grouped_steps_are_in_no_order_of_length() -> None:
    lengths = np.random.default_rng(0).integers(1, 100, 8 * STEPS_PER_POOL)
    settings = Settings(batch_size=8, group_by_length=True)
    means = [lengths[step].mean() for step in _steps(lengths, settings, STEPS_PER_POOL, 0)]
    assert means != sorted(means)


def test_loss_falls() -> None:
    model = Bag()
    report, _ = run(model, encoding_of(8), batch_size=4, epochs=10)
    assert report.losses[0] == pytest.approx(math.log(2), rel=0.5)
    assert report.losses[-1] < 0.1
    assert list(report.losses) == sorted(report.losses, reverse=True)
    assert not model.training


@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_stops_with_its_step(broken: float) -> None:
    class Breaks(Bag):
        calls = 0

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
            output = super().forward(input_ids, attention_mask)
            self.calls += 1
            if self.calls == 3:
                output.logits = output.logits * broken + torch.tensor([broken, 0.0])
            return output

    model = Breaks()
    with pytest.raises(InputError, match="the loss is nan at step 3 of 4") as error:
        run(model, encoding_of(16), batch_size=4)
    assert error.value.where == "seed 1"
    assert "learning_rate" in str(error.value.mend)
    assert torch.isfinite(model.embedding.weight).all()


def test_an_empty_training_set_is_refused() -> None:
    with pytest.raises(InputError, match="the training set is empty"):
        run(Bag(), encoding_of(0))


class Scores:
    """Gives scores in turn, and keeps the weights that each was given for."""

    def __init__(self, *scores: float):
        self.left = list(scores)
        self.weights: list[torch.Tensor] = []

    def __call__(self, model: Any) -> float:
        self.weights.append(model.embedding.weight.detach().clone())
        model.eval()  # as prediction does
        return self.left.pop(0)


@pytest.mark.parametrize(
    ("scores", "chosen"),
    [
        ((10.0, 30.0, 20.0, 25.0), 1),
        ((10.0, 30.0, 30.0, 30.0), 1),  # of equals the earliest
        ((10.0, 20.0, 30.0, 40.0), 3),
        ((40.0, 30.0, 20.0, 10.0), 0),
        ((0.0, 0.0, 0.0, 0.0), 0),
        ((math.nan, 5.0, math.nan, 4.0), 1),
        ((-math.inf, -math.inf, -math.inf, -math.inf), 3),  # nothing to choose by: the last
    ],
)
def test_the_earliest_best_steps_weights_are_kept(scores: tuple[float, ...], chosen: int) -> None:
    model, evaluate = Bag(), Scores(*scores)
    report, _ = run(model, encoding_of(8), evaluate, batch_size=2, evaluate_every=1)
    assert [step for step, _ in report.dev_scores] == [1, 2, 3, 4]
    assert [str(score) for _, score in report.dev_scores] == [str(score) for score in scores]
    assert report.chosen_step == chosen + 1
    assert torch.equal(model.embedding.weight, evaluate.weights[chosen])
    assert all(not torch.equal(evaluate.weights[3], w) for w in evaluate.weights[:3])


def test_evaluates_at_each_epochs_end_and_at_the_end() -> None:
    report, _ = run(Bag(), encoding_of(8), Scores(1, 2, 3), batch_size=4, epochs=2.5)
    assert [step for step, _ in report.dev_scores] == [2, 4, 5]
    report, _ = run(Bag(), encoding_of(8), Scores(1, 2), batch_size=4, epochs=2, evaluate_every=3)
    assert [step for step, _ in report.dev_scores] == [3, 4]


def test_evaluation_does_not_change_a_training() -> None:
    weights = []
    for evaluate in (None, Scores(1, 2, 3, 4)):
        model = Bag()
        run(model, encoding_of(8), evaluate, batch_size=2, evaluate_every=1)
        weights.append(model.embedding.weight.detach())
    assert torch.equal(*weights)


@pytest.mark.parametrize(
    ("steps", "ratio", "used"), [(0, 0.0, 0), (3, 0.0, 3), (0, 0.1, 1), (2, 0.2, 4), (99, 0, 5)]
)
def test_warm_up_is_held_to_half_the_training_and_reported(
    steps: int, ratio: float, used: int
) -> None:
    report, _ = run(Bag(), encoding_of(20), batch_size=2, warmup_steps=steps, warmup_ratio=ratio)
    assert report.steps == 10
    assert report.warmup_steps == used


def test_the_rate_rises_and_falls_linearly(monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[float] = []
    step = torch.optim.AdamW.step

    def watched(self: torch.optim.AdamW, *args: Any, **options: Any) -> Any:
        rates.append(self.param_groups[0]["lr"])
        return step(self, *args, **options)

    monkeypatch.setattr(torch.optim.AdamW, "step", watched)
    run(Bag(), encoding_of(20), batch_size=2, warmup_steps=2)
    expected = [0.0, 0.05, *(0.1 * left / 8 for left in (8, 7, 6, 5, 4, 3, 2, 1))]
    assert rates == pytest.approx(expected)


def test_gradients_are_clipped() -> None:
    """Adam's first step has the size of the learning rate whatever the gradient's, unless epsilon outweighs it."""
    moved = []
    for norm in (1.0, 1e-3):
        model = Bag()
        run(model, encoding_of(3), batch_size=3, max_grad_norm=norm, adam_epsilon=1.0)
        moved.append(float(model.embedding.weight.detach().norm()))
    assert moved[0] > 100 * moved[1] > 0


def test_weight_decay_spares_biases_and_norms() -> None:
    class Two(Bag):
        def __init__(self) -> None:
            super().__init__()
            self.matrix = torch.nn.Parameter(torch.ones(2, 2))
            self.bias = torch.nn.Parameter(torch.ones(2))

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
            output = super().forward(input_ids, attention_mask)
            output.logits = output.logits + 0 * self.matrix.sum() + 0 * self.bias.sum()
            return output

    model = Two()
    run(model, encoding_of(4), batch_size=4, weight_decay=0.5)
    assert torch.allclose(model.matrix, torch.full((2, 2), 0.95))  # 1 - 0.1 * 0.5
    assert torch.equal(model.bias, torch.ones(2))


def test_one_process_trains_in_both_formats() -> None:
    for dtype in ("bfloat16", "float32", "bfloat16"):
        device = Device("cpu", dtype, 64)
        settings = Settings.model_validate({"learning_rate": 0.1, "epochs": 2})
        report = train(Bag(), encoding_of(8), settings, 1, device, None, Watched())
        assert math.isfinite(report.losses[-1])


# -- objectives -----------------------------------------------------------------------------------------


class Constant(torch.nn.Module):
    """Puts out logits that depend on each piece alone."""

    def __init__(self, pieces: int, outputs: int):
        super().__init__()
        self.config = SimpleNamespace(pad_token_id=0)
        self.table = torch.nn.Embedding(pieces, outputs)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
        logits = self.table(input_ids)
        return SimpleNamespace(
            logits=logits, start_logits=logits[..., 0], end_logits=logits[..., 1]
        )


def loss_of(model: Any, encoding: Any, rows: list[int], pad: int = 0) -> float:
    inputs = collate(encoding, np.array(rows), pad, torch.device("cpu"))
    return float(summed_loss(model, encoding, np.array(rows), inputs).detach())


def some_tagging() -> TaggingEncoding:
    """Two windows of three words, of which the second has no label."""
    return TaggingEncoding(
        ids=np.array([0, 3, 4, 5, 1, 0, 6, 1], np.int32),
        starts=np.array([0, 5, 8]),
        types=np.zeros(0, np.uint8),
        counts={},
        word_positions=np.array([1, 3, 1]),
        word_starts=np.array([0, 2, 3]),
        labels=np.array([2, -1, 0]),
    )


def test_a_steps_loss_is_the_mean_over_its_labelled_words() -> None:
    encoding, model = replace(some_tagging(), labels=np.array([2, 1, 0])), Constant(8, 3)
    expected = loss_of(model, encoding, [0, 1]) / 3
    report, _ = run(model, encoding)
    assert list(report.losses) == pytest.approx([expected], rel=1e-5)


def test_tagging_counts_labelled_words_alone() -> None:
    encoding = some_tagging()
    assert decisions(encoding, np.array([0, 1])) == 2
    assert decisions(encoding, np.array([0])) == 1
    model = Constant(8, 3)
    logs = torch.log_softmax(model.table.weight.detach(), dim=1)
    assert loss_of(model, encoding, [0, 1]) == pytest.approx(-float(logs[3, 2] + logs[6, 0]))
    assert loss_of(model, encoding, [0]) == pytest.approx(-float(logs[3, 2]))


def test_question_answering_looks_at_the_windows_own_pieces() -> None:
    """How far a window is padded, and with what, changes nothing."""
    nothing = np.zeros(0, np.int64)
    encoding = QuestionEncoding(
        ids=np.array([1, 2, 3, 1, 2, 3, 4, 5], np.int32),
        starts=np.array([0, 3, 8]),
        types=np.zeros(0, np.uint8),
        counts={},
        questions=nothing,
        context_at=nothing,
        context_lengths=nothing,
        first_piece=nothing,
        characters=np.zeros((0, 2), np.int32),
        is_max_context=np.zeros(0, np.bool_),
        answers=np.array([[1, 2], [0, 4]]),
    )
    assert decisions(encoding, np.array([0, 1])) == 4
    model = Constant(8, 2)
    table = model.table.weight.detach()
    first = torch.log_softmax(table[[1, 2, 3]], dim=0)
    second = torch.log_softmax(table[[1, 2, 3, 4, 5]], dim=0)
    expected = -float(first[1, 0] + first[2, 1]), -float(second[0, 0] + second[4, 1])
    assert loss_of(model, encoding, [0]) == pytest.approx(expected[0], rel=1e-5)
    for pad in (0, 7):
        assert loss_of(model, encoding, [0, 1], pad) == pytest.approx(sum(expected), rel=1e-5)


def test_another_kind_has_no_objective() -> None:
    from xharness.tasks.retrieval import SentenceEncoding

    encoding = SentenceEncoding(
        np.array([1], np.int32), np.array([0, 1]), np.zeros(0, np.uint8), {}
    )
    with pytest.raises(TypeError, match="SentenceEncoding has no objective"):
        loss_of(Constant(2, 2), encoding, [0])
