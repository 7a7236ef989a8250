"""A tenth task is one YAML file: other tags, other columns, no code."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.small_run import command
from xharness.data.examples import TaggingExample
from xharness.data.sources import FileDataSource
from xharness.records.store import read_record
from xharness.specs.linting import lint
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec

HERE = Path(__file__).parent


def test_both_specifications_are_valid() -> None:
    assert lint([HERE]) == ([], 2)


@pytest.mark.shared
def test_universal_ner_reads_in_every_language(shared: Path) -> None:
    task = load(TaskSpec, str(HERE / "uner_flat.yaml"))
    source = FileDataSource(shared / "data" / "extra")
    train = source.read(task, "train", "en", None)
    assert len(train) == 2001
    tags: Counter[str] = Counter()
    for language in task.languages:
        for example in source.read(task, "test", language, None).examples:
            assert isinstance(example, TaggingExample)
            assert example.tags is not None
            assert all(example.words)
            tags.update(example.tags)
    assert set(tags) >= {"O", "B-PER", "I-PER", "B-ORG", "B-LOC"}


@pytest.mark.shared
def test_masakhaner_has_dates(shared: Path) -> None:
    task = load(TaskSpec, str(HERE / "masakhaner.yaml"))
    hausa = FileDataSource(shared / "data" / "extra").read(task, "test", "ha", None)
    assert len(hausa) == 1633
    first = hausa.examples[0]
    assert isinstance(first, TaggingExample)
    assert first.words[:3] == ("Hukumar", "wasan", "motsa")
    tags = {tag for e in hausa.examples if isinstance(e, TaggingExample) for tag in e.tags or ()}
    assert {"B-DATE", "I-DATE"} <= tags


@pytest.mark.shared
@pytest.mark.parametrize("name", ["uner_flat", "masakhaner"])
def test_extra_task_runs_end_to_end(shared: Path, tmp_path: Path, name: str) -> None:
    command(
        tmp_path / "run",
        suite=None,
        tasks=(str(HERE / f"{name}.yaml"),),
        data=str(shared / "data" / "extra"),
    ).execute()
    record = read_record(tmp_path / "run" / "records" / f"{name}-seed-1.json")
    assert record.score is not None
    assert all(result.counts["examples"] == 5 for result in record.languages.values())
