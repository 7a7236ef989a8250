"""Prediction and gold files that are written part by part: the same bytes, in memory that does not grow."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.data.files import write
from xharness.data import examples as examples_module
from xharness.data import lines as data_lines
from xharness.data.examples import PairExample, Split, TaggingExample
from xharness.data.readers import READERS, line_examples
from xharness.data.readers.columns import _Columns
from xharness.errors import InputError
from xharness.scoring import lines as scoring_lines
from xharness.scoring.scores import score_task
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.predictions import Decided, Predictions, write_with_gold

PANX = load(TaskSpec, "panx").model_copy(update={"languages": ("en",)})
XNLI = load(TaskSpec, "xnli").model_copy(update={"languages": ("en",)})

ROWS = {
    "panx": "a\tO\nb\tB-PER\nc\tI-PER\n\nd\tB-LOC\n\n",
    "xnli": "a\tb\tneutral\nc\td\tneutral\n",
}


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large files are those of 1 kB, and a part is 256 examples."""
    monkeypatch.setattr(line_examples, "HELD_BYTES", 1 << 10)
    monkeypatch.setattr(line_examples, "MARK_EVERY", 64)
    monkeypatch.setattr(examples_module, "PART_EXAMPLES", 256)
    for module in (data_lines, scoring_lines):
        monkeypatch.setattr(module, "_BLOCK_BYTES", 1 << 10)


def read(task: TaskSpec, path: Path) -> Split:
    files = task.sources.files
    assert files is not None
    options = {"separator": "tab"} if files.format == "columns" else files.options
    found = READERS[files.format]({"file": path}, task, "test", options, Counter())
    return Split(task.name, "test", "en", found, origin={"file": "digest"})


def guesses(split: Split) -> Iterator[Predictions]:
    """Predict as a model that knows one answer, part by part."""
    for part in split.parts():
        found: list[Any] = []
        for example in part.examples:
            if isinstance(example, TaggingExample):
                found.append(["O", *["B-LOC"] * (len(example.words) - 1)])
            else:
                found.append("neutral")
        yield Predictions(found, Counter({"odd": 1}), {"at": part.part})


def written(task: TaskSpec, split: Split, folder: Path) -> tuple[bytes, bytes]:
    name = f"{task.name}/{task.file_name('en')}"
    paths = folder / "predictions" / name, folder / "gold" / name
    assert write_with_gold(task, split, guesses(split), *paths, writer="one") == [*paths]
    assert not list(folder.rglob("*.partial"))
    return paths[0].read_bytes(), paths[1].read_bytes()


@pytest.mark.parametrize("task", [PANX, XNLI], ids=["tags", "labels"])
def test_parts_make_the_files_of_the_whole(
    task: TaskSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "data", ROWS[task.name] * 7)
    whole = written(task, read(task, path), tmp_path / "whole")
    monkeypatch.setattr(examples_module, "PART_EXAMPLES", 3)
    assert written(task, read(task, path), tmp_path / "parts") == whole


def test_counts_add_up_and_details_are_the_first_parts(tmp_path: Path, small_parts: None) -> None:
    split = read(XNLI, write(tmp_path / "data", ROWS["xnli"] * 300))
    decided = Decided(guesses(split))
    assert sum(len(part.values) for part in decided) == 600
    assert decided.counts == {"odd": 3}
    assert decided.details == {"at": "0 of 600"}


def test_parts_are_told_apart_and_hold_what_the_split_holds(
    tmp_path: Path, small_parts: None
) -> None:
    split = read(XNLI, write(tmp_path / "data", ROWS["xnli"] * 300))
    parts = list(split.parts())
    assert [len(part) for part in parts] == [256, 256, 88]
    assert [e for part in parts for e in part.examples] == list(split.examples)
    assert len({split.fingerprint, *(part.fingerprint for part in parts)}) == 4
    (alone,) = split.parts(600)
    assert alone is split


def test_a_part_is_parsed_once_for_predictions_and_gold(
    tmp_path: Path, small_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: Counter[int] = Counter()
    sentences = _Columns.sentences

    def counted(self: _Columns, file: Any, before: int) -> Iterator[TaggingExample]:
        for example in sentences(self, file, before):
            parsed[int(example.id)] += 1
            yield example

    split = read(PANX, write(tmp_path / "data", ROWS["panx"] * 1000))
    monkeypatch.setattr(_Columns, "sentences", counted)
    examples: Any = split.examples
    examples._parse = counted.__get__(examples._parse.__self__)
    written(PANX, split, tmp_path)
    assert len(parsed) == 2000
    # The first is looked at to tell whether there is gold; a place in the file is kept every 64 examples.
    assert max(count for number, count in parsed.items() if number > 64) == 1


@pytest.mark.parametrize("task", [PANX, XNLI], ids=["tags", "labels"])
def test_memory_does_not_grow_with_the_test_set(
    task: TaskSpec, tmp_path: Path, small_parts: None
) -> None:
    peaks = []
    for times in (1_000, 4_000):
        path = write(tmp_path / f"{times}", ROWS[task.name] * times)
        folder = tmp_path / f"run-{times}"
        split = read(task, path)
        tracemalloc.start()
        try:
            name = f"{task.name}/{task.file_name('en')}"
            paths = folder / "predictions" / name, folder / "gold" / name
            write_with_gold(task, split, guesses(split), *paths)
            score = score_task(task, folder / "predictions", folder / "gold")
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        assert score.languages["en"].counts["examples"] == 2 * times
    # 6,000 examples more; a byte for each would be seen.
    assert peaks[1] - peaks[0] < 6_000


@pytest.mark.parametrize(
    ("task", "examples"),
    [
        (PANX, [TaggingExample("1", ("a",), ("O",)), TaggingExample("2", ("b",), None)]),
        (XNLI, [PairExample("1", "p", "h", "neutral"), PairExample("2", "p", "h", None)]),
    ],
    ids=["tags", "labels"],
)
def test_gold_of_some_examples_is_refused(
    tmp_path: Path, task: TaskSpec, examples: list[Any]
) -> None:
    split = Split(task.name, "test", "en", examples)
    with pytest.raises(InputError, match=r"test en: example 2 has no gold label, others have"):
        write_with_gold(task, split, guesses(split), tmp_path / "p" / "a", tmp_path / "g" / "a")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_what_fails_while_predicting_leaves_no_file(tmp_path: Path) -> None:
    split = read(XNLI, write(tmp_path / "data", ROWS["xnli"]))

    def failing() -> Iterator[Predictions]:
        raise OSError("the model's own")
        yield Predictions([])

    with pytest.raises(OSError, match="the model's own"):
        write_with_gold(XNLI, split, failing(), tmp_path / "p" / "a", tmp_path / "g" / "a")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["data"]
