"""The loop: the steps of a plain loop written out here, whatever is computed at once, and what stops it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.testing import assert_close
from transformers import get_linear_schedule_with_warmup

from tests.pretraining.tiny_run import CONFIG, COUPLED, NO_DROPOUT, changed
from xharness.encoder import DecoupledForMaskedLM
from xharness.errors import InputError
from xharness.inference.device import Device
from xharness.pretraining.batches import BatchStream, MaskedBatch, Masking
from xharness.pretraining.config import PretrainingConfig, encoder_config
from xharness.pretraining.evaluation import evaluate, mean_figures, micro_batches
from xharness.pretraining.metrics import MetricsLog, read_metrics
from xharness.pretraining.optimizer import build_optimizer, learning_rate, named_state
from xharness.pretraining.shards import Shards
from xharness.pretraining.training import StepReport, Training
from xharness.pretraining.vocabulary import Vocabulary

CPU = Device("cpu", "float32", 64)


def settings(**changes: Any) -> PretrainingConfig:
    return PretrainingConfig.model_validate(changed(CONFIG, {"languages": None, **changes}))


class Bench:
    """Builds trainings of the small corpus."""

    def __init__(self, folder: Path, shards: Shards, vocabulary: Vocabulary) -> None:
        self.folder, self.shards, self.vocabulary = folder, shards, vocabulary
        self.told: list[str] = []

    def stream(self, config: PretrainingConfig) -> BatchStream:
        return BatchStream(
            self.shards,
            {"en": 0.5, "zh": 0.5},
            self.vocabulary,
            batch_size=config.batch_size,
            sequence_length=config.sequence_length,
            masking=Masking(config.masking.rate, config.masking.whole_words),
            seed=config.seed,
        )

    def model(self, config: PretrainingConfig) -> DecoupledForMaskedLM:
        torch.manual_seed(config.seed)
        return DecoupledForMaskedLM(encoder_config(config.encoder, vocab_size=self.vocabulary.size))

    def training(self, config: PretrainingConfig, device: Device = CPU) -> Training:
        return Training(
            config,
            self.model(config),
            self.stream(config),
            ("en", "zh"),
            device,
            self.folder,
            self.told.append,
        )

    def run(
        self, config: PretrainingConfig, device: Device = CPU
    ) -> tuple[Training, list[StepReport]]:
        training, reports = self.training(config, device), list[StepReport]()
        training.run(None, reports.append)
        return training, reports


@pytest.fixture
def bench(tmp_path: Path, shards: Shards, vocabulary: Vocabulary) -> Bench:
    return Bench(tmp_path, shards, vocabulary)


# -- steps ------------------------------------------------------------------------------------------------


def plain_steps(bench: Bench, config: PretrainingConfig) -> tuple[dict[str, Tensor], list[float]]:
    """Train by full logits, torch's own loss and schedule; return weights and losses."""
    model = bench.model(config).train()
    decayed = [p for p in model.parameters() if p.requires_grad and p.ndim > 1]
    others = [p for p in model.parameters() if p.requires_grad and p.ndim == 1]
    optimizer = torch.optim.AdamW(
        [
            {"params": decayed, "weight_decay": config.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ],
        lr=config.learning_rate,
        betas=(config.adam_beta1, config.adam_beta2),
        eps=config.adam_epsilon,
        fused=False,
    )
    schedule = get_linear_schedule_with_warmup(optimizer, config.warmup_steps, config.steps)
    losses = []
    for step in range(config.steps):
        batch = bench.stream(config).batch(step)
        logits = model(torch.from_numpy(batch.input_ids)).logits.flatten(0, 1)
        predicted = logits[torch.from_numpy(batch.positions)]
        loss = cross_entropy(predicted, torch.from_numpy(batch.labels))
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(model.parameters(), config.max_grad_norm)
        optimizer.step()
        schedule.step()
        losses.append(float(loss.detach()))
    return dict(model.named_parameters()), losses


@pytest.mark.parametrize(
    "encoder",
    [{}, COUPLED, {"freeze_input_embedding": True}, {"extra_layers": 1}],
    ids=["decoupled", "coupled", "frozen", "extra layer"],
)
def test_steps_of_a_plain_loop(bench: Bench, encoder: dict[str, Any]) -> None:
    """With gradients large enough to be clipped and rows cut into micro-batches."""
    config = settings(encoder={**NO_DROPOUT, **encoder}, max_grad_norm=0.5, weight_decay=0.1)
    training, reports = bench.run(config)
    weights, losses = plain_steps(bench, config)
    assert [report.loss for report in reports] == pytest.approx(losses, abs=2e-5)
    assert max(report.grad_norm for report in reports) > 0.5
    for name, weight in training.model.named_parameters():
        assert_close(weight, weights[name], atol=2e-4, rtol=0, msg=name)


def test_rate_is_that_of_transformers_schedule() -> None:
    for warmup, steps in ((0, 5), (3, 12), (1, 2), (4, 5)):
        config = settings(warmup_steps=warmup, steps=steps)
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=config.learning_rate)
        schedule = get_linear_schedule_with_warmup(optimizer, warmup, steps)
        for step in range(steps):
            assert learning_rate(config, step) == schedule.get_last_lr()[0]
            optimizer.step()
            schedule.step()


