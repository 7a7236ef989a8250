"""Heads: files, losses against transformers' RemBERT, and fine-tuning from a pre-training checkpoint."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForMultipleChoice,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    RemBertConfig,
    RemBertForMultipleChoice,
    RemBertForQuestionAnswering,
    RemBertForSequenceClassification,
    RemBertForTokenClassification,
    Trainer,
    TrainingArguments,
)

from tests.encoder.tiny_models import KINDS, assert_equal, batch, filled, saved, tiny_config
from xharness import encoder
from xharness.encoder import DecoupledForMaskedLM, DecoupledModel

encoder.register()

HEADS: dict[str, tuple[Any, Any]] = {
    "sequence": (AutoModelForSequenceClassification, RemBertForSequenceClassification),
    "token": (AutoModelForTokenClassification, RemBertForTokenClassification),
    "question": (AutoModelForQuestionAnswering, RemBertForQuestionAnswering),
    "choice": (AutoModelForMultipleChoice, RemBertForMultipleChoice),
}
LABELS = {0: "no", 1: "maybe", 2: "yes"}


def inputs_for(head: str, labelled: bool = True) -> dict[str, torch.Tensor]:
    """Return a batch for a head, with labels."""
    inputs = batch()
    if head == "choice":
        inputs = {name: torch.stack([part, part.flip(0)], 1) for name, part in inputs.items()}
    if not labelled:
        return inputs
    tags = torch.randint(0, 3, (3, 11), generator=torch.Generator().manual_seed(1))
    labels: dict[str, dict[str, torch.Tensor]] = {
        "sequence": {"labels": torch.tensor([2, 0, 1])},
        "token": {"labels": tags.masked_fill(batch()["attention_mask"] == 0, -100)},
        "choice": {"labels": torch.tensor([0, 1, 1])},
        # A position at or beyond the length does not count.
        "question": {
            "start_positions": torch.tensor([1, 2, 11]),
            "end_positions": torch.tensor([3, 40, 4]),
        },
    }
    return {**inputs, **labels[head]}


def rembert_of(config: encoder.DecoupledConfig, rembert_class: Any, model: Any) -> Any:
    """Return transformers' RemBERT with the weights of a model."""
    keys = RemBertConfig().to_dict().keys() - {"model_type", "transformers_version"}
    values = {key: value for key, value in config.to_dict().items() if key in keys}
    twin = rembert_class(RemBertConfig(**values))
    twin.load_state_dict(model.state_dict())
    return twin.eval()


