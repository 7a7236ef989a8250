"""Parameter counts: every printed one, the modules that they are of, and own checkpoints."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM, RemBertConfig

from tests.encoder.tiny_models import KINDS, tiny_config
from xharness.analysis.parameters import Convention, Counts, count
from xharness.analysis.parameters_command import ParametersCommand, own_row, published_table
from xharness.analysis.published_parameters import (
    PUBLISHED,
    ParameterRow,
    agreement,
    load_published,
    published_rows,
)
from xharness.encoder import DecoupledConfig, DecoupledForMaskedLM, DecoupledModel
from xharness.errors import InputError
from xharness.sample import CHECKPOINT

MILLION = 1_000_000

#: All printed counts in millions, (pre-training, fine-tuning), of arXiv 2010.12821v1: the tables' own cells, typed
#: here apart from the file of configurations.
PRINTED: dict[int, list[tuple[int, int | None]]] = {
    1: [(178, None), (270, None), (550, None), (110, None), (335, None)],
    2: [(177, 177), (269, 177)],
    3: [(192, 177), (192, 100)],
    4: [(115, 100), (192, 100), (469, 100)],
    5: [(192, 100), (193, 100)],
    6: [(192, 100), (260, 168), (270, 178)],
    12: [(110, 110), (89, 89), (177, 177), (100, 100)],
    13: [(110, 110), (93, 89), (112, 89), (181, 89), (114, 89), (178, 89)],
    14: [(995, 575)],
}
#: Where the paper contradicts itself or its configuration, and what is then shown beside what agrees.
DIFFERENT = {
    (1, "XLM-R Base"): {"pretraining", "share"},
    (1, "XLM-R Large"): {"pretraining", "share"},
    (5, "11 extra layers, Eout 768"): {"pretraining"},
    (6, "reinvested in H (1024)"): {"pretraining", "fine_tuning"},
    (14, "RemBERT, Eout 1536"): {"pretraining"},
}


@pytest.fixture(scope="module")
def rows() -> tuple[ParameterRow, ...]:
    return published_rows()


def test_every_printed_pair_is_there(rows: tuple[ParameterRow, ...]) -> None:
    for table, pairs in PRINTED.items():
        found = {
            (row.published.pretraining, row.published.fine_tuning)
            for row in rows
            if row.table == table and row.published
        }
        assert found == set(pairs), table
    assert {row.table for row in rows} == PRINTED.keys()


def test_every_count_is_met_to_the_printed_precision(rows: tuple[ParameterRow, ...]) -> None:
    """Less than a unit of the last printed digit apart, but for the cells known to contradict themselves."""
    for row in rows:
        assert row.published is not None
        printed = {
            "pretraining": (row.pretraining, row.published.pretraining),
            "fine_tuning": (row.fine_tuning, row.published.fine_tuning),
            "embedding": (row.counts.embedding, row.published.embedding),
        }
        differing = {
            name
            for name, (ours, millions) in printed.items()
            if millions is not None and abs(ours - millions * MILLION) >= MILLION
        }
        known = DIFFERENT.get((row.table or 0, row.model), set())
        assert differing == known - {"share"}, row.model
        found = {name for name, kind in row.agreements.items() if kind == "differs"}
        assert found == known, row.model


def test_every_pair_is_met_by_a_row_but_the_quoted_ones(rows: tuple[ParameterRow, ...]) -> None:
    """XLM-R's totals are the only printed counts that no reading meets."""
    for table, pairs in PRINTED.items():
        for pair in pairs:
            met = any(
                row.published is not None
                and (row.published.pretraining, row.published.fine_tuning) == pair
                and row.agrees
                for row in rows
                if row.table == table
            )
            assert met != (pair in {(270, None), (550, None)})


@pytest.mark.parametrize(
    ("model", "embedding", "share"),
    [
        # Vocabulary times width, and its share of our totals.
        ("mBERT", 119_547 * 768, 52),
        ("XLM-R Base", 250_002 * 768, 69),
        ("XLM-R Large", 250_002 * 1024, 46),
        ("BERT Base", 30_522 * 768, 21),
        ("BERT Large", 30_522 * 1024, 9),
    ],
)
def test_embedding_and_share(
    rows: tuple[ParameterRow, ...], model: str, embedding: int, share: int
) -> None:
    row = next(row for row in rows if row.table == 1 and row.model == model)
    assert row.counts.embedding == embedding
    assert round(row.share) == share


@pytest.mark.parametrize(
    ("output", "vocabulary", "fine_tuning", "with_pooler", "pre_training"),
    [
        # The architecture counted by hand: one block has 15,940,224 parameters, the pooler 1,328,256.
        (1536, 250_000, 574_515_328, 575_843_584, 961_867_664),
        (1664, 250_000, 574_515_328, 575_843_584, 994_015_504),
        (1664, 250_300, 574_592_128, 575_920_384, 994_591_804),
    ],
)
def test_rembert_to_the_last_parameter(
    output: int, vocabulary: int, fine_tuning: int, with_pooler: int, pre_training: int
) -> None:
    sizes = {"vocab_size": vocabulary, "output_embedding_size": output}
    theirs = count(RemBertConfig(**sizes))
    ours = count(
        DecoupledConfig(
            hidden_size=1152,
            num_hidden_layers=32,
            num_attention_heads=18,
            input_embedding_size=256,
            **sizes,
        )
    )
    assert ours == theirs
    assert ours.fine_tuning(Convention("pre_training")) == fine_tuning
    assert ours.fine_tuning(Convention("both")) == with_pooler
    assert ours.pre_training(Convention("pre_training")) == pre_training
    assert ours.pre_training(Convention("both")) == pre_training