def test_rates_of_a_run(bench: Bench) -> None:
    """Three steps of warm-up to 0.01, then in ninths down; the last of twelve is a ninth of it."""
    _, reports = bench.run(settings())
    rates = [0, 1 / 3, 2 / 3, *(ninths / 9 for ninths in range(9, 0, -1))]
    assert [report.learning_rate for report in reports] == pytest.approx([0.01 * r for r in rates])


def test_decay_is_for_matrices_alone(bench: Bench) -> None:
    config = settings(weight_decay=0.1)
    model = bench.model(config)
    decayed, others = build_optimizer(model, config).param_groups
    names = {id(p): name for name, p in model.named_parameters()}
    assert decayed["weight_decay"] == 0.1
    assert others["weight_decay"] == 0.0
    assert all(names[id(p)].endswith(".weight") for p in decayed["params"])
    assert all(
        names[id(p)].endswith(".bias") or "LayerNorm" in names[id(p)] for p in others["params"]
    )
    assert len(decayed["params"]) + len(others["params"]) == len(names)


def test_dropout_is_at_work_and_depends_on_the_seed(bench: Bench) -> None:
    one, again, other = (
        [report.loss for report in bench.run(settings(seed=seed, steps=4))[1]] for seed in (1, 1, 2)
    )
    assert one == again
    assert one != other
    without = [r.loss for r in bench.run(settings(steps=4, encoder=NO_DROPOUT))[1]]
    assert one[0] != without[0]


def test_dropout_differs_from_step_to_step(bench: Bench) -> None:
    """The same weights and the same batch twice, as the rate of the first step is 0."""

    class SameBatch:
        def __init__(self, stream: BatchStream) -> None:
            self.batch = lambda step, rows: stream.batch(0, rows)

    training = bench.training(settings(steps=2, warmup_steps=1))
    training._stream = SameBatch(training._stream)  # type: ignore[assignment]
    reports: list[StepReport] = []
    training._languages = ()
    training.run(None, reports.append)
    assert reports[0].learning_rate == 0
    assert reports[0].loss != reports[1].loss


@pytest.mark.parametrize("coupling", [{}, COUPLED], ids=["decoupled", "coupled"])
def test_a_shared_matrix_has_one_state(bench: Bench, coupling: dict[str, Any]) -> None:
    """It is named once, and a resumed model still shares it."""
    config = settings(encoder=coupling, steps=3, warmup_steps=0)
    training, _ = bench.run(config)
    state = named_state(training.model, training._optimizer)
    table, output = "rembert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"
    assert f"{table}/exp_avg" in state
    assert (f"{output}/exp_avg" in state) == (not coupling)
    resumed = bench.training(config)
    resumed.resume()
    parts = resumed.model
    shared = parts.get_output_embeddings().weight is parts.rembert.get_input_embeddings().weight
    assert shared == bool(coupling)
    for name, parameter in resumed.model.named_parameters():
        assert torch.equal(parameter, dict(training.model.named_parameters())[name])
    again = named_state(resumed.model, resumed._optimizer)
    assert again.keys() == state.keys()
    assert all(torch.equal(again[name], state[name]) for name in state)


def test_resumed_state_does_not_lie_in_its_file(bench: Bench) -> None:
    """What a checkpoint's files are mapped to goes when they are removed, or keeps their room on the disk."""
    config = settings(steps=3, warmup_steps=0)
    bench.run(config)
    resumed = bench.training(config)
    resumed.resume()
    maps = Path("/proc/self/maps")
    if not maps.exists():
        pytest.skip("the system does not show its mappings")
    assert str(bench.folder) not in maps.read_text()


