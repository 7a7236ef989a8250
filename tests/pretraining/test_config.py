"""The configuration: its defaults, what is laid over it, and what it refuses, with file, line and key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.pretraining.tiny_run import CONFIG, ROOT, write_config
from xharness.errors import InputError
from xharness.pretraining.config import differences, encoder_config, load_config

SHIPPED = sorted((ROOT / "task_specs" / "pretraining").rglob("*.yaml"))


def refused(path: Path, *overrides: str) -> str:
    with pytest.raises(InputError) as caught:
        load_config(path, overrides)
    return str(caught.value)


def test_all_keys_arrive(tmp_path: Path) -> None:
    dumped = load_config(write_config(tmp_path)).model_dump(mode="json")
    for key, value in CONFIG.items():
        expected = {**dumped[key], **value} if isinstance(value, dict) else value
        assert dumped[key] == expected
    # BERT's masking and RemBERT's sampling, where nothing is said.
    assert dumped["masking"]["rate"] == 0.15
    assert dumped["sampling_alpha"] == 0.5
    assert dumped["vocabulary"]["alpha"] == 0.5


@pytest.mark.parametrize("path", [path for path in SHIPPED if path.name != "base.yaml"], ids=str)
def test_shipped_configurations(path: Path) -> None:
    config = load_config(path)
    assert config.name == path.stem
    assert encoder_config(config.encoder, vocab_size=1000).vocab_size == 1000


def test_set_lies_over_the_file(tmp_path: Path) -> None:
    config = load_config(
        write_config(tmp_path),
        ("steps=20", "encoder.hidden_size=64", "masking.whole_words=false", "learning_rate=2e-3"),
    )
    assert (config.steps, config.encoder.hidden_size) == (20, 64)
    assert config.encoder.num_hidden_layers == 2
    assert not config.masking.whole_words
    assert config.learning_rate == 2e-3


def test_include(tmp_path: Path) -> None:
    write_config(tmp_path)
    other = tmp_path / "other.yaml"
    other.write_text("include: tiny.yaml\nname: other\nencoder: {hidden_size: 64}\n")
    config = load_config(other)
    assert (config.name, config.encoder.hidden_size, config.batch_size) == ("other", 64, 8)


@pytest.mark.parametrize(
    ("changes", "key", "message"),
    [
        ({"bach_size": 8}, "bach_size", "unknown key, did you mean 'batch_size'?"),
        ({"batch_size": 0}, "batch_size", "Input should be greater than or equal to 1"),
        ({"micro_batch_size": 0}, "micro_batch_size", "greater than or equal to 1"),
        ({"steps": 0}, "steps", "greater than or equal to 1"),
        ({"warmup_steps": 12}, "warmup_steps", "12 steps of warm-up leave none of 12"),
        ({"sequence_length": 33}, "sequence_length", "max_position_embeddings of 32"),
        ({"sequence_length": 2}, "sequence_length", "greater than or equal to 3"),
        ({"learning_rate": float("inf")}, "learning_rate", "finite number"),
        ({"learning_rate": float("nan")}, "learning_rate", ""),
        ({"seed": 2**64}, "seed", "less than"),
        ({"masking": {"rate": 1}}, "masking.rate", "less than 1"),
        ({"sampling_alpha": 0}, "sampling_alpha", "greater than 0"),
        ({"languages": ["tlh"]}, "languages.0", "'tlh' is not a language"),
        ({"encoder": {"coupling": "both"}}, "encoder.coupling", "'coupled' or 'decoupled'"),
        ({"encoder": {"num_attention_heads": 5}}, "encoder.num_attention_heads", "do not divide"),
        ({"encoder": {"coupling": "coupled"}}, "encoder.coupling", "sizes 16 and 24"),
        ({"encoder": {"input_kind": "define"}}, "encoder.input_factor_size", "width to look up"),
        ({"vocabulary": {"size": 8}}, "vocabulary.size", "greater than or equal to 32"),
        ({"vocabulary": {"character_coverage": 0.9}}, "vocabulary.character_coverage", "0.98"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_refused(tmp_path: Path, changes: dict[str, Any], key: str, message: str) -> None:
    path = write_config(tmp_path, **changes)
    error = refused(path)
    place, _, said = error.partition(f": {key}: ")
    assert message in said
    # The line that names the key, or its mapping where the key itself is absent.
    line = path.read_text().splitlines()[int(place.removeprefix(f"{path}:")) - 1]
    parts = [part for part in key.split(".") if not part.isdigit()]
    assert line.strip().split(":")[0].strip("- ") in (*parts, "tlh")


def test_default_that_does_not_fit(tmp_path: Path) -> None:
    """128 tokens a row are the default; the file names only the positions."""
    path = tmp_path / "a.yaml"
    path.write_text(
        "name: a\nsteps: 1\n"
        "encoder: {hidden_size: 8, num_hidden_layers: 1, num_attention_heads: 1, max_position_embeddings: 64}\n"
    )
    assert refused(path) == (
        f"{path}: sequence_length: 128 tokens exceed the encoder's max_position_embeddings of 64"
    )


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("batch", "--set: 'batch' is not KEY=VALUE"),
        ("=3", "--set: '=3' is not KEY=VALUE"),
        ("bach_size=3", "--set bach_size: bach_size: unknown key, did you mean 'batch_size'?"),
        (
            "encoder.hiden_size=3",
            "--set encoder.hiden_size: encoder.hiden_size: unknown key, did you mean 'hidden_size'?",
        ),
        ("batch_size=many", "--set batch_size: batch_size: Input should be a valid integer"),
        (
            "encoder.num_attention_heads=5",
            "--set encoder.num_attention_heads: encoder.num_attention_heads: 5 heads",
        ),
        ("languages=[en", "--set: '[en' is not a YAML value"),
    ],
)
def test_refused_on_the_command_line(tmp_path: Path, override: str, message: str) -> None:
    assert refused(write_config(tmp_path), override).startswith(message)


def test_differences() -> None:
    before = {"a": 1, "b": {"c": 2, "d": {"e": 3}}, "f": [1, 2], "g": None}
    assert differences(before, before) == []
    assert differences(before, {"a": 2, "b": {"c": 2, "d": {"e": 4}}, "f": [2, 1]}) == [
        "a",
        "b.d.e",
        "f",
    ]
    assert differences(before, {**before, "g": 0, "h": 1}) == ["g", "h"]
    assert differences(before, {**before, "b": 3}) == ["b"]
