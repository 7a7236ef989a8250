"""The configurations that are shipped: they load, and have the sizes that their comparisons need."""

from __future__ import annotations

from pathlib import Path

import pytest

from xharness.analysis.parameters import Convention, count
from xharness.pretraining.config import encoder_config, load_config

SHIPPED = Path(__file__).parents[2] / "task_specs" / "pretraining"


def parameters(path: str) -> tuple[int, int]:
    """Return a configuration's parameters in pre-training and in fine-tuning."""
    config = load_config(SHIPPED / f"{path}.yaml")
    counts = count(encoder_config(config.encoder, vocab_size=config.vocabulary.size))
    convention = Convention()
    return counts.pre_training(convention), counts.fine_tuning(convention)


@pytest.mark.parametrize("path", sorted(SHIPPED.rglob("*.yaml")), ids=lambda path: path.stem)
def test_every_configuration_loads_and_bears_its_files_name(path: Path) -> None:
    assert load_config(path).name == path.stem


@pytest.mark.parametrize(
    ("name", "pre_training", "fine_tuning"),
    [
        # Millions as printed in Tables 2 to 6 and 14 of arXiv 2010.12821v1. Pre-training counts there leave out the
        # masked-LM head's transform and biases, up to 2.6M.
        ("coupled", 177, 177),
        ("decoupled", 269, 177),
        ("in768-out128", 192, 177),
        ("in128-out768", 192, 100),
        ("in128-out128", 115, 100),
        ("in128-out3072", 469, 100),
        ("extra-layers", 193, 100),
        ("reinvest-width", 260, 168),
        ("reinvest-layers", 270, 178),
        ("rembert", 995, 575),
    ],
)
def test_full_size_configurations_have_the_papers_counts(
    name: str, pre_training: int, fine_tuning: int
) -> None:
    ours = parameters(f"rembert/{name}")
    assert ours[0] / 1e6 == pytest.approx(pre_training, abs=2.8)
    assert ours[1] / 1e6 == pytest.approx(fine_tuning, abs=1.3)


def test_the_small_study_compares_at_equal_sizes() -> None:
    coupled = parameters("coupling/coupled")[1]
    for name in ("decoupled", "in128-out32"):
        assert parameters(f"coupling/{name}")[1] == coupled
    for name in ("reinvest-layers", "reinvest-width"):
        assert parameters(f"coupling/{name}")[1] == pytest.approx(coupled, rel=0.01)
    small = parameters("coupling/in32-out32")[1]
    for name in ("in32-out128", "in32-out512", "extra-layers"):
        assert parameters(f"coupling/{name}")[1] == small
    # In pre-training a large input with a small output costs what a small input with a large output does.
    one, other = parameters("coupling/in128-out32")[0], parameters("coupling/in32-out128")[0]
    assert one == pytest.approx(other, rel=0.01)