# -- memory -----------------------------------------------------------------------------------------------


def failing(training: Training, rows: int, error: Exception) -> None:
    """Let the objective fail for more rows than those."""
    objective: Callable[..., tuple[Tensor, Tensor]] = training._objective

    def limited(input_ids: Tensor, *others: Tensor) -> tuple[Tensor, Tensor]:
        if len(input_ids) > rows:
            raise error
        return objective(input_ids, *others)

    training._objective = limited


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("DefaultCPUAllocator: can't allocate memory"),
        MemoryError(),
        torch.OutOfMemoryError(),
    ],
    ids=type,
)
def test_out_of_memory(bench: Bench, error: Exception) -> None:
    """Rows at a time are halved, 8 to 4 to 2; the steps stay the same."""
    config = settings(encoder=NO_DROPOUT, micro_batch_size=None, steps=4)
    _, expected = bench.run(config)
    training, reports = bench.training(config), list[StepReport]()
    failing(training, 2, error)
    training.run(None, reports.append)
    assert bench.told == [
        "out of memory: rows at a time halved to 4, steps unchanged",
        "out of memory: rows at a time halved to 2, steps unchanged",
    ]
    assert [r.loss for r in reports] == pytest.approx([r.loss for r in expected], abs=1e-5)
    assert [r.predictions for r in reports] == [r.predictions for r in expected]


def test_out_of_memory_for_good(bench: Bench) -> None:
    training = bench.training(settings())
    failing(training, 0, MemoryError())
    with pytest.raises(InputError, match="out of memory with 1 rows at a time"):
        training.run(None, lambda _: None)


