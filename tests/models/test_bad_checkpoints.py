"""Checkpoints that are damaged, incomplete or hostile: one clear error each, and no code of theirs runs."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from xharness.errors import InputError
from xharness.inference.progress import Silent
from xharness.models.adapter import open_model
from xharness.models.checkpoints import load_encoder, weights_digest

from .tiny_checkpoints import FAMILIES
from .tiny_tasks import NEIGHBOURS, PAIRS, WIDE, bitext, pairs, settings


@pytest.fixture
def folder(checkpoint: Callable[[str], Path], tmp_path: Path) -> Path:
    """A copy of the tiny BERT that a test may damage."""
    return Path(shutil.copytree(checkpoint("bert"), tmp_path / "damaged"))


def change(folder: Path, name: str, **changes: Any) -> None:
    """Change keys of a JSON file."""
    content = json.loads((folder / name).read_text(encoding="utf-8"))
    (folder / name).write_text(json.dumps({**content, **changes}), encoding="utf-8")


def use_all(folder: Path, into: Path) -> list[InputError]:
    """Use a checkpoint in every way; return the errors, one for each."""
    into.mkdir(exist_ok=True)
    uses: list[Callable[[], Any]] = [
        lambda: open_model(str(folder), WIDE).describe(),
        lambda: open_model(str(folder), WIDE).predict(NEIGHBOURS, bitext(), settings(), Silent()),
        lambda: open_model(str(folder), WIDE).predict(PAIRS, pairs(), settings(), Silent()),
        lambda: open_model(str(folder), WIDE).finetune(
            PAIRS, pairs(), None, settings(epochs=1), 1, into, Silent()
        ),
    ]
    errors = []
    for use in uses:
        with pytest.raises(InputError) as error:
            use()
        assert str(error.value).count("\n") == 0
        assert str(folder) in str(error.value)
        errors.append(error.value)
    assert not list(into.iterdir())
    return errors


class Hostile:
    """Writes a file when it is unpickled."""

    def __init__(self, proof: Path):
        self.proof = proof

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.write_text, (self.proof, "ran"))


@pytest.mark.parametrize("zipped", [True, False])
def test_pickled_weights_are_never_loaded(zipped: bool, folder: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    (folder / "model.safetensors").unlink()
    weights = folder / "pytorch_model.bin"
    torch.save({"x": Hostile(proof)}, weights, _use_new_zipfile_serialization=zipped)
    assert zipfile.is_zipfile(weights) == zipped
    for error in use_all(folder, tmp_path / "into"):
        assert "safetensors" in str(error)
    assert not proof.exists()
    # The file does what this test says it does.
    torch.load(weights, weights_only=False)
    assert proof.read_text(encoding="utf-8") == "ran"


def test_harmless_pickled_weights_are_not_loaded_either(folder: Path, tmp_path: Path) -> None:
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    for error in use_all(folder, tmp_path / "into"):
        assert "safetensors" in str(error)


@pytest.mark.parametrize("name", ["modeling_own.py", "configuration_own.py", "tokenization_own.py"])
@pytest.mark.parametrize("model_type", ["own", "bert"])
def test_code_of_a_checkpoint_never_runs(
    name: str, model_type: str, folder: Path, tmp_path: Path
) -> None:
    proof = tmp_path / "proof"
    code = f"open({str(proof)!r}, 'w').write('ran')\nclass Own: pass\n"
    for file in ("modeling_own.py", "configuration_own.py", "tokenization_own.py"):
        (folder / file).write_text(code, encoding="utf-8")
    if name.startswith("tokenization"):
        auto = {"AutoTokenizer": ["tokenization_own.Own", "tokenization_own.Own"]}
        change(folder, "tokenizer_config.json", tokenizer_class="Own", auto_map=auto)
    elif name.startswith("configuration"):
        change(folder, "config.json", auto_map={"AutoConfig": "configuration_own.Own"})
    else:
        auto_map = {
            "AutoModel": "modeling_own.Own",
            "AutoModelForSequenceClassification": "modeling_own.Own",
        }
        change(folder, "config.json", auto_map=auto_map)
    change(folder, "config.json", model_type=model_type)
    if model_type == "own":
        use_all(folder, tmp_path / "into")
    else:
        # A family that transformers knows is loaded by its own code alone, or refused.
        with suppress(InputError):
            open_model(str(folder), WIDE).describe()
    assert not proof.exists()


@pytest.mark.parametrize("keep", [0, 4, 100, 20_000])
def test_truncated_weights(keep: int, folder: Path, tmp_path: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:keep])
    for error in use_all(folder, tmp_path / "into"):
        assert "safetensors" in str(error)


def test_weights_with_a_damaged_header(folder: Path, tmp_path: Path) -> None:
    weights = folder / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[8:40] = b"\xff" * 32
    weights.write_bytes(bytes(content))
    use_all(folder, tmp_path / "into")


def test_weights_of_another_model(folder: Path, tmp_path: Path) -> None:
    save_file({"other": torch.zeros(3)}, folder / "model.safetensors", {"format": "pt"})
    for error in use_all(folder, tmp_path / "into"):
        assert "belong together" in str(error)


def test_a_weight_of_another_shape(folder: Path, tmp_path: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    weights["embeddings.word_embeddings.weight"] = torch.zeros(3, 32)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    use_all(folder, tmp_path / "into")


def test_one_block_too_few(folder: Path, tmp_path: Path) -> None:
    change(folder, "config.json", num_hidden_layers=4)
    for error in use_all(folder, tmp_path / "into"):
        assert "encoder.layer.3" in str(error)


def test_a_pooler_may_be_absent(folder: Path) -> None:
    """Checkpoints from masked language modelling alone have none."""
    weights = load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if "pooler" not in name}
    assert len(kept) == len(weights) - 2
    save_file(kept, folder / "model.safetensors", {"format": "pt"})
    assert load_encoder(str(folder)).config.num_hidden_layers == 3


def test_weights_in_shards(
    folder: Path, checkpoint: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_encoder(str(folder)).save_pretrained(tmp_path / "shards", max_shard_size="40KB")
    shards = list((tmp_path / "shards").glob("*.safetensors"))
    assert len(shards) > 2
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(folder / name, tmp_path / "shards")
    local = open_model(str(tmp_path / "shards"), WIDE).describe()
    assert local.parameters == open_model(str(folder), WIDE).describe().parameters

    # From the hub each file comes by its name; the digest is the same.
    def from_hub(reference: str, name: str, **options: Any) -> str | None:
        path = tmp_path / "shards" / name
        assert reference == "someone/shards"
        return str(path) if path.is_file() else None

    monkeypatch.setattr("xharness.models.tokenizer_files.cached_file", from_hub)
    assert weights_digest("someone/shards") == local.weights_sha256
    shards[0].unlink()
    with pytest.raises(InputError):
        open_model(str(tmp_path / "shards"), WIDE).describe()


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", "not json", '{"model_type": "bert"', '"bert"', "{}", "\x00"]
)
def test_a_configuration_that_is_none(content: str, folder: Path, tmp_path: Path) -> None:
    (folder / "config.json").write_text(content, encoding="utf-8")
    use_all(folder, tmp_path / "into")


def test_a_configuration_that_is_no_utf8(folder: Path, tmp_path: Path) -> None:
    (folder / "config.json").write_bytes(b"\xff\xfe{\x00}\x00")
    use_all(folder, tmp_path / "into")


@pytest.mark.parametrize(
    "changes",
    [
        {"model_type": "no-such-family"},
        {"model_type": None},
        {"num_hidden_layers": "three"},
        {"hidden_size": 33},
        {"hidden_act": "no-such-function"},
        {"vocab_size": -1},
    ],
)
def test_a_configuration_of_wrong_values(
    changes: dict[str, Any], folder: Path, tmp_path: Path
) -> None:
    change(folder, "config.json", **changes)
    use_all(folder, tmp_path / "into")


def test_labels_with_a_gap(folder: Path) -> None:
    change(
        folder,
        "config.json",
        architectures=["BertForSequenceClassification"],
        id2label={"0": "entailment", "1": "neutral", "5": "contradiction"},
    )
    with pytest.raises(InputError, match=r"labels .*unnamed"):
        open_model(str(folder), WIDE).check_head(PAIRS)


def test_architectures_null_is_no_head(folder: Path) -> None:
    change(folder, "config.json", architectures=None)
    with pytest.raises(InputError, match="architecture none has no head"):
        open_model(str(folder), WIDE).check_head(PAIRS)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_tokenizer(family: str, checkpoint: Callable[[str], Path], tmp_path: Path) -> None:
    copy = Path(shutil.copytree(checkpoint(family), tmp_path / "copy"))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (copy / name).unlink()
    with pytest.raises(InputError, match="tokenizer") as error:
        open_model(str(copy), WIDE)
    assert str(copy) in str(error.value)


@pytest.mark.parametrize("content", ["", "{", "{}", "[]", '{"model": {"type": "Own"}}'])
def test_a_damaged_tokenizer(content: str, folder: Path) -> None:
    (folder / "tokenizer.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="tokenizer") as error:
        open_model(str(folder), WIDE)
    assert str(folder) in str(error.value)


def test_a_tokenizer_without_padding(checkpoint: Callable[[str], Path], tmp_path: Path) -> None:
    copy = Path(shutil.copytree(checkpoint("modernbert"), tmp_path / "copy"))
    change(copy, "tokenizer_config.json", pad_token=None)
    with pytest.raises(InputError, match="no padding token") as error:
        open_model(str(copy), WIDE)
    assert "pad_token" in str(error.value.mend)
    change(copy, "tokenizer_config.json", pad_token="[SEP]")
    assert open_model(str(copy), WIDE).describe().layers == 3


@pytest.mark.parametrize(
    "reference", ["no/such/folder", "/no/such/folder", "no-such-model", "x" * 300, "."]
)
def test_no_such_checkpoint(
    reference: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no usable checkpoint") as error:
        open_model(reference, WIDE)
    assert error.value.where == reference
    assert "config.json" in str(error.value.mend)


def test_no_such_adapter() -> None:
    with pytest.raises(InputError, match="no model adapter named 'transfomers'") as error:
        open_model("transfomers:somewhere", WIDE)
    assert error.value.mend == "did you mean 'transformers'?"
