from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.translation.toy_language import WORDS, toy_config, translated, write_corpus
from xharness.errors import InputError
from xharness.inference.device import choose_device
from xharness.translation.config import TrainingSettings, TranslationConfig
from xharness.translation.optimization import learning_rate
from xharness.translation.run import train_and_score

CPU = choose_device("cpu")


class StoppedError(Exception):
    """What stands for a kill."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("toy"))


def run(config: TranslationConfig, corpus: Path, folder: Path) -> dict[str, Any]:
    return train_and_score(config, corpus, folder, CPU, lambda line: None)


def timeless(result: dict[str, Any]) -> dict[str, Any]:
    epochs = [
        {key: value for key, value in epoch.items() if "seconds" not in key}
        for epoch in result["training"]["epochs"]
    ]
    training = {k: v for k, v in result["training"].items() if "second" not in k}
    return {**result, "training": {**training, "epochs": epochs}}


@pytest.mark.parametrize(
    "model",
    [
        {"tying": "three-way"},
        pytest.param(
            {"tying": "none", "define": {"map_size": 8, "expansion_size": 32, "groups": 2}},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_model_learns_to_translate(tmp_path: Path, corpus: Path, model: dict[str, Any]) -> None:
    result = run(toy_config({**model, "dropout": 0.05}, epochs=14), corpus, tmp_path)
    # Every sentence has one right translation, and none of the test split was trained on.
    assert result["test"]["bleu"] > 60
    assert result["test"]["segments"] == 40
    losses = [epoch["dev_loss"] for epoch in result["training"]["epochs"]]
    assert losses[-1] < losses[0] / 4
    lines = (tmp_path / "test.de").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 40
    assert {word for line in lines for word in line.split()} & set(WORDS.values())


def test_a_training_that_was_cut_off_ends_as_if_nothing_had_happened(
    tmp_path: Path, corpus: Path
) -> None:
    config = toy_config(dev_bleu_every=2)
    straight = run(config, corpus, tmp_path / "straight")

    def stop(line: str) -> None:
        if "epoch 1/" in line or "epoch 3/" in line:
            raise StoppedError

    for _ in range(2):
        with pytest.raises(StoppedError):
            train_and_score(config, corpus, tmp_path / "cut", CPU, stop)
    assert timeless(run(config, corpus, tmp_path / "cut")) == timeless(straight)
    weights = [load_file(tmp_path / name / "model.safetensors") for name in ("straight", "cut")]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


def test_a_finished_training_is_not_done_again(tmp_path: Path, corpus: Path) -> None:
    config = toy_config(epochs=1)
    first = run(config, corpus, tmp_path)
    told: list[str] = []
    again = train_and_score(config, corpus, tmp_path, CPU, told.append)
    assert again == first
    assert not any("epoch 1/1" in line for line in told)


def test_seeds_differ_and_bleu_on_dev_is_told(tmp_path: Path, corpus: Path) -> None:
    results = [
        run(toy_config(seed=seed, epochs=2, dev_bleu_every=2), corpus, tmp_path / str(seed))
        for seed in (1, 2)
    ]
    losses = [result["training"]["dev_loss"] for result in results]
    assert losses[0] != losses[1]
    for result in results:
        first, second = result["training"]["epochs"]
        assert first["dev_bleu"] is None
        assert 0 <= second["dev_bleu"] <= 100


def test_the_weights_with_the_lowest_dev_loss_are_kept(tmp_path: Path, corpus: Path) -> None:
    training = run(toy_config(epochs=3), corpus, tmp_path)["training"]
    assert len(training["dev_losses"]) == 2
    assert "average of epochs 2 to 3" in training["dev_losses"]
    assert training["dev_loss"] == min(training["dev_losses"].values())
    assert training["dev_losses"][training["chosen"]] == training["dev_loss"]


def test_the_average_of_one_epoch_is_no_candidate(tmp_path: Path, corpus: Path) -> None:
    training = run(toy_config(epochs=1, average_epochs=5), corpus, tmp_path)["training"]
    assert training["chosen"] == "epoch 1"
    assert set(training["dev_losses"]) == {"epoch 1"}


def test_a_folder_of_another_training_is_refused(tmp_path: Path, corpus: Path) -> None:
    run(toy_config(epochs=1), corpus, tmp_path)
    with pytest.raises(InputError, match=r"different: config\.training\.seed"):
        run(toy_config(epochs=1, seed=2), corpus, tmp_path)


def test_a_diverging_training_is_one_line(tmp_path: Path, corpus: Path) -> None:
    with pytest.raises(InputError, match=r"toy: step \d+: the loss is .* \(lower learning_rate"):
        run(toy_config(learning_rate=1e20, warmup_steps=0), corpus, tmp_path)


def test_rates_rise_then_fall() -> None:
    settings = TrainingSettings(epochs=1, learning_rate=1.0, warmup_steps=4)
    linear = [learning_rate(settings, step, 12) for step in range(12)]
    assert linear[:5] == [0.25, 0.5, 0.75, 1.0, 1.0]
    assert linear[5:] == pytest.approx([7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8])
    root = settings.model_copy(update={"schedule": "inverse-sqrt"})
    assert learning_rate(root, 3, 12) == 1.0
    assert learning_rate(root, 15, 99) == 0.5
    assert learning_rate(settings.model_copy(update={"warmup_steps": 0}), 0, 12) == 1.0


def test_the_toy_language_reverses() -> None:
    assert translated("sun moon tree") == "arb lun sol"


def test_bfloat16_classifiers_train_too(tmp_path: Path, corpus: Path) -> None:
    half = replace(CPU, dtype="bfloat16")
    result = train_and_score(toy_config(epochs=2), corpus, tmp_path, half, lambda line: None)
    losses = [epoch["dev_loss"] for epoch in result["training"]["epochs"]]
    assert losses[1] < losses[0]
    assert result["environment"]["dtype"] == "bfloat16"
