"""Every family of encoders goes through the one adapter: training, prediction, retrieval, description."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModel

from xharness.data.examples import Bitext, QuestionExample, TaggingExample
from xharness.inference.device import Device
from xharness.inference.prediction import embed_sentences
from xharness.inference.progress import Silent
from xharness.models.adapter import ModelAdapter, open_model
from xharness.models.checkpoints import load_config, load_encoder, load_tokenizer
from xharness.specs.task import TaskSpec
from xharness.tasks.retrieval import encode_sentences

from .tiny_checkpoints import FAMILIES, LAYERS, POSITIONS, SENTENCES
from .tiny_tasks import (
    EPOCHS,
    HEADED,
    NARROW,
    NEIGHBOURS,
    QUESTIONS,
    TAGS,
    TRAIN,
    WIDE,
    bitext,
    gold,
    settings,
    split_of,
)

Checkpoint = Callable[[str], Path]
families = pytest.mark.parametrize("family", FAMILIES)
#: For tests of a second and more; XLM-R XL differs from XLM-R in the place of its norms alone.
families_to_train = pytest.mark.parametrize(
    "family",
    [pytest.param(f, marks=[pytest.mark.slow] if f.endswith("-xl") else []) for f in FAMILIES],
)
kinds = pytest.mark.parametrize("kind", HEADED)


def tuned(
    reference: Path, task: TaskSpec, kind: str, into: Path, device: Device = WIDE, **values: Any
) -> tuple[ModelAdapter, Any]:
    """Fine-tune on the kind's training split; return the adapter of the result and the report."""
    into.mkdir()
    adapter = open_model(str(reference), device)
    report = adapter.finetune(task, TRAIN[kind](), None, settings(**values), 1, into, Silent())
    return adapter.finetuned(task, into), report


@kinds
@families_to_train
def test_learns_its_training_set_by_heart(
    family: str, kind: str, checkpoint: Checkpoint, tmp_path: Path
) -> None:
    task, split = HEADED[kind], TRAIN[kind]()
    adapter, report = tuned(checkpoint(family), task, kind, tmp_path / "tuned", epochs=EPOCHS[kind])
    assert report.losses[-1] < 0.3 * report.losses[0]
    adapter.check_head(task)
    wide = adapter.predict(task, split, settings(), Silent())
    assert wide.values == gold(split)
    narrow = open_model(str(tmp_path / "tuned"), NARROW).predict(task, split, settings(), Silent())
    assert narrow == wide


@families_to_train
def test_one_seed_gives_the_same_bytes_and_another_does_not(
    family: str, checkpoint: Checkpoint, tmp_path: Path
) -> None:
    contents = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        into = tmp_path / name
        into.mkdir()
        adapter = open_model(str(checkpoint(family)), WIDE)
        train = TRAIN["pairs"]()
        recipe = settings(epochs=2, batch_size=4)
        adapter.finetune(HEADED["pairs"], train, None, recipe, seed, into, Silent())
        contents.append((into / "model.safetensors").read_bytes())
    assert contents[0] == contents[1] != contents[2]


@kinds
@families_to_train
def test_a_step_is_the_same_however_it_is_split(
    family: str, kind: str, checkpoint: Checkpoint, tmp_path: Path
) -> None:
    # Adam divides by the gradient's size: a large epsilon keeps rounding noise in gradients that are
    # mathematically zero (key biases) from becoming a full step.
    recipe = {"epochs": 1, "learning_rate": 1e-2, "adam_epsilon": 1e-3}
    one_by_one = Device("cpu", "float32", 1)
    found = []
    for name, device in (("one", one_by_one), ("all", WIDE)):
        _, report = tuned(checkpoint(family), HEADED[kind], kind, tmp_path / name, device, **recipe)
        assert report.steps == 1
        found.append(load_file(tmp_path / name / "model.safetensors"))
    start = load_file(checkpoint(family) / "model.safetensors")
    moved = 0.0
    for name, weights in found[0].items():
        torch.testing.assert_close(weights, found[1][name], atol=1e-5, rtol=0)
        base = name.partition(".")[2]
        if base in start and start[base].shape == weights.shape:
            moved = max(moved, float((weights - start[base]).abs().max()))
    assert moved > 1e-3


@families
def test_logits_do_not_depend_on_the_batch(family: str, checkpoint: Checkpoint) -> None:
    texts = [*SENTENCES, "a", "", " ".join(SENTENCES)]
    config = load_config(str(checkpoint(family)))
    _, pieces = load_tokenizer(str(checkpoint(family)), config)
    encoding = encode_sentences(texts, pieces, settings(max_length=512))
    assert encoding.counts == {"sentences_cut": 1}
    assert encoding.lengths.max() == POSITIONS
    encoder = load_encoder(str(checkpoint(family)))
    vectors = [
        embed_sentences(encoder, encoding, device, Silent(), layer=LAYERS, pooling="mean")
        for device in (NARROW, WIDE)
    ]
    np.testing.assert_allclose(vectors[0], vectors[1], atol=2e-5)
    assert vectors[0].std(axis=0).min() > 1e-3


