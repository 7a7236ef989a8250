"""A checkpoint that already has a head: scored without training, its labels matched by name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    XLMForQuestionAnswering,
)

from xharness.errors import InputError
from xharness.inference.progress import Silent
from xharness.models.adapter import open_model

from .tiny_checkpoints import FAMILIES, make_checkpoint
from .tiny_tasks import PAIRS, QUESTIONS, TAGS, WIDE, gold, pairs, questions, settings, tags

Checkpoint = Callable[[str], Path]


def classifier(folder: Path, names: tuple[str, ...], family: str = "bert") -> Path:
    """Write a tiny checkpoint with a classifier whose outputs have these names."""
    return make_checkpoint(
        family,
        folder,
        AutoModelForSequenceClassification,
        id2label=dict(enumerate(names)),
        label2id={name: i for i, name in enumerate(names)},
    )


def predictions(folder: Path) -> Any:
    """Return what a checkpoint says of the pairs, without training."""
    adapter = open_model(str(folder), WIDE)
    adapter.check_head(PAIRS)
    return adapter.predict(PAIRS, pairs(), settings(), Silent()).values


def test_permuted_labels_give_the_same_predictions(checkpoint: Checkpoint, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    untrained = open_model(str(checkpoint("bert")), WIDE)
    untrained.finetune(PAIRS, pairs(), None, settings(), 1, plain, Silent())
    permuted = Path(shutil.copytree(plain, tmp_path / "permuted"))
    order = [2, 0, 1]
    weights = load_file(permuted / "model.safetensors")
    for name in ("classifier.weight", "classifier.bias"):
        weights[name] = weights[name][order].contiguous()
    save_file(weights, permuted / "model.safetensors", {"format": "pt"})
    config = json.loads((permuted / "config.json").read_text(encoding="utf-8"))
    config["id2label"] = {str(i): PAIRS.labels[old] for i, old in enumerate(order)}
    config["label2id"] = {PAIRS.labels[old]: i for i, old in enumerate(order)}
    (permuted / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert predictions(plain) == gold(pairs())
    assert predictions(permuted) == gold(pairs())


@pytest.mark.parametrize(
    "names",
    [
        ("ENTAILMENT", "Neutral", "CONTRADICTION"),
        ("entailment", "neutral", "contradictory"),
        ("entailment", "neutral", "Contradictory"),
    ],
)
def test_labels_match_without_case_and_by_alias(names: tuple[str, ...], tmp_path: Path) -> None:
    plain = classifier(tmp_path / "plain", PAIRS.labels)
    assert predictions(classifier(tmp_path / "other", names)) == predictions(plain)


@pytest.mark.parametrize(
    "names",
    [
        ("LABEL_0", "LABEL_1", "LABEL_2"),
        ("entailment", "not_entailment"),
        ("entailment", "neutral", "contradiction", "hidden"),
        ("entailment", "neutral", "neutral"),
        ("contradictory", "neutral", "contradiction"),
    ],
)
def test_labels_of_another_task_are_named(names: tuple[str, ...], tmp_path: Path) -> None:
    adapter = open_model(str(classifier(tmp_path / "other", names)), WIDE)
    for use in (
        lambda: adapter.check_head(PAIRS),
        lambda: adapter.predict(PAIRS, pairs(), settings(), Silent()),
    ):
        with pytest.raises(
            InputError, match=r"labels .* are not those of task tiny_pairs"
        ) as error:
            use()
        assert error.value.where == str(tmp_path / "other")
        assert "id2label" in str(error.value.mend)
        assert ", ".join(names) in error.value.what


@pytest.mark.parametrize("family", FAMILIES)
def test_an_encoder_has_no_head(family: str, checkpoint: Checkpoint) -> None:
    adapter = open_model(str(checkpoint(family)), WIDE)
    for task in (PAIRS, TAGS, QUESTIONS):
        with pytest.raises(InputError, match=f"has no head for {task.kind} tasks") as error:
            adapter.check_head(task)
        assert "--no-finetune" in str(error.value.mend)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_head_of_one_kind_is_no_head_of_another(family: str, tmp_path: Path) -> None:
    folder = make_checkpoint(family, tmp_path / "qa", AutoModelForQuestionAnswering)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert config["architectures"][0].endswith(FAMILIES[family].question_head)
    adapter = open_model(str(folder), WIDE)
    adapter.check_head(QUESTIONS)
    assert len(adapter.predict(QUESTIONS, questions(), settings(), Silent()).values) == 6
    for task in (PAIRS, TAGS):
        with pytest.raises(InputError, match="has no head"):
            adapter.check_head(task)


def test_tags_are_matched_by_name_too(tmp_path: Path) -> None:
    names = dict(enumerate(reversed(TAGS.labels)))
    folder = make_checkpoint(
        "xlm-roberta", tmp_path / "tagger", AutoModelForTokenClassification, id2label=names
    )
    adapter = open_model(str(folder), WIDE)
    adapter.check_head(TAGS)
    found: Any = adapter.predict(TAGS, tags(), settings(), Silent()).values
    torch.manual_seed(0)
    model = AutoModelForTokenClassification.from_pretrained(folder).eval()
    # The first word of the first sentence is one piece after the first special token.
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    words = list(tags().examples[0].words)  # type: ignore[union-attr]
    inputs = tokenizer(words, is_split_into_words=True, return_tensors="pt")
    expected = names[int(model(**inputs).logits[0, 1].argmax())]
    assert found[0][0] == expected


def test_a_head_whose_weights_are_absent_is_refused(tmp_path: Path) -> None:
    folder = classifier(tmp_path / "plain", PAIRS.labels)
    weights = load_file(folder / "model.safetensors")
    del weights["classifier.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    adapter = open_model(str(folder), WIDE)
    with pytest.raises(InputError, match=r"lacks 1 of the model's weights, classifier\.weight"):
        adapter.predict(PAIRS, pairs(), settings(), Silent())


def test_xlms_head_with_beam_search_is_not_taken_for_the_simple_one(tmp_path: Path) -> None:
    class Beam:
        from_config = staticmethod(XLMForQuestionAnswering)

    folder = make_checkpoint("xlm", tmp_path / "beam", Beam)
    adapter = open_model(str(folder), WIDE)
    with pytest.raises(InputError, match=r"lacks .* of the model's weights, qa_outputs"):
        adapter.predict(QUESTIONS, questions(), settings(), Silent())


def test_a_trained_head_is_replaced_where_the_labels_differ(tmp_path: Path) -> None:
    folder = classifier(tmp_path / "two", ("yes", "no"))
    into = tmp_path / "tuned"
    into.mkdir()
    adapter = open_model(str(folder), WIDE)
    recipe = settings(epochs=1)
    adapter.finetune(PAIRS, pairs(), None, recipe, 1, into, Silent())
    adapter.finetuned(PAIRS, into).check_head(PAIRS)
