from __future__ import annotations

from pathlib import Path

import pytest

from xharness.errors import InputError
from xharness.specs.paths import SPECS
from xharness.translation.config import load_config

SHIPPED = sorted((SPECS / "translation").glob("*.yaml"))

MINIMAL = "name: small\nsource: en\ntarget: de\ntraining: {epochs: 2}\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "model.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_configurations_load_and_are_named_after_their_files(path: Path) -> None:
    assert load_config(path).name == path.stem


def test_shipped_models_differ_in_their_embeddings_alone() -> None:
    configs = {path.stem: load_config(path) for path in SHIPPED}
    base = configs["base"].model_dump(exclude={"name", "title", "model"})
    shape = configs["base"].model.model_dump(exclude={"tying", "define"})
    assert {c.model.tying for c in configs.values()} == {"none", "decoder", "three-way"}
    for config in configs.values():
        assert config.model_dump(exclude={"name", "title", "model"}) == base
        assert config.model.model_dump(exclude={"tying", "define"}) == shape


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MINIMAL + "modle: {}\n", "model.yaml:5: modle: unknown key, did you mean 'model'?"),
        (MINIMAL + "model: {tying: two-way}\n", "model.yaml:5: model.tying"),
        (MINIMAL + "model: {width: 100, heads: 3}\n", "3 heads do not divide a width of 100"),
        (
            MINIMAL + "model: {tying: three-way, define: {map_size: 8, expansion_size: 32}}\n",
            "define goes with",
        ),
        (MINIMAL.replace("target: de", "target: en"), "source and target are both 'en'"),
        (MINIMAL.replace("epochs: 2", "epochs: 0"), "model.yaml:4: training.epochs"),
        (MINIMAL.replace("training: {epochs: 2}\n", ""), "training: this key is required"),
    ],
)
def test_wrong_configurations_name_the_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_config(written(tmp_path, text))
    assert message in str(caught.value)
