"""What tables call a checkpoint."""

from __future__ import annotations

import pytest

from xharness.models.checkpoints import checkpoint_name


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("FacebookAI/xlm-roberta-base", "xlm-roberta-base"),
        ("runs/coupled/model", "coupled"),  # where the pre-trainer puts it
        ("runs/coupled/model/", "coupled"),
        ("model", "model"),
        ("runs/model/best", "best"),
    ],
)
def test_a_pre_trained_encoder_is_called_by_its_run(reference: str, name: str) -> None:
    assert checkpoint_name(reference) == name
