"""Configurations: what does not fit is named with file and line, and the shipped ones build."""

from __future__ import annotations

from pathlib import Path

import pytest

from xharness.errors import InputError
from xharness.language_modelling.config import LanguageModelConfig, load_language_model_config
from xharness.language_modelling.model import LanguageModel

SHIPPED = Path(__file__).resolve().parents[2] / "task_specs" / "language_modelling"


def test_defaults_are_those_of_the_kind_of_model() -> None:
    """SGD of the paper's small configuration for an LSTM, AdamW for a Transformer."""
    lstm = LanguageModelConfig(name="a")
    transformer = LanguageModelConfig.model_validate(
        {"name": "b", "model": {"kind": "transformer"}}
    )
    assert (lstm.optimizer, lstm.learning_rate, lstm.max_grad_norm) == ("sgd", 1.0, 5.0)
    assert (lstm.training.epochs, lstm.training.full_rate_epochs) == (13, 4)
    assert (transformer.optimizer, transformer.learning_rate) == ("adamw", 1e-3)
    assert transformer.max_grad_norm == 1.0


def test_an_included_file_is_laid_under(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("name: base\nmodel:\n  hidden_size: 6\n  layers: 1\n")
    (tmp_path / "own.yaml").write_text("include: base.yaml\nname: own\nmodel:\n  layers: 3\n")
    config = load_language_model_config(tmp_path / "own.yaml")
    assert (config.name, config.model.hidden_size, config.model.layers) == ("own", 6, 3)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("embedding:\n  tide: true\n", 3, "unknown key, did you mean 'tied'"),
        ("embedding:\n  classifier: adaptive\n", 2, "needs adaptive.cutoffs"),
        (
            "embedding:\n  adaptive:\n    cutoffs: [5]\n",
            2,
            "neither input nor classifier is adaptive",
        ),
        (
            "embedding:\n  tied: true\n  input: adaptive\n  adaptive:\n    cutoffs: [5]\n",
            2,
            "of one kind, not adaptive and softmax",
        ),
        (
            "embedding:\n  input: adaptive\n  adaptive:\n    cutoffs: [5, 5]\n",
            4,
            "the cutoffs must rise",
        ),
        ("model:\n  kind: transformer\n  hidden_size: 10\n", 2, "not 4 heads of an even width"),
        ("training:\n  learning_rate: .inf\n", 3, "finite"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("name: x\n" + text)
    with pytest.raises(InputError, match=message) as caught:
        load_language_model_config(path)
    assert f"{path}:{line}: " in str(caught.value)


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*/*.yaml")), ids=lambda path: path.stem)
def test_shipped_configurations_build(path: Path) -> None:
    config = load_language_model_config(path)
    assert config.name == path.stem
    model = LanguageModel(config, config.text.vocabulary_size)
    assert model.parameter_counts().total > 0


@pytest.mark.parametrize(
    ("tied", "projection", "millions"),
    [(False, None, 4.65), (True, None, 2.65), (False, 0.15, 4.69), (True, 0.15, 2.69)],
)
def test_sizes_of_the_papers_small_models(
    tied: bool, projection: float | None, millions: float
) -> None:
    """Press and Wolf, table 6: 4.65M, with tying 2.65M, with projection 4.69M, with both 2.69M."""
    config = LanguageModelConfig.model_validate(
        {
            "name": "small",
            "model": {"hidden_size": 200},
            "embedding": {"tied": tied, "projection": projection},
        }
    )
    counts = LanguageModel(config, 10_000).parameter_counts()
    assert round(counts.total / 1e6, 2) == millions
    assert counts.sequence == 2 * (4 * 200 * 400 + 4 * 200)
    assert counts.classifier == 10_000 * (1 if tied else 201)