@pytest.mark.parametrize("layer", range(1, LAYERS + 1))
@families
def test_a_truncated_encoder_has_the_whole_models_hidden_state(
    family: str, layer: int, checkpoint: Checkpoint
) -> None:
    """Also where a norm follows the last block, which the whole model's middle layers do not pass."""
    reference = str(checkpoint(family))
    _, pieces = load_tokenizer(reference, load_config(reference))
    encoding = encode_sentences(SENTENCES, pieces, settings())
    whole = AutoModel.from_pretrained(reference).eval()
    expected = []
    for at, length in zip(encoding.starts, encoding.lengths, strict=False):
        ids = torch.from_numpy(encoding.ids[at : at + length]).long()[None]
        with torch.inference_mode():
            states = whole(
                input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True
            ).hidden_states
        expected.append(states[layer][0].mean(dim=0).numpy())
    encoder = load_encoder(reference, layer if layer < LAYERS else None)
    assert encoder.config.num_hidden_layers <= min(layer + 1, LAYERS)
    found = embed_sentences(encoder, encoding, WIDE, Silent(), layer=layer, pooling="mean")
    np.testing.assert_allclose(found, np.array(expected), atol=2e-5)


@pytest.mark.parametrize("layer", [1, "last"])
@families
def test_a_sentence_is_its_own_nearest_neighbour(
    family: str, layer: Any, checkpoint: Checkpoint
) -> None:
    split = bitext()
    adapter = open_model(str(checkpoint(family)), NARROW)
    adapter.check_head(NEIGHBOURS)
    found = adapter.predict(NEIGHBOURS, split, settings(layer=layer), Silent())
    text = split.examples[0]
    assert isinstance(text, Bitext)
    assert text.gold is not None
    assert found.values == [target for _, target in text.gold]


@families
def test_every_word_gets_a_tag(family: str, checkpoint: Checkpoint, tmp_path: Path) -> None:
    adapter, _ = tuned(checkpoint(family), TAGS, "tags", tmp_path / "tuned", epochs=1)
    odd = ("boat", "", "\u00ad", "\u200b", "\ufe0f", "\u3000", " ", "\x00", "ﷺ", "🛶", "</s>")
    sentences = [
        odd,
        tuple(["bread"] * 150),
        ("Lisbon-harbour-market" * 8, "boat"),
        ("",),
        ("boat",),
    ]
    examples = [TaggingExample(f"t{i}", words, None) for i, words in enumerate(sentences)]
    found = adapter.predict(TAGS, split_of(TAGS, examples, "test"), settings(), Silent())
    predicted: Any = found.values
    assert [len(tags) for tags in predicted] == [len(words) for words in sentences]
    assert {tag for tags in predicted for tag in tags} <= set(TAGS.labels)
    assert found.counts["words_without_pieces"] >= 2
    assert found.counts["words_of_too_many_pieces"] == 1
    assert found.counts["sentences_cut"] >= 2


@families
def test_answers_are_slices_of_contexts_of_any_length(
    family: str, checkpoint: Checkpoint, tmp_path: Path
) -> None:
    adapter, _ = tuned(checkpoint(family), QUESTIONS, "questions", tmp_path / "tuned", epochs=1)
    long = " ".join(SENTENCES)
    asked = [
        ("Who ?", long),
        ("Who waits at the bridge " * 20, long),
        ("", "Maria left ."),
        ("Who ?", ""),
        ("Who ?", "  ½ ㎞ ﬃ e\u0301 🛶🛶  "),
    ]
    examples = [QuestionExample(f"q{i}", q, c, ()) for i, (q, c) in enumerate(asked)]
    found = adapter.predict(QUESTIONS, split_of(QUESTIONS, examples, "test"), settings(), Silent())
    answers: Any = found.values
    assert list(answers) == [example.id for example in examples]
    for example in examples:
        assert answers[example.id] in example.context
    assert answers["q3"] == ""
    assert all(answers[name] for name in ("q0", "q1", "q2"))
    assert found.counts["questions_in_several_windows"] == 2
    assert found.counts["questions_cut"] == 1


@families
def test_describes_itself(family: str, checkpoint: Checkpoint) -> None:
    reference = checkpoint(family)
    info = open_model(f"transformers:{reference}", WIDE).describe()
    stored = load_file(reference / "model.safetensors")
    assert info.parameters == sum(tensor.numel() for tensor in stored.values())
    assert (info.name, info.architecture, info.layers) == (reference.name, family, LAYERS)
    assert info.revision is None
    assert ("no token types" in info.notes) == (not FAMILIES[family].token_types)
    assert "slow tokenizer" not in info.notes
    assert len(info.weights_sha256) == 64


@families
def test_a_window_holds_as_many_pieces_as_the_model_has_positions(
    family: str, checkpoint: Checkpoint
) -> None:
    _, pieces = load_tokenizer(str(checkpoint(family)), load_config(str(checkpoint(family))))
    assert pieces.max_length == POSITIONS
    encoder = load_encoder(str(checkpoint(family))).eval()
    # The piece is no padding in any family, or RoBERTa's kind would not count its positions.
    ids = torch.full((1, POSITIONS), 7)
    state = encoder(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
    assert math.isfinite(float(state.detach().sum()))