def test_no_room_for_the_moments(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    training = bench.training(settings())
    error = RuntimeError("DefaultCPUAllocator: can't allocate memory")
    monkeypatch.setattr(training._optimizer, "step", lambda: _raise(error))
    with pytest.raises(InputError, match="out of memory for the model itself"):
        training.run(None, lambda _: None)


def _raise(error: Exception) -> None:
    raise error


def test_another_error_is_no_lack_of_memory(bench: Bench) -> None:
    training = bench.training(settings())
    failing(training, 0, RuntimeError("shapes"))
    with pytest.raises(RuntimeError, match="shapes"):
        training.run(None, lambda _: None)


# -- divergence -------------------------------------------------------------------------------------------


def poisoned(training: Training, when: int) -> None:
    """Put a number that is none into the weights before a step."""
    objective: Callable[..., tuple[Tensor, Tensor]] = training._objective

    def poison(*inputs: Tensor) -> tuple[Tensor, Tensor]:
        if training.step == when:
            training.model.cls.predictions.dense.bias.data[0] = math.nan
        return objective(*inputs)

    training._objective = poison


def test_a_loss_that_is_no_number(bench: Bench) -> None:
    """The checkpoint at that very step is not written, the one before stays."""
    training = bench.training(settings())
    poisoned(training, 6)
    with pytest.raises(InputError) as caught:
        training.run(None, lambda _: None)
    assert str(caught.value).startswith("tiny: step 7: the loss is nan")
    assert "the checkpoint of step 3 is kept" in str(caught.value)
    assert [path.name for path in (bench.folder / "checkpoints").iterdir()] == ["step-00000003"]


def test_a_ruined_model_is_not_finished(bench: Bench) -> None:
    """After the last step no loss of training would show it; that of held-out text does."""
    training = bench.training(settings())

    def ruin(report: StepReport) -> None:
        if report.step == 12:
            training.model.cls.predictions.dense.bias.data[0] = math.nan

    with (
        MetricsLog(bench.folder / "metrics.jsonl", 0) as log,
        pytest.raises(InputError, match="the held-out loss after step 12 is no number"),
    ):
        training.run(log, ruin)
    assert (bench.folder / "checkpoints" / "step-00000009").exists()
    assert not (bench.folder / "checkpoints" / "step-00000012").exists()


def test_a_batch_without_a_known_token(bench: Bench) -> None:
    training = bench.training(settings())
    whole = training._stream.batch(0)
    empty = MaskedBatch(whole.input_ids, whole.positions[:0], whole.labels[:0], whole.languages)
    training._stream = type("Empty", (), {"batch": lambda self, step, rows: empty})()
    with pytest.raises(InputError, match="step 1: the tokenizer knows no token of the batch"):
        training.run(None, lambda _: None)


# -- evaluation -------------------------------------------------------------------------------------------


class OneToken:
    """Stands for a model that thinks every masked token is the same one, with a probability it is given."""

    training = True

    def __init__(self, token: int, probability: float) -> None:
        self.token, self.probability = token, probability
        self.modes: list[bool] = []
        self.rows: list[int] = []

    def train(self, mode: bool) -> None:
        self.modes.append(mode)

    def eval(self) -> None:
        self.modes.append(False)

    def loss_at(self, ids: Tensor, positions: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        self.rows.append(len(ids))
        assert int(positions.max()) < ids.numel()
        right = labels == self.token
        losses = torch.where(right, -math.log(self.probability), -math.log(1e-3))
        return losses.mean(), right.sum()


@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_evaluation_by_hand(bench: Bench, at_once: int) -> None:
    """Ten rows of each language: loss and accuracy over their predictions, and means over the languages."""
    stream = bench.stream(settings(batch_size=4))
    labels = {}
    for language in ("en", "zh"):
        batches = list(stream.held_out(language))
        parts = [part for batch in batches for part in micro_batches(batch, 1)]
        labels[language] = [int(label) for part in parts[:10] for label in part.labels]
    token = max(labels["en"], key=labels["en"].count)
    model = OneToken(token, 0.5)
    found = evaluate(model, stream, ("en", "zh"), CPU, 10, at_once)  # type: ignore[arg-type]
    for language, own in labels.items():
        right = own.count(token)
        loss = (right * math.log(2) + (len(own) - right) * math.log(1000)) / len(own)
        assert found[language].loss == pytest.approx(loss)
        assert found[language].accuracy == pytest.approx(100 * right / len(own))
        assert found[language].predictions == len(own)
    means = mean_figures(found)
    assert means["mean_loss"] == pytest.approx((found["en"].loss + found["zh"].loss) / 2)
    assert means["mean_accuracy"] == pytest.approx(
        (found["en"].accuracy + found["zh"].accuracy) / 2
    )
    assert sum(model.rows) == 20
    assert max(model.rows) == min(at_once, 4)
    assert model.modes == [False, True]  # and left as it was


def test_evaluation_is_the_same_at_any_time(bench: Bench) -> None:
    """Fixed masks, no dropout: a model that is not trained has the same figures twice, whatever the seed."""
    one, other = (
        evaluate(bench.model(settings()), bench.stream(settings(seed=seed)), ("en",), CPU, 8, 3)
        for seed in (1, 2)
    )
    assert one == other


def test_evaluation_does_not_change_training(bench: Bench) -> None:
    """With dropout, whose random numbers an evaluation might take."""
    losses = []
    for every in (None, 1):
        training, reports = bench.training(settings(evaluate_every=every)), list[StepReport]()
        with MetricsLog(bench.folder / "metrics.jsonl", 0) as log:
            training.run(log, reports.append)
        losses.append([report.loss for report in reports])
        dev = [
            line for line in read_metrics(bench.folder / "metrics.jsonl") if line["kind"] == "dev"
        ]
        assert len(dev) == (12 if every else 1)
    assert losses[0] == losses[1]


def test_bfloat16(bench: Bench) -> None:
    """Products in bfloat16, weights and moments in float32: near the same losses."""
    config = settings(encoder=NO_DROPOUT)
    _, expected = bench.run(config)
    training, reports = bench.run(config, Device("cpu", "bfloat16", 64))
    losses = [report.loss for report in reports]
    assert losses == pytest.approx([report.loss for report in expected], abs=0.05)
    assert losses != [report.loss for report in expected]
    assert all(p.dtype == torch.float32 for p in training.model.parameters())


def test_micro_batches(bench: Bench) -> None:
    """Parts of three rows: together all rows, and every masked token once with its place in its own part."""
    batch = bench.stream(settings()).batch(0)
    parts = list(micro_batches(batch, 3))
    assert [len(part.input_ids) for part in parts] == [3, 3, 2]
    restored = [
        (number * 3 * 24 + int(position), int(label))
        for number, part in enumerate(parts)
        for position, label in zip(part.positions, part.labels, strict=True)
    ]
    assert restored == list(zip(batch.positions.tolist(), batch.labels.tolist(), strict=True))
    assert [int(one) for part in parts for one in part.languages] == batch.languages.tolist()
