"""A split predicted in parts gives what it gives whole, byte for byte, with counts added up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from xharness.data.examples import TaggingExample
from xharness.inference.progress import Silent
from xharness.models.adapter import open_model
from xharness.tasks.predictions import Decided, prediction_text

from .tiny_tasks import HEADED, TRAIN, WIDE, settings, split_of


@pytest.mark.parametrize("kind", HEADED)
def test_parts_join_to_the_whole(
    kind: str, checkpoint: Callable[[str], Path], own_cache: Path, tmp_path: Path
) -> None:
    task, split = HEADED[kind], TRAIN[kind]()
    (tmp_path / "tuned").mkdir()
    adapter = open_model(str(checkpoint("xlm-roberta")), WIDE)
    recipe = settings(epochs=2)
    adapter.finetune(task, split, None, recipe, 1, tmp_path / "tuned", Silent())
    adapter = adapter.finetuned(task, tmp_path / "tuned")
    if kind == "tags":  # counts of the parts are added up
        sentences = [e for e in split.examples if isinstance(e, TaggingExample)]
        split = split_of(task, [replace(e, words=("", *e.words[1:])) for e in sentences])
    whole = adapter.predict(task, split, recipe, Silent())
    text = "".join(prediction_text(task, [whole]))
    for _ in range(2):  # encoded, and from the cache
        parts = Decided(adapter.predict(task, p, recipe, Silent()) for p in split.parts(4))
        assert "".join(prediction_text(task, parts)) == text
        assert +parts.counts == +whole.counts
        assert parts.details == whole.details
    if kind == "tags":
        assert whole.counts["words_without_pieces"] == len(split)