@pytest.mark.parametrize("name", HEADS)
def test_logits_and_losses_are_those_of_rembert(name: str) -> None:
    auto, rembert_class = HEADS[name]
    labels = {} if name in ("question", "choice") else {"id2label": LABELS}
    config = tiny_config(**labels)
    model = filled(auto.from_config(config))
    expected = rembert_of(config, rembert_class, model)(**inputs_for(name))
    found = model(**inputs_for(name))
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        torch.testing.assert_close(found[key], value, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("problem", "outputs", "labels"),
    [
        (None, 1, torch.tensor([0.3, -1.0, 2.0])),
        ("regression", 3, torch.randn(3, 3, generator=torch.Generator().manual_seed(1))),
        (None, 3, torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 1.0]])),
        ("multi_label_classification", 3, torch.tensor([[1.0, 0.0, 1.0]] * 3)),
        ("single_label_classification", 3, torch.tensor([0, 2, 1])),
    ],
)
def test_problem_types_are_those_of_transformers(
    problem: str | None, outputs: int, labels: torch.Tensor
) -> None:
    config = tiny_config(num_labels=outputs, problem_type=problem)
    model = filled(AutoModelForSequenceClassification.from_config(config))
    twin = rembert_of(config, RemBertForSequenceClassification, model)
    expected = twin(**batch(), labels=labels).loss
    torch.testing.assert_close(model(**batch(), labels=labels).loss, expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", HEADS)
def test_saved_and_loaded_with_labels(name: str, kind: str, tmp_path: Path) -> None:
    auto, _ = HEADS[name]
    labels = {} if name in ("question", "choice") else {"id2label": LABELS}
    model = filled(auto.from_config(tiny_config(**KINDS[kind], **labels)))
    again, info = auto.from_pretrained(saved(model, tmp_path), output_loading_info=True)
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    if labels:
        assert again.config.id2label == LABELS
    inputs = inputs_for(name, labelled=False)
    expected, found = model(**inputs, return_dict=False), again(**inputs, return_dict=False)
    for output, wanted in zip(found, expected, strict=True):
        assert_equal(output, wanted)
    weights = model.state_dict()
    assert all(torch.equal(again.state_dict()[key], weights[key]) for key in weights)


def test_dropout_is_before_the_head() -> None:
    config = tiny_config(classifier_dropout_prob=0.5, id2label=LABELS)
    model = filled(AutoModelForTokenClassification.from_config(config))
    still = model(**batch()).logits
    model.train()
    torch.manual_seed(0)
    output = model(**batch(), output_hidden_states=True)
    assert not torch.allclose(output.logits, still)
    plain = model.eval()(**batch(), output_hidden_states=True)
    assert torch.equal(output.hidden_states[-1], plain.hidden_states[-1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["encoder", *HEADS])
def test_fine_tuning_keeps_the_encoder_exactly(name: str, kind: str, tmp_path: Path) -> None:
    """Block L of pre-training is the last of fine-tuning; what is dropped is exactly the rest, counted."""
    auto = AutoModel if name == "encoder" else HEADS[name][0]
    config = tiny_config(**KINDS[kind])
    pre_training = filled(DecoupledForMaskedLM(config))
    model, info = auto.from_pretrained(saved(pre_training, tmp_path), output_loading_info=True)
    base: DecoupledModel = model.eval().base_model
    states = pre_training(**batch(), output_hidden_states=True).hidden_states
    assert_equal(base(**batch()).last_hidden_state, states[config.num_hidden_layers])
    before = pre_training.rembert.state_dict()
    assert all(
        torch.equal(before[key], weight)
        for key, weight in base.state_dict().items()
        if not key.startswith("pooler.")
    )
    # Nothing but a new head is drawn at random.
    new = {key.split(".")[-3 if "pooler" in key else -2] for key in info["missing_keys"]}
    assert new <= {"pooler", "classifier", "qa_outputs"}

    kept = dict(base.named_parameters())
    dropped = {
        parameter_name: parameter.numel()
        for parameter_name, parameter in pre_training.named_parameters()
        if parameter_name.removeprefix("rembert.") not in kept
    }
    head = (
        32 * 24 + 3 * 24 + 60 * 24 + 60
    )  # dense, its bias and the norm, output embeddings, biases
    if kind == "coupled":
        head = 32 * 16 + 3 * 16 + 60
    block = 4 * (32 * 32 + 32) + 2 * 32 * 48 + 48 + 32 + 4 * 32
    assert sum(dropped.values()) == head + config.extra_layers * block


def test_fewer_layers_on_demand(tmp_path: Path) -> None:
    """Retrieval by layer loads only the blocks below."""
    whole = filled(DecoupledForMaskedLM(tiny_config(num_hidden_layers=3)))
    states = whole(**batch(), output_hidden_states=True).hidden_states
    cut = AutoModel.from_pretrained(saved(whole, tmp_path), num_hidden_layers=1)
    assert_equal(cut(**batch()).last_hidden_state, states[1])


def test_the_masked_lm_loss_at_positions_is_that_of_all_logits() -> None:
    model = filled(AutoModelForMaskedLM.from_config(tiny_config()))
    pieces = batch()["input_ids"]
    positions = torch.tensor([1, 9, 14, 30])
    gold = torch.tensor([4, 7, 1, 59])
    labels = torch.full((33,), -100).scatter(0, positions, gold).view(3, 11)
    loss, hits = model.loss_at(pieces, positions, gold)
    output = model(pieces, labels=labels)
    torch.testing.assert_close(loss, output.loss)
    right = output.logits.flatten(0, 1)[positions].argmax(-1) == gold
    assert int(hits) == int(right.sum())


@pytest.mark.parametrize("name", HEADS)
def test_every_head_trains_in_transformers_trainer(name: str, tmp_path: Path) -> None:
    model = HEADS[name][0].from_config(tiny_config(id2label=LABELS))
    inputs = inputs_for(name)
    rows = [
        {key: values[row] for key, values in inputs.items()}
        for row in range(len(inputs["input_ids"]))
    ]
    arguments = TrainingArguments(
        output_dir=str(tmp_path), max_steps=1, use_cpu=True, report_to=[], disable_tqdm=True
    )
    trained = Trainer(model=model, args=arguments, train_dataset=rows).train()
    assert trained.global_step == 1
    assert math.isfinite(trained.training_loss)
