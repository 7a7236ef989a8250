"""Labels are matched by name: other spellings, missing gold, unknown words, and heads in another order."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from tests.pitfalls.submission import write
from xharness.data.readers import READERS
from xharness.data.sources import FileDataSource
from xharness.errors import InputError
from xharness.inference.device import Device
from xharness.inference.progress import Silent
from xharness.models.transformers import TransformersAdapter
from xharness.sample import DATA
from xharness.specs.recipe import Settings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec

NLI = load(TaskSpec, "sample_nli")
ORDER = [2, 0, 1]


def test_rows_of_each_spelling(tmp_path: Path) -> None:
    task, counts = load(TaskSpec, "xnli"), Counter[str]()
    path = write(tmp_path / "f", "a\tb\tcontradictory\nc\td\t-\ne\tf\tneutral\n")
    examples = READERS["pair_tsv"]({"file": path}, task, "train", {}, counts)
    assert [e.label for e in examples] == ["contradiction", "neutral"]  # type: ignore[union-attr]
    assert counts["label_alias_contradictory"] == 1
    assert counts["rows_without_gold_label"] == 1
    write(path, "a\tb\tmaybe\n")
    with pytest.raises(InputError, match=r"f:1: label 'maybe' is not one of task xnli"):
        READERS["pair_tsv"]({"file": path}, task, "train", {}, counts)


def permuted(checkpoint: Path, into: Path, names: list[str]) -> Path:
    """Copy a checkpoint with the rows of its classifier in another order, named as given."""
    shutil.copytree(checkpoint, into)
    weights = load_file(into / "model.safetensors")
    for name in ("classifier.weight", "classifier.bias"):
        weights[name] = weights[name][ORDER].contiguous()
    save_file(weights, into / "model.safetensors", {"format": "pt"})
    config = json.loads((into / "config.json").read_text(encoding="utf-8"))
    config["id2label"] = {str(i): name for i, name in enumerate(names)}
    config["label2id"] = {name: i for i, name in enumerate(names)}
    write(into / "config.json", json.dumps(config))
    return into


def predictions(checkpoint: Path) -> list[str]:
    adapter = TransformersAdapter(str(checkpoint), Device("cpu", "float32", 1024))
    adapter.check_head(NLI)
    split = FileDataSource(DATA).read(NLI, "test", "en", 24)
    return list(map(str, adapter.predict(NLI, split, Settings(), Silent()).values))


def test_a_head_in_another_order_predicts_the_same(finished: Path, tmp_path: Path) -> None:
    (checkpoint,) = finished.glob("checkpoints/sample_nli-*/seed-1")
    expected = predictions(checkpoint)
    names = [NLI.labels[i] for i in ORDER]
    assert predictions(permuted(checkpoint, tmp_path / "a", names)) == expected
    shouted = [name.upper() for name in names]
    assert predictions(permuted(checkpoint, tmp_path / "b", shouted)) == expected


@pytest.mark.parametrize("names", [["LABEL_0", "LABEL_1", "LABEL_2"], ["neutral"] * 3])
def test_a_head_whose_labels_have_other_names_is_refused(
    finished: Path, tmp_path: Path, names: list[str]
) -> None:
    (checkpoint,) = finished.glob("checkpoints/sample_nli-*/seed-1")
    with pytest.raises(InputError, match=rf"the head's labels \({names[0]}"):
        predictions(permuted(checkpoint, tmp_path / "c", names))
