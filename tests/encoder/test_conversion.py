"""Conversion to and from transformers' RemBERT, and opening either's checkpoints as the other without it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoConfig,
    AutoModelForMaskedLM,
    AutoTokenizer,
    RemBertConfig,
    RemBertForMaskedLM,
    RemBertModel,
)

from tests.encoder.test_heads import HEADS, LABELS, inputs_for
from tests.encoder.tiny_models import KINDS, batch, filled, saved, tiny_config
from tests.models.tiny_checkpoints import make_checkpoint
from xharness import encoder
from xharness.encoder import DecoupledConfig, DecoupledForMaskedLM, DecoupledModel
from xharness.encoder.conversion import from_rembert, to_rembert
from xharness.errors import InputError

encoder.register()

#: Kinds that RemBERT has a key for, or that conversion expresses in another way.
EXPRESSIBLE = sorted(KINDS.keys() - {"extra_layers"})


def rembert_config(**changes: Any) -> RemBertConfig:
    values: dict[str, Any] = {
        "vocab_size": 60,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 48,
        "input_embedding_size": 16,
        "output_embedding_size": 24,
        "max_position_embeddings": 20,
        "classifier_dropout_prob": 0.0,
        "bos_token_id": 2,
        "eos_token_id": 3,
    }
    return RemBertConfig(**{**values, **changes})


def states_of(model: Any, inputs: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    output = model.eval()(**inputs, output_hidden_states=True)
    return [*output.hidden_states, *(v for v in output.to_tuple() if torch.is_tensor(v))]


def assert_same(found: Any, expected: Any, inputs: dict[str, torch.Tensor] | None = None) -> None:
    """All hidden states and outputs agree to 1e-5, with padding and token types, and without either."""
    for given in (inputs or batch(), {"input_ids": (inputs or batch())["input_ids"]}):
        pairs = zip(states_of(found, given), states_of(expected, given), strict=True)
        for ours, theirs in pairs:
            torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    return dict(load_file(folder / "model.safetensors"))


def assert_same_weights(first: Path, second: Path) -> None:
    a, b = weights_of(first), weights_of(second)
    assert a.keys() == b.keys()
    assert all(a[name].dtype == b[name].dtype and torch.equal(a[name], b[name]) for name in a)


# -- without conversion -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs"), [(DecoupledModel, RemBertModel), (DecoupledForMaskedLM, RemBertForMaskedLM)]
)
@pytest.mark.parametrize("equal_sizes", [False, True])
def test_either_opens_the_other_directly(
    ours: Any, theirs: Any, equal_sizes: bool, tmp_path: Path
) -> None:
    sizes = {"input_embedding_size": 32} if equal_sizes else {}
    mine = filled(ours(tiny_config(**sizes, input_projection=True)))
    opened, info = theirs.from_pretrained(saved(mine, tmp_path / "ours"), output_loading_info=True)
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    assert_same(opened, mine)

    other = filled(theirs(rembert_config(**sizes)))
    opened, info = ours.from_pretrained(saved(other, tmp_path / "theirs"), output_loading_info=True)
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    assert opened.config.model_type == "decoupled_encoder"
    assert_same(opened, other)


@pytest.mark.parametrize("name", HEADS)
def test_heads_open_directly(name: str, tmp_path: Path) -> None:
    auto, rembert_class = HEADS[name]
    labels = {} if name in ("question", "choice") else {"id2label": LABELS}
    mine = filled(auto.from_config(tiny_config(**labels)))
    opened = rembert_class.from_pretrained(saved(mine, tmp_path / "ours"))
    inputs = inputs_for(name, labelled=False)
    assert_same(opened, mine, inputs)
    assert_same(type(mine).from_pretrained(saved(opened, tmp_path / "theirs")), opened, inputs)


def test_a_pre_training_checkpoint_opens_as_an_encoder_of_the_other(tmp_path: Path) -> None:
    mine = filled(DecoupledForMaskedLM(tiny_config()))
    opened = RemBertModel.from_pretrained(saved(mine, tmp_path), add_pooling_layer=False).eval()
    torch.testing.assert_close(
        opened(**batch()).last_hidden_state,
        mine.rembert(**batch()).last_hidden_state,
        atol=1e-5,
        rtol=0,
    )


# -- converted --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EXPRESSIBLE)
@pytest.mark.parametrize("model_class", [DecoupledModel, DecoupledForMaskedLM])
def test_what_can_be_expressed_gives_equal_states(
    model_class: Any, kind: str, tmp_path: Path
) -> None:
    model = filled(model_class(tiny_config(**KINDS[kind])))
    report = to_rembert(saved(model, tmp_path / "ours"), tmp_path / "theirs")
    theirs = RemBertModel if model_class is DecoupledModel else RemBertForMaskedLM
    assert report.architecture == theirs.__name__
    config = AutoConfig.from_pretrained(tmp_path / "theirs")
    assert type(config) is RemBertConfig
    opened, info = theirs.from_pretrained(tmp_path / "theirs", output_loading_info=True)
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    assert_same(opened, model)
    assert report.parameters == sum(p.numel() for p in opened.parameters())
    assert report.dropped == 0
    told = {change.split(":")[0] for change in report.changes}
    assert (
        told
        == {
            "decoupled": set(),
            "coupled": {"coupling"},
            "equal_sizes": {"input_projection"},
            "factorised": {"input_kind"},
            "define": {"input_kind"},
            "frozen": {"freeze_input_embedding"},
        }[kind]
    )


@pytest.mark.parametrize("kind", EXPRESSIBLE)
@pytest.mark.parametrize("name", HEADS)
def test_fine_tuned_heads_carry_over(name: str, kind: str, tmp_path: Path) -> None:
    auto, rembert_class = HEADS[name]
    labels: dict[str, Any] = {}
    if name not in ("question", "choice"):
        labels = {"id2label": LABELS, "label2id": {v: k for k, v in LABELS.items()}}
    model = filled(auto.from_config(tiny_config(**KINDS[kind], **labels)))
    report = to_rembert(saved(model, tmp_path / "ours"), tmp_path / "theirs")
    assert report.architecture == rembert_class.__name__
    opened = auto.from_pretrained(tmp_path / "theirs")
    assert type(opened) is rembert_class
    inputs = inputs_for(name, labelled=False)
    assert_same(opened, model, inputs)
    from_rembert(tmp_path / "theirs", tmp_path / "back")
    back = auto.from_pretrained(tmp_path / "back")
    assert type(back) is type(model)
    if labels:
        assert opened.config.id2label == back.config.id2label == LABELS
        assert opened.config.label2id == back.config.label2id == labels["label2id"]
    assert_same(back, model, inputs)


@pytest.mark.parametrize(
    "model_class", [RemBertModel, RemBertForMaskedLM, *(h[1] for h in HEADS.values())]
)
@pytest.mark.parametrize("equal_sizes", [False, True])
def test_rembert_there_and_back_is_bit_equal(
    model_class: Any, equal_sizes: bool, tmp_path: Path
) -> None:
    sizes = {"input_embedding_size": 32} if equal_sizes else {}
    config = rembert_config(**sizes, use_cache=False, bos_token_id=7, note="kept")
    model = filled(model_class(config))
    before, ours, after = (tmp_path / name for name in ("before", "ours", "after"))
    report = from_rembert(saved(model, before), ours)
    assert report.parameters == sum(p.numel() for p in model.parameters())
    assert json.loads((ours / "config.json").read_text())["model_type"] == "decoupled_encoder"
    assert to_rembert(ours, after).changes == ()
    assert_same_weights(before, after)
    first, second = (json.loads((f / "config.json").read_text()) for f in (before, after))
    assert second == first
    opened = getattr(encoder.heads, report.architecture, None) or getattr(
        encoder, report.architecture
    )
    inputs = inputs_for("choice", labelled=False) if "Choice" in report.architecture else batch()
    assert_same(opened.from_pretrained(ours), model, inputs)


@pytest.mark.parametrize("model_class", [DecoupledModel, DecoupledForMaskedLM])
def test_the_decoupled_encoder_there_and_back_is_bit_equal(
    model_class: Any, tmp_path: Path
) -> None:
    model = filled(model_class(tiny_config()))
    ours, theirs, back = (tmp_path / name for name in ("ours", "theirs", "back"))
    to_rembert(saved(model, ours), theirs)
    from_rembert(theirs, back)
    assert_same_weights(ours, back)
    first, second = (DecoupledConfig.from_pretrained(folder).to_dict() for folder in (ours, back))
    assert second.items() >= first.items()
    # What RemBERT's file says beyond that concerns decoders alone.
    assert second.keys() - first.keys() <= {"is_decoder", "add_cross_attention", "use_cache"}


def test_a_type_of_16_bits_is_kept(tmp_path: Path) -> None:
    model = filled(DecoupledForMaskedLM(tiny_config(**KINDS["define"]))).to(torch.bfloat16)
    to_rembert(saved(model, tmp_path / "ours"), tmp_path / "theirs")
    assert {t.dtype for t in weights_of(tmp_path / "theirs").values()} == {torch.bfloat16}
    opened = RemBertForMaskedLM.from_pretrained(tmp_path / "theirs", dtype="auto")
    assert opened.dtype == torch.bfloat16


def test_shards_are_read(tmp_path: Path) -> None:
    model = filled(DecoupledForMaskedLM(tiny_config()))
    model.save_pretrained(tmp_path / "ours", max_shard_size="20KB")
    assert len(list((tmp_path / "ours").glob("*.safetensors"))) > 1
    to_rembert(tmp_path / "ours", tmp_path / "theirs")
    assert_same(RemBertForMaskedLM.from_pretrained(tmp_path / "theirs"), model)


def test_an_encoder_without_pooler_has_none_after(tmp_path: Path) -> None:
    model = filled(DecoupledModel(tiny_config(), add_pooling_layer=False))
    to_rembert(saved(model, tmp_path / "ours"), tmp_path / "theirs")
    assert not any("pooler" in name for name in weights_of(tmp_path / "theirs"))


# -- what pre-training alone has --------------------------------------------------------------------------


def test_extra_layers_are_dropped_only_when_asked(tmp_path: Path) -> None:
    config = tiny_config(extra_layers=2)
    model = filled(DecoupledForMaskedLM(config))
    folder = saved(model, tmp_path / "ours")
    with pytest.raises(InputError) as caught:
        to_rembert(folder, tmp_path / "theirs")
    assert str(caught.value) == (
        f"{folder}: extra_layers: RemBERT has no 2 extra layers that fine-tuning drops "
        "(drop them with the masked-LM head (drop_pre_training))"
    )
    assert not (tmp_path / "theirs").exists()

    report = to_rembert(folder, tmp_path / "theirs", drop_pre_training=True)
    opened = RemBertModel.from_pretrained(tmp_path / "theirs", add_pooling_layer=False).eval()
    fine_tuned = DecoupledModel(config, add_pooling_layer=False)
    assert report.architecture == "RemBertModel"
    assert report.parameters == sum(p.numel() for p in fine_tuned.parameters())
    assert report.dropped == sum(p.numel() for p in model.parameters()) - report.parameters
    expected = model(**batch(), output_hidden_states=True).hidden_states[2]
    torch.testing.assert_close(opened(**batch()).last_hidden_state, expected, atol=1e-5, rtol=0)


def test_dropping_from_a_fine_tuned_checkpoint_drops_nothing(tmp_path: Path) -> None:
    auto, _ = HEADS["token"]
    model = filled(auto.from_config(tiny_config(extra_layers=2, id2label=LABELS)))
    folder = saved(model, tmp_path / "ours")
    assert to_rembert(folder, tmp_path / "theirs", drop_pre_training=True).dropped == 0
    assert_same(auto.from_pretrained(tmp_path / "theirs"), model)


# -- tokenizers -------------------------------------------------------------------------------------------

TEXTS = ("The old boat waits.", "Das alte Boot wartet an der Brücke.", "旧船停在市场旁边的石桥下。")


def test_the_tokenizer_of_a_rembert_folder_is_carried_along(tmp_path: Path) -> None:
    before = make_checkpoint("rembert", tmp_path / "before", AutoModelForMaskedLM)
    from_rembert(before, tmp_path / "ours")
    to_rembert(tmp_path / "ours", tmp_path / "after")
    expected = AutoTokenizer.from_pretrained(before)(list(TEXTS), list(TEXTS))
    for name in ("ours", "after"):
        found = AutoTokenizer.from_pretrained(tmp_path / name)(list(TEXTS), list(TEXTS))
        assert found["input_ids"] == expected["input_ids"]
        for file in ("tokenizer.json", "tokenizer_config.json"):
            assert (tmp_path / name / file).read_bytes() == (before / file).read_bytes()


def test_a_tokenizer_without_class_gets_that_of_rembert(tmp_path: Path) -> None:
    before = make_checkpoint("rembert", tmp_path / "before", AutoModelForMaskedLM)
    settings = json.loads((before / "tokenizer_config.json").read_text())
    expected = AutoTokenizer.from_pretrained(before)(list(TEXTS))["input_ids"]
    del settings["tokenizer_class"]
    (before / "tokenizer_config.json").write_text(json.dumps(settings))
    from_rembert(before, tmp_path / "ours")
    written = json.loads((tmp_path / "ours" / "tokenizer_config.json").read_text())
    assert written == {**settings, "tokenizer_class": "RemBertTokenizer"}
    assert AutoTokenizer.from_pretrained(tmp_path / "ours")(list(TEXTS))["input_ids"] == expected


# -- unusable checkpoints ---------------------------------------------------------------------------------


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    return saved(filled(DecoupledForMaskedLM(tiny_config())), tmp_path / "ours")


def edit_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def refusal(folder: Path, into: Path, convert: Any = to_rembert) -> str:
    with pytest.raises(InputError) as caught:
        convert(folder, into)
    return str(caught.value)


def test_a_target_with_content_is_refused(ours: Path) -> None:
    assert refusal(ours, ours) == f"{ours}: exists already (name a new folder)"


def test_an_empty_target_is_used(ours: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    to_rembert(ours, tmp_path / "theirs")
    assert not list(tmp_path.glob(".*partial"))
    assert (tmp_path / "theirs" / "config.json").is_file()


def test_a_target_that_cannot_be_written_is_named(ours: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    message = refusal(ours, tmp_path / "file" / "theirs")
    assert message.startswith(f"{tmp_path / 'file' / 'theirs'}: cannot be written")


def test_no_folder(tmp_path: Path) -> None:
    message = refusal(tmp_path / "none", tmp_path / "theirs")
    assert message.startswith(f"{tmp_path / 'none' / 'config.json'}: no readable configuration")


def test_the_wrong_family(ours: Path, tmp_path: Path) -> None:
    message = refusal(ours, tmp_path / "x", from_rembert)
    assert message.endswith("a model of type 'decoupled_encoder' and not 'rembert'")


@pytest.mark.parametrize("text", ["", "{", "[]", '"decoupled_encoder"', "\udcff"])
def test_a_damaged_configuration(ours: Path, tmp_path: Path, text: str) -> None:
    (ours / "config.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert refusal(ours, tmp_path / "x").startswith(f"{ours / 'config.json'}: ")


def test_an_impossible_configuration(ours: Path, tmp_path: Path) -> None:
    edit_config(ours, num_attention_heads=5)
    message = refusal(ours, tmp_path / "x")
    assert message == f"{ours}: num_attention_heads: 5 heads do not divide a width of 32"


def test_an_impossible_configuration_of_rembert(tmp_path: Path) -> None:
    folder = saved(filled(RemBertModel(rembert_config())), tmp_path / "theirs")
    edit_config(folder, hidden_size="wide")
    assert refusal(folder, tmp_path / "x", from_rembert).startswith(f"{folder}: unusable config")


def test_a_decoder_is_refused(tmp_path: Path) -> None:
    folder = saved(filled(RemBertModel(rembert_config())), tmp_path / "theirs")
    edit_config(folder, is_decoder=True)
    message = refusal(folder, tmp_path / "x", from_rembert)
    assert message.startswith(f"{folder}: is_decoder: only an encoder")


def test_weights_that_do_not_fit(ours: Path, tmp_path: Path) -> None:
    edit_config(ours, output_embedding_size=20)
    message = refusal(ours, tmp_path / "x")
    assert message.startswith(
        f"{ours}: 5 weights do not fit the configuration: cls.predictions.LayerNorm.bias is (24,)"
    )


def test_absent_and_unknown_weights(ours: Path, tmp_path: Path) -> None:
    weights = weights_of(ours)
    weights["surplus"] = weights.pop("rembert.embeddings.LayerNorm.bias")
    save_file(weights, ours / "model.safetensors", {"format": "pt"})
    message = refusal(ours, tmp_path / "x")
    assert (
        "2 weights do not fit the configuration: rembert.embeddings.LayerNorm.bias is absent"
        in message
    )


@pytest.mark.parametrize("kind", ["coupled", "equal_sizes", "define"])
def test_an_absent_table_is_named(kind: str, tmp_path: Path) -> None:
    model = filled(DecoupledForMaskedLM(tiny_config(**KINDS[kind])))
    folder = saved(model, tmp_path / "ours")
    weights = weights_of(folder)
    weights.pop("rembert.embeddings.word_embeddings.weight")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    name = "decoder" if kind == "coupled" else "word_embeddings"
    assert f"{name}.weight is absent" in refusal(folder, tmp_path / "x")


def test_damaged_weights(ours: Path, tmp_path: Path) -> None:
    path = ours / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    assert refusal(ours, tmp_path / "x").startswith(f"{path}: damaged weights")


def test_pickled_weights_are_not_opened(ours: Path, tmp_path: Path) -> None:
    (ours / "model.safetensors").unlink()
    (ours / "pytorch_model.bin").write_bytes(b"")
    assert refusal(ours, tmp_path / "x").startswith(f"{ours}: no safetensors weights")


def test_a_classifier_of_unknown_kind(tmp_path: Path) -> None:
    auto, _ = HEADS["token"]
    folder = saved(auto.from_config(tiny_config()), tmp_path / "ours")
    edit_config(folder, architectures=None)
    assert refusal(folder, tmp_path / "x").startswith(
        f"{folder / 'config.json'}: architectures: the head is unknown"
    )


def test_an_interrupted_conversion_leaves_no_half(ours: Path, tmp_path: Path) -> None:
    """What an earlier try left is cleared away."""
    left = tmp_path / ".theirs.partial"
    shutil.copytree(ours, left)
    (left / "vocab.txt").write_text("old")
    to_rembert(ours, tmp_path / "theirs")
    assert not (tmp_path / "theirs" / "vocab.txt").exists()
    assert not left.exists()
