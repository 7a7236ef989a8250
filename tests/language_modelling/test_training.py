"""Training: it learns, goes on exactly where it was cut off, and stops where it cannot go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.language_modelling.tiny_models import EMBEDDINGS, VOCABULARY, config, gradient
from tests.language_modelling.tiny_text import write_corpus
from xharness.errors import InputError
from xharness.language_modelling.config import LanguageModelConfig
from xharness.language_modelling.evaluation import evaluate
from xharness.language_modelling.kneser_ney import KneserNey
from xharness.language_modelling.text import Splits, read_splits
from xharness.language_modelling.training import EpochFigures, Training


@pytest.fixture(scope="module")
def splits(tmp_path_factory: pytest.TempPathFactory) -> Splits:
    folder = write_corpus(tmp_path_factory.mktemp("text"))
    return read_splits(folder, "en", config().text)


def train(
    settings: LanguageModelConfig, splits: Splits, folder: Path, until: int | None = None
) -> tuple[Training, list[EpochFigures]]:
    """Train to the end, or until the figures of an epoch are known."""
    told: list[EpochFigures] = []
    training = Training(settings, splits, folder)

    def watch(figures: EpochFigures) -> None:
        told.append(figures)
        if figures.epoch == until:
            raise KeyboardInterrupt

    if until is None:
        training.run(watch)
    else:
        with pytest.raises(KeyboardInterrupt):
            training.run(watch)
    return training, told


@pytest.mark.parametrize(
    ("kind", "training"),
    [
        ("lstm", {"epochs": 20, "full_rate_epochs": 16, "init_range": 0.4}),
        ("lstm", {"epochs": 6, "optimizer": "adamw", "learning_rate": 0.03, "dtype": "bfloat16"}),
        ("transformer", {"epochs": 4, "learning_rate": 0.02}),
    ],
)
def test_it_learns_the_rule(
    kind: str, training: dict[str, Any], splits: Splits, tmp_path: Path
) -> None:
    """Two of seven words of a line are drawn, from 6 and 4, and the second noun follows from the verb.

    The best perplexity is (6 x 4)^(1/7) = 1.57; a unigram model of the same text has more than 8.
    """
    settings = config({"tied": True}, {"kind": kind}, training)
    found = Training(settings, splits, tmp_path).run(lambda figures: None)
    test = splits.test.ids
    unigram = KneserNey(splits.train.ids, len(splits.vocabulary), 1, 1).perplexity(test).value
    assert unigram > 8
    assert 1.5 < evaluate(found.model, test, 1).value < 2.5
    assert found.best.dev_perplexity == min(one.dev_perplexity for one in found.history)
    assert found.dropped_words == len(splits.train.ids) % 4


@pytest.mark.parametrize("name", ["tied-projection", "define-adaptive"])
@pytest.mark.parametrize("kind", ["lstm", "transformer"])
def test_cut_off_and_gone_on(name: str, kind: str, splits: Splits, tmp_path: Path) -> None:
    """Cut off after the first epoch, the rest gives the same figures and weights, dropout and moments included."""
    settings = config(
        EMBEDDINGS[name], {"kind": kind, "dropout": 0.2}, {"epochs": 3, "learning_rate": 0.01}
    )
    whole, figures = train(settings, splits, tmp_path / "whole")
    _, first = train(settings, splits, tmp_path / "cut", until=1)
    resumed, rest = train(settings, splits, tmp_path / "cut")
    assert [one.epoch for one in first + rest] == [1, 2, 3]
    for one, other in zip(figures, first + rest, strict=True):
        assert one.train_perplexity == other.train_perplexity
        assert one.dev_perplexity == other.dev_perplexity
    for tensor, same in zip(whole._model.parameters(), resumed._model.parameters(), strict=True):
        assert torch.equal(tensor, same)
    again, nothing = train(settings, splits, tmp_path / "cut")
    assert nothing == []
    assert again.run(lambda _: None).best == resumed.run(lambda _: None).best


def test_the_best_epochs_weights_are_kept(splits: Splits, tmp_path: Path) -> None:
    """At a rate far too high the last epoch is not the best one; its dev perplexity is found again."""
    settings = config(training={"epochs": 6, "learning_rate": 40.0, "full_rate_epochs": 6})
    found = Training(settings, splits, tmp_path).run(lambda figures: None)
    assert found.best != found.history[-1]
    again = evaluate(found.model, splits.dev.ids, 1, streams=4).value
    assert again == pytest.approx(found.best.dev_perplexity, rel=1e-6)


def test_one_step_of_sgd_by_hand(splits: Splits, tmp_path: Path) -> None:
    """One window over all streams: weights less rate times the gradient of (loss + penalty) / streams, norm clipped."""
    length = len(splits.train.ids) // 4
    settings = config(
        {"projection": 0.15}, None, {"epochs": 1, "window": length, "max_grad_norm": 0.5}
    )
    training = Training(settings, splits, tmp_path)
    model = training._model
    before = {name: one.detach().clone() for name, one in model.trained_parameters()}
    inputs, targets = (
        torch.from_numpy(one) for one in (training._streams.inputs, training._streams.targets)
    )
    loss, _ = model(inputs, targets, None)
    weight = model.get_parameter("projection.weight")
    ((loss + 0.075 * weight.square().sum()) / 4).backward()
    gradients = {name: gradient(model, name).clone() for name, _ in model.trained_parameters()}
    norm = torch.stack([one.norm() for one in gradients.values()]).norm()
    assert norm > 0.5
    training.run(lambda figures: None)
    for name, one in model.trained_parameters():
        expected = before[name] - 0.5 / norm * gradients[name]
        torch.testing.assert_close(one.detach(), expected, rtol=1e-4, atol=1e-6)


def test_a_loss_that_is_no_number_stops(splits: Splits, tmp_path: Path) -> None:
    settings = config(training={"learning_rate": 1e38, "max_grad_norm": 1e38})
    with pytest.raises(InputError, match=r"no longer a number in step \d+ of epoch 1") as caught:
        Training(settings, splits, tmp_path).run(lambda figures: None)
    assert "lower training.learning_rate" in str(caught.value)


def test_a_text_of_less_than_a_batch(splits: Splits, tmp_path: Path) -> None:
    settings = config(training={"window": 10_000})
    with pytest.raises(InputError, match="are less than one batch of 4 streams of 10000"):
        Training(settings, splits, tmp_path)


def test_another_configuration_or_text_in_the_folder(splits: Splits, tmp_path: Path) -> None:
    train(config(), splits, tmp_path / "run", until=1)
    with pytest.raises(InputError, match=r"begun with another config\.embedding\.tied"):
        Training(config({"tied": True}), splits, tmp_path / "run")
    other = read_splits(write_corpus(tmp_path / "text", train=90), "en", config().text)
    with pytest.raises(InputError, match=r"begun with another .*text.train.sha256"):
        Training(config(), other, tmp_path / "run")


def test_damaged_best_weights(splits: Splits, tmp_path: Path) -> None:
    train(config(), splits, tmp_path)
    (tmp_path / "best.safetensors").write_bytes(b"{")
    with pytest.raises(InputError, match=r"best\.safetensors: cannot be read"):
        Training(config(), splits, tmp_path).run(lambda figures: None)


def test_the_vocabulary_may_be_smaller_than_asked_for(splits: Splits) -> None:
    assert len(splits.vocabulary) < VOCABULARY