def test_pre_training_is_fine_tuning_and_the_output_table(rows: tuple[ParameterRow, ...]) -> None:
    """FT + |V| Eout, which the printed counts of Tables 2 to 6 keep to."""
    by_model = {row.model: row for row in rows if row.table in (2, 3, 4)}
    for model, output in (
        ("decoupled 768/768", 768),
        ("Ein 768, Eout 128", 128),
        ("Ein 128, Eout 3072", 3072),
    ):
        row = by_model[model]
        assert row.pretraining - row.fine_tuning == 120_000 * output


@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_those_of_real_models(kind: str) -> None:
    """The parts against models with weights, part by part."""
    config = tiny_config(**KINDS[kind])
    counts = count(config)
    masked_lm, encoder = DecoupledForMaskedLM(config), DecoupledModel(config)

    def size(module: Any) -> int:
        return sum(parameter.numel() for parameter in module.parameters())

    assert encoder.pooler is not None
    assert counts.pre_training(Convention()) == size(masked_lm)
    assert counts.fine_tuning(Convention()) == size(encoder) - size(encoder.pooler)
    assert counts.fine_tuning(Convention("both")) == size(encoder)
    assert counts.pooler == 32 * 32 + 32
    assert counts.head == 32 * masked_lm.cls.predictions.dense.out_features + (
        3 * masked_lm.cls.predictions.dense.out_features + 60
    )
    assert counts.output_embedding == (0 if kind == "coupled" else 60 * 24)
    assert (counts.frozen > 0) == (kind == "frozen")
    trained = sum(p.numel() for p in encoder.parameters() if p.requires_grad)
    assert counts.frozen == size(encoder) - trained
    transform = encoder.embeddings.word_transform
    expected = encoder.embeddings.word_embeddings.weight.numel()
    assert counts.embedding == expected + (size(transform) if transform is not None else 0)
    blocks = encoder.encoder.layer
    assert counts.extra_layers == (2 * size(blocks[0]) if kind == "extra_layers" else 0)


@pytest.mark.parametrize("model_type", ["distilbert", "xlm-roberta", "modernbert"])
def test_other_families_are_counted_whole(model_type: str) -> None:
    sizes = {"vocab_size": 100, "hidden_size": 32, "dim": 32, "num_hidden_layers": 2, "n_layers": 2}
    tokens = {f"{role}_token_id": 1 for role in ("pad", "bos", "eos", "cls", "sep")}
    config = AutoConfig.for_model(model_type, **sizes, **tokens, num_attention_heads=4, n_heads=4)
    counts = count(config)
    masked_lm, encoder = AutoModelForMaskedLM.from_config(config), AutoModel.from_config(config)
    assert counts.pre_training(Convention()) == sum(p.numel() for p in masked_lm.parameters())
    assert counts.fine_tuning(Convention("both")) == sum(p.numel() for p in encoder.parameters())
    assert counts.output_embedding == counts.extra_layers == 0


def test_counting_takes_no_memory_for_weights() -> None:
    """Two blocks of 65,536 by 65,536 and more would need 400 GB."""
    counts = count(DecoupledConfig(hidden_size=2**16, num_attention_heads=1, num_hidden_layers=2))
    assert counts.encoder > 10**11


def test_a_family_without_the_head_is_refused() -> None:
    with pytest.raises(InputError, match="model type gpt2: no encoder with a masked-LM head"):
        count(AutoConfig.for_model("gpt2"))


@pytest.mark.parametrize(
    ("ours", "printed", "expected"),
    [
        (92.90, 93, "rounded"),
        (100.58, 100, "cut"),
        (109.48, 110, "rounded up"),
        (109.0, 110, "differs"),
        (111.0, 110, "differs"),
        (110.0, 110, "rounded"),
        (166.71, 168, "differs"),
    ],
)
def test_agreement(ours: float, printed: int, expected: str) -> None:
    assert agreement(ours, printed) == expected


@given(st.floats(0, 1e6), st.integers(0, 10**6))
def test_agreement_is_being_less_than_a_unit_apart(ours: float, printed: int) -> None:
    assert (agreement(ours, printed) == "differs") == (abs(ours - printed) >= 1)
    assert agreement(ours, math.floor(ours)) in ("rounded", "cut")


# -- the command ------------------------------------------------------------------------------------------


