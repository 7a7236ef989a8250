"""Embedding tables of checkpoints, and the verb that measures them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer

from tests.analysis.tiny_encoders import write_encoder
from tests.models.tiny_checkpoints import make_checkpoint
from tests.tasks.counted_pieces import UNKNOWN, CharacterPieces
from xharness.analysis.embeddings import open_tables, word_vectors
from xharness.analysis.embeddings_command import PUBLISHED, EmbeddingsCommand
from xharness.errors import InputError
from xharness.models.checkpoints import load_encoder

_OUTPUT = "cls.predictions.decoder.weight"
_INPUT = "rembert.embeddings.word_embeddings.weight"


@pytest.mark.parametrize("kind", ["decoupled", "extra_layers", "frozen"])
def test_a_decoupled_encoder_has_two_tables(kind: str, tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "tiny", kind)
    weights = load_file(folder / "model.safetensors")
    tables = open_tables(str(folder))
    assert np.array_equal(tables.input, weights[_INPUT].numpy())
    assert tables.output is not None
    assert np.array_equal(tables.output, weights[_OUTPUT].numpy())
    assert tables.output.shape[1] == 24
    assert not tables.tied


@pytest.mark.parametrize("kind", ["factorised", "define"])
def test_computed_input_vectors_are_the_ones_that_enter_the_encoder(
    kind: str, tmp_path: Path
) -> None:
    """Their looked-up part is 8 wide; what enters is 16 wide."""
    folder = write_encoder(tmp_path / "tiny", kind)
    tables = open_tables(str(folder))
    assert tables.input.shape[1] == 16
    expected = load_encoder(str(folder)).embeddings.word_table().numpy()
    assert np.array_equal(tables.input, expected)


def test_a_coupled_encoder_has_one_matrix(tmp_path: Path) -> None:
    tables = open_tables(str(write_encoder(tmp_path / "tiny", "coupled")))
    assert tables.tied
    assert tables.output is not None
    assert np.array_equal(tables.input, tables.output)


def test_the_samples_two_sides_are_one_matrix() -> None:
    tables = open_tables("sample")
    assert tables.tied
    assert tables.input.shape == (2200, 128)


def write_headless(folder: Path) -> Path:
    """Write an encoder that has lost its masked-LM head, with a tokenizer."""
    whole = write_encoder(folder / "whole")
    load_encoder(str(whole)).save_pretrained(folder)
    AutoTokenizer.from_pretrained(whole).save_pretrained(folder)
    return folder


def test_a_checkpoint_without_a_head_says_so(tmp_path: Path) -> None:
    tables = open_tables(str(write_headless(tmp_path / "bare")))
    assert tables.output is None
    assert tables.note == "the checkpoint holds no masked-LM head"


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "rembert", "modernbert", "distilbert"])
def test_other_families(family: str, tmp_path: Path) -> None:
    """With a head there is an output embedding, and without it none, whatever transformers would make up."""
    headed = open_tables(str(make_checkpoint(family, tmp_path / "lm", AutoModelForMaskedLM)))
    assert headed.output is not None
    assert headed.output.shape[1] == (48 if family == "rembert" else 32)
    bare = open_tables(str(make_checkpoint(family, tmp_path / "encoder", AutoModel)))
    assert bare.output is None
    assert bare.note


def test_special_pieces_are_not_ordinary(tmp_path: Path) -> None:
    tables = open_tables(str(write_encoder(tmp_path / "tiny")))
    before, after = tables.pieces.template.single
    assert not set(tables.ordinary.tolist()) & {*before, *after, tables.pieces.unknown_id}
    assert len(tables.ordinary) == 2200 - 5


def test_a_word_is_the_mean_of_its_pieces() -> None:
    table = np.zeros((200, 2), np.float32)
    table[ord("a")], table[ord("b")] = [1, 3], [3, 5]
    found = word_vectors(["ab", "a", "ab", "aab"], table, CharacterPieces())
    assert {word: vector.tolist() for word, vector in found.items()} == {
        "ab": [2, 4],
        "a": [1, 3],
        "aab": [pytest.approx(5 / 3), pytest.approx(11 / 3)],
    }


def test_words_of_no_piece_or_an_unknown_one_have_no_vector() -> None:
    pieces = CharacterPieces(vanishing="x")
    assert list(
        word_vectors(["x", f"a{chr(UNKNOWN)}", "a"], np.zeros((200, 2), np.float32), pieces)
    ) == ["a"]


@pytest.fixture
def words(tmp_path: Path) -> Path:
    folder = tmp_path / "words"
    folder.mkdir()
    lines = ["old new 1", "boat bridge 5", "bread apple 7", "child children 9", "boat 龘龘龘 2"]
    (folder / "EN-MEN-TR-3k.txt").write_text("\n".join(lines), encoding="utf-8")
    return folder


def test_the_verb(tmp_path: Path, words: Path) -> None:
    """Two sizes of the output embedding: every statement can be tried; a model without output goes on."""
    narrow = write_encoder(tmp_path / "narrow", output_embedding_size=8)
    wide = write_encoder(tmp_path / "wide", output_embedding_size=48)
    coupled = write_encoder(tmp_path / "coupled", "coupled")
    out, figure = tmp_path / "out.json", tmp_path / "figure.svg"
    bare = write_headless(tmp_path / "bare")
    models = (str(wide), str(bare), str(narrow), str(coupled))
    text = EmbeddingsCommand(models, (words,), out, figure).execute()
    content = json.loads(out.read_text())
    by_name = {model["model"]: model for model in content["models"]}
    for name in ("wide", "narrow"):
        for side in ("input", "output"):
            found = by_name[name][side]["word_similarity"]["MEN"]
            assert (found["pairs"], found["missing_pairs"], found["missing_words"]) == (4, 1, 1)
            assert -100 <= found["dot"]["spearman"] <= 100
        assert by_name[name]["output"]["isotropy"]["width"] == {"wide": 48, "narrow": 8}[name]
        assert 0 <= by_name[name]["shared_neighbours"] < 20
    assert by_name["bare"]["output"] == "the checkpoint holds no masked-LM head"
    assert by_name["coupled"]["output"] == "tied to the input"
    verdicts = [statement["verdict"] for statement in content["statements"]]
    assert [verdict == "cannot be tried" for verdict in verdicts] == [
        False,
        True,
        False,
        True,
        False,
    ]
    assert "no output embedding" in text
    assert figure.is_file()


def test_the_published_figures_are_table_8(tmp_path: Path, words: Path) -> None:
    """The row of 768/768 averages 35.5 and 24.8 (sum of its cells over 5)."""
    means = [sum(row) / 5 for row in PUBLISHED.values()]
    assert means == pytest.approx([35.54, 24.84])
    with pytest.raises(InputError, match="cannot be written as a file without ending"):
        EmbeddingsCommand(("sample",), (words,), figure=tmp_path / "figure").execute()


@pytest.mark.shared
@pytest.mark.slow
def test_a_real_encoders_input_embedding_agrees_with_people(shared: Path, tmp_path: Path) -> None:
    """Table 8 has 38.6 to 40.8 on MEN for encoders of this kind; a random table has about 0."""
    model = shared / "models" / "multilingual-e5-small-trimmed"
    EmbeddingsCommand(
        (str(model),), (shared / "data" / "extra" / "word_similarity",), tmp_path / "o.json"
    ).execute()
    found = json.loads((tmp_path / "o.json").read_text())["models"][0]["input"]["word_similarity"]
    assert found["MEN"]["missing_words"] == 0
    assert found["MEN"]["cosine"]["spearman"] > 25
