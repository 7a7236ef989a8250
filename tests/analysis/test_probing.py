"""The probing verb."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.test_probing_items import row
from tests.analysis.tiny_encoders import write_encoder
from tests.preparation.raw import block
from xharness.analysis.probe import ProbeSettings
from xharness.analysis.probing_command import ProbingCommand
from xharness.errors import InputError

QUICK = ProbeSettings(projection=16, hidden=16, epochs=2)


def sentence(subject: str, verb: str) -> str:
    return block(
        row("1", "the", "2", "det"),
        row("2", subject, "3", "nsubj"),
        row("3", verb, "0", "root"),
        row("4", "bread", "3", "obj"),
    )


@pytest.fixture
def treebanks(tmp_path: Path) -> Path:
    folder = tmp_path / "treebanks"
    folder.mkdir()
    whole = [sentence(s, v) for s in ("children", "boat", "market") for v in ("buy", "waits")] * 2
    (folder / "en_pud-ud-test.conllu").write_text("".join(whole))
    (folder / "de_pud-ud-test.conllu").write_text("".join(whole[:3]))
    return folder


def command(models: tuple[str, ...], **changes: Any) -> ProbingCommand:
    options: dict[str, Any] = {
        "data": "sample",
        "languages": ("de",),
        "limit": 6,
        "limit_train": 12,
        "settings": QUICK,
        "device": "cpu",
    }
    return ProbingCommand(models, **{**options, **changes})


def test_all_probes_per_layer_and_mixed(tmp_path: Path, treebanks: Path) -> None:
    out, figure = tmp_path / "out.json", tmp_path / "out.svg"
    model = write_encoder(tmp_path / "tiny")
    text = command((str(model),), treebanks=treebanks, json_file=out, figure=figure).execute()
    probes = json.loads(out.read_text())["models"]["tiny"]
    assert list(probes) == ["pos", "entities", "dependencies"]
    for found in probes.values():
        assert [one["layer"] for one in found["by_layer"]] == [0, 1, 2]
        assert len(found["mix"]["weights"]) == 2
        assert sum(found["mix"]["weights"]) == pytest.approx(1, abs=1e-3)
        assert 1 <= found["mix"]["centre_of_gravity"] <= 2
        for one in (*found["by_layer"], found["mix"]):
            assert set(one["accuracy"]) == {"en", "de"}
            assert 0 <= one["dev"] <= 100
    arcs = probes["dependencies"]
    # Twelve English sentences, three arcs each: 8 to train, 2 for dev, 2 to test; three German ones.
    assert arcs["items"] == {"train": 24, "dev": 6, "en": 6, "de": 9}
    assert "split 3:1:1" in arcs["note"]
    assert arcs["counts"]["roots_and_words_without_head"] == 15
    heads = arcs["attachment"]
    assert len(heads["by_layer"]) == 3
    assert set(heads["mix"]) == {"en", "de"}
    # Of four words two have their head to the right by one: the most frequent distance.
    assert heads["frequent_offset"] == {"en": 50.0, "de": 50.0}
    assert probes["pos"]["attachment"] is None
    assert arcs["majority"]["de"] == pytest.approx(100 / 3, abs=1e-3)
    assert "split 3:1:1" in text
    assert figure.is_file()


def test_two_encoders_are_set_beside_each_other(tmp_path: Path) -> None:
    """They differ in the output embedding, which a probe of the encoder does not read: equal states, no verdict."""
    models = [
        str(write_encoder(tmp_path / f"out{size}", output_embedding_size=size)) for size in (8, 48)
    ]
    out = tmp_path / "out.json"
    command(tuple(models), probes=("pos",), per_layer=False, json_file=out).execute()
    content = json.loads(out.read_text())
    assert [found["pos"]["by_layer"] for found in content["models"].values()] == [[], []]
    assert [s["verdict"] for s in content["statements"]] == ["not told apart"] * 2


def test_english_training_files_are_used_where_they_are(tmp_path: Path, treebanks: Path) -> None:
    test = treebanks / "en_pud-ud-test.conllu"
    (treebanks / "en_ewt-ud-train.conllu").write_text(test.read_text())
    out = tmp_path / "out.json"
    command(
        (str(write_encoder(tmp_path / "tiny")),),
        data=None,
        treebanks=treebanks,
        per_layer=False,
        json_file=out,
    ).execute()
    arcs = json.loads(out.read_text())["models"]["tiny"]["dependencies"]
    assert arcs["items"] == {"train": 36, "en": 18, "de": 9}
    assert (arcs["note"], arcs["mix"]["dev"]) == ("", None)


def test_faults_of_use(tmp_path: Path, treebanks: Path) -> None:
    with pytest.raises(InputError, match="nothing to probe with"):
        command(("sample",), data=None).execute()
    with pytest.raises(InputError, match="unknown probe srl"):
        command(("sample",), probes=("srl",)).execute()
    with pytest.raises(InputError, match="dependencies come from CoNLL-U files"):
        command(("sample",), probes=("dependencies",)).execute()
    with pytest.raises(InputError, match="no test treebank of fr"):
        command(("sample",), data=None, treebanks=treebanks, languages=("fr",)).execute()
    with pytest.raises(InputError, match="sample_retrieval has no tagged words"):
        command(("sample",), pos_task="sample_retrieval").execute()
    with pytest.raises(InputError, match="windows of 4 pieces"):
        command(("sample",), max_length=4).execute()