def test_the_table_shows_ours_beside_the_printed(rows: tuple[ParameterRow, ...]) -> None:
    lines = published_table(rows).splitlines()
    extra = next(line for line in lines if "11 extra layers, Eout 128" in line)
    assert extra.split()[-6:] == ["193.91", "193M", "cut", "100.58", "100M", "cut"]
    narrow = next(line for line in lines if "RemBERT, Eout 1536" in line)
    assert narrow.split()[-6:] == ["961.87", "995M", "differs", "574.52", "575M", "rounded"]
    agreeing = sum(row.agrees is True for row in rows)
    assert f"{agreeing} of {len(rows)} rows agree to the printed precision." in lines
    assert len(rows) - agreeing == len(DIFFERENT)


def test_json_has_integers_and_the_published_beside_them(tmp_path: Path) -> None:
    ParametersCommand(json_file=tmp_path / "counts.json").execute()
    rows = json.loads((tmp_path / "counts.json").read_text())
    for row in rows:
        assert {"table", "model", "pretraining", "fine_tuning"} <= row.keys()
        assert type(row["pretraining"]) is type(row["fine_tuning"]) is int
    row = next(r for r in rows if r["table"] == 3 and r["model"] == "Ein 128, Eout 768")
    assert row["published_pretraining"] == 192 * MILLION
    assert row["published_fine_tuning"] == 100 * MILLION
    # By hand: 12 blocks of 7,087,872; the map of 128 x 768 + 768; (120,000 + 512 + 2 + 2) x 128.
    assert row["fine_tuning"] == 12 * 7_087_872 + 128 * 768 + 768 + 120_516 * 128
    assert row["pretraining"] == row["fine_tuning"] + 120_000 * 768
    assert row["agreement"] == {"pretraining": "cut", "fine_tuning": "cut"}
    assert row["agrees"] is True


PRETRAINING = """\
name: tiny
steps: 10
vocabulary: {size: 60}
encoder:
  hidden_size: 32
  num_hidden_layers: 2
  num_attention_heads: 4
  intermediate_size: 48
  input_embedding_size: 16
  output_embedding_size: 24
  extra_layers: 2
  freeze_input_embedding: true
  max_position_embeddings: 20
sequence_length: 16
"""


def test_own_configurations_and_checkpoints(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(PRETRAINING)
    config = tiny_config(extra_layers=2, freeze_input_embedding=True)
    DecoupledForMaskedLM(config).save_pretrained(tmp_path / "checkpoint")
    from_file, from_folder = own_row(str(path)), own_row(str(tmp_path / "checkpoint"))
    assert from_file.model == "tiny"
    assert from_folder.model == "checkpoint"
    assert from_file.counts == from_folder.counts == count(config)
    text = ParametersCommand((str(path), str(CHECKPOINT)), tmp_path / "own.json").execute()
    assert "tiny" in text
    rows = json.loads((tmp_path / "own.json").read_text())
    assert [row["table"] for row in rows] == [None, None]
    assert [row["agrees"] for row in rows] == [None, None]
    assert rows[0]["frozen"] == 60 * 16
    assert rows[0]["fine_tuning"] == from_file.counts.encoder


def test_a_vocabulary_that_is_there_gives_its_size(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(PRETRAINING.replace("{size: 60}", f"{{path: {CHECKPOINT}}}"))
    pieces = AutoConfig.from_pretrained(CHECKPOINT).vocab_size
    assert own_row(str(path)).counts.output_embedding == pieces * 24


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("hidden_size: 30", ":7: encoder.num_attention_heads: 4 heads do not divide a width of 30"),
        ("hidden_size: wide", ":5: encoder.hidden_size: Input should be a valid integer"),
    ],
)
def test_an_unusable_configuration_is_named(tmp_path: Path, change: str, message: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(PRETRAINING.replace("hidden_size: 32", change))
    with pytest.raises(InputError) as caught:
        ParametersCommand((str(path),)).execute()
    assert str(caught.value).startswith(f"{path}{message}")


def test_no_checkpoint_and_no_encoder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no usable checkpoint"):
        own_row(str(tmp_path))
    AutoConfig.for_model("gpt2", n_layer=1).save_pretrained(tmp_path)
    with pytest.raises(InputError) as caught:
        own_row(str(tmp_path))
    assert str(caught.value).startswith(f"{tmp_path}: model type gpt2: no encoder with a masked-LM")


def test_the_file_of_printed_counts_is_checked(tmp_path: Path) -> None:
    text = PUBLISHED.read_text(encoding="utf-8")
    path = tmp_path / "counts.yaml"
    path.write_text(text.replace("shape: mbert,", "shape: mbertt,"), encoding="utf-8")
    with pytest.raises(InputError, match="unknown shape mbertt"):
        load_published(path)


def test_parts_add_up() -> None:
    counts = Counts(1, 0, 100, 10, 20, 50, 5)
    assert counts.fine_tuning(Convention()) == 100
    assert counts.fine_tuning(Convention("pre_training")) == 100
    assert counts.fine_tuning(Convention("both")) == 110
    assert counts.pre_training(Convention("none", head=False)) == 170
    assert counts.pre_training(Convention("pre_training", head=True)) == 185
