"""Translation retrieval by layer: RemBERT's section 6.3 and appendix A.9."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.tiny_encoders import write_encoder
from xharness.analysis.encoders import open_encoder
from xharness.analysis.retrieval import accuracy, retrieve, upper_layers, upper_slope
from xharness.analysis.retrieval_command import PUBLISHED, RetrievalCommand
from xharness.analysis.task_data import window_settings
from xharness.errors import InputError
from xharness.inference.device import Device
from xharness.inference.progress import Silent

CPU = Device("cpu", "float32", 64)
DOGS = ["the old boat waits", "two children buy bread", "who waits", "bread", "red apples"]


def each(size: int) -> np.ndarray:
    return np.arange(size)


def test_a_constant_shift_between_languages_is_taken_away() -> None:
    """The translation vector is the mean difference, so a shift that is the same for all pairs costs nothing."""
    english = np.eye(4)
    german = english + 50 * np.array([1.0, -1.0, 2.0, 0.0])
    assert accuracy(english, german, each(4)) == 100.0


def test_a_hand_computed_case() -> None:
    """On a line: differences 1, 1, 4 have mean 2; queries 2, 3, 12; targets 1, 2, 14: nearest are 2, 2 and 14."""
    english, german = np.array([[0.0], [1.0], [10.0]]), np.array([[1.0], [2.0], [14.0]])
    assert accuracy(english, german, each(3)) == pytest.approx(200 / 3)


def test_equal_sentences_count_as_one() -> None:
    """Targets 0 and 1 are the same sentence: either is right for both."""
    english, german = np.array([[0.0], [0.0], [9.0]]), np.array([[1.0], [1.0], [10.0]])
    assert accuracy(english, german, np.array([0, 0, 2])) == 100.0


@given(st.integers(2, 12), st.integers(1, 5), st.integers(0, 10_000))
def test_it_agrees_with_all_distances_written_out(pairs: int, width: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    english, german = generator.normal(size=(2, pairs, width))
    moved = english + np.mean(german - english, axis=0)
    right = 0
    for i in range(pairs):
        distances = [float(np.linalg.norm(moved[i] - german[j])) for j in range(pairs)]
        right += distances.index(min(distances)) == i
    assert accuracy(english, german, each(pairs)) == pytest.approx(100 * right / pairs)


def test_states_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="not finite"):
        accuracy(np.array([[np.nan], [1.0]]), np.ones((2, 1)), each(2))


def test_the_mean_leaves_special_tokens_and_padding_out(tmp_path: Path) -> None:
    """Against one sentence at a time through the model, its states between the special tokens averaged."""
    encoder = open_encoder(str(write_encoder(tmp_path / "tiny")), CPU)
    others = [f"{text} today" for text in reversed(DOGS)]
    found = retrieve(encoder, DOGS, others, window_settings(32), Silent())
    before, after = encoder.pieces.template.single

    def means(texts: list[str]) -> np.ndarray:
        rows = []
        for text in texts:
            pieces = encoder.pieces.texts([text])[0].tolist()
            ids = torch.tensor([[*before, *pieces, *after]])
            with torch.inference_mode():
                states = encoder.model(input_ids=ids, output_hidden_states=True).hidden_states
            kept = slice(len(before), len(before) + len(pieces))
            rows.append([state[0, kept].mean(dim=0).numpy() for state in states])
        return np.array(rows).transpose(1, 0, 2)

    expected = [accuracy(a, b, each(5)) for a, b in zip(means(DOGS), means(others), strict=True)]
    assert found.accuracies == pytest.approx(expected)
    assert len(found.accuracies) == 3  # the first block's input, and two blocks
    assert found.pairs == 5


def test_a_sentence_is_its_own_translation_at_every_layer(tmp_path: Path) -> None:
    encoder = open_encoder(str(write_encoder(tmp_path / "tiny", "define")), CPU)
    assert retrieve(encoder, DOGS, DOGS, window_settings(32), Silent()).accuracies == (100.0,) * 3


def test_cut_and_empty_sentences_are_counted(tmp_path: Path) -> None:
    encoder = open_encoder(str(write_encoder(tmp_path / "tiny")), CPU)
    counts = retrieve(encoder, ["", DOGS[0] * 9], DOGS[:2], window_settings(8), Silent()).counts
    assert counts["sentences_without_pieces"] == 1
    assert counts["sentences_cut"] >= 1


def test_sides_of_unequal_length_are_refused(tmp_path: Path) -> None:
    encoder = open_encoder(str(write_encoder(tmp_path / "tiny")), CPU)
    with pytest.raises(InputError, match="5 sentences and 4 translations"):
        retrieve(encoder, DOGS, DOGS[1:], window_settings(32), Silent())


@pytest.mark.parametrize(
    ("layers", "upper"),
    [(12, range(7, 12)), (24, range(14, 23)), (4, range(2, 4)), (2, range(1, 2))],
)
def test_upper_layers_are_seven_to_eleven_of_twelve(layers: int, upper: range) -> None:
    assert upper_layers(layers) == upper


@pytest.mark.parametrize(
    ("name", "slope"),
    list(zip(PUBLISHED, (-3.8, -1.9, -0.4), strict=True)),
)
def test_the_slopes_of_figure_2(name: str, slope: float) -> None:
    """Least squares over five layers: sum of (layer - 9) times accuracy, over 10; by hand from the read-off values."""
    assert upper_slope((0.0, *PUBLISHED[name])) == pytest.approx(slope)


def test_a_slope_is_per_twelfth_of_the_depth_and_needs_two_layers() -> None:
    """24 layers that fall by 1 point each fall by 2 points a twelfth."""
    assert upper_slope([100.0 - layer for layer in range(25)]) == pytest.approx(-2.0)
    assert upper_slope([1.0, 2.0, 3.0]) is None


def test_the_verb_on_the_sample(tmp_path: Path) -> None:
    """Two encoders that differ in their output embedding alone: all statements can be tried."""
    narrow = write_encoder(tmp_path / "narrow", output_embedding_size=8, num_hidden_layers=4)
    wide = write_encoder(tmp_path / "wide", output_embedding_size=48, num_hidden_layers=4)
    command = RetrievalCommand(
        (str(wide), str(narrow)),
        task="sample_retrieval",
        languages=("zh", "de"),
        limit=20,
        json_file=tmp_path / "out.json",
        figure=tmp_path / "out.svg",
        device="cpu",
    )
    text = command.execute()
    content = json.loads((tmp_path / "out.json").read_text())
    assert [model["model"] for model in content["models"]] == ["wide", "narrow"]
    for model in content["models"]:
        assert list(model["languages"]) == ["de", "zh"]
        both = [found["accuracy_by_layer"] for found in model["languages"].values()]
        assert model["mean_by_layer"] == pytest.approx(np.mean(both, axis=0), abs=1e-3)
        assert model["languages"]["de"]["pairs"] == 20
        assert model["upper_layers"] == [2, 3]
    assert [s["verdict"] for s in content["statements"]].count("cannot be tried") == 0
    assert (
        "narrow" in content["statements"][-1]["figures"].split(",")[0]
    )  # the narrow one comes first
    assert "slope over layers 2 to 3" in text
    assert (tmp_path / "out.svg").read_text().startswith("<?xml")


def test_faults_of_use(tmp_path: Path) -> None:
    def run(**changes: object) -> None:
        RetrievalCommand(("sample",), **changes).execute()  # type: ignore[arg-type]

    with pytest.raises(InputError, match="no pairs of translations"):
        run(task="sample_pos")
    with pytest.raises(InputError, match="fr: no language of sample_retrieval"):
        run(task="sample_retrieval", languages=("fr",))
    with pytest.raises(InputError, match=r"cannot be written as [.]jpg"):
        run(task="sample_retrieval", figure=tmp_path / "out.jpg")
    with pytest.raises(InputError, match="no data given for tatoeba"):
        run()
    with pytest.raises(InputError, match="adapter 'other'"):
        RetrievalCommand(("other:model",), task="sample_retrieval").execute()
    folder = tmp_path / "tatoeba"
    folder.mkdir()
    (folder / "tatoeba.deu-eng.deu").write_text("eins\nzwei\n")
    (folder / "tatoeba.deu-eng.eng").write_text("one\n")
    with pytest.raises(InputError, match="aligned files have as many lines"):
        run(data=str(tmp_path), languages=("de",))


def test_files_without_gold_are_refused(tmp_path: Path) -> None:
    """XTREME's own layout has the English side sorted."""
    folder = tmp_path / "tatoeba"
    folder.mkdir()
    (folder / "de-en.de").write_text("eins\nzwei\n")
    (folder / "de-en.en").write_text("two\none\n")
    with pytest.raises(InputError, match="no gold pairs"):
        RetrievalCommand(("sample",), data=str(tmp_path), languages=("de",)).execute()


@pytest.mark.shared
@pytest.mark.slow
def test_a_real_encoder_finds_more_translations_in_its_upper_half(shared: Path) -> None:
    """Every line of Figure 2 rises from layer 1 to layer 7 by 35 points or more."""
    model = open_encoder(str(shared / "models" / "multilingual-e5-small-trimmed"), CPU)
    folder = shared / "data" / "xtreme_mini" / "tatoeba"
    english, german = (
        (folder / f"tatoeba.deu-eng.{side}").read_text().splitlines()[:60]
        for side in ("eng", "deu")
    )
    found = retrieve(model, english, german, window_settings(64), Silent()).accuracies
    assert found[7] > found[1] + 20
