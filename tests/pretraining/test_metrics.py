"""The log of figures: cut back at a resume, whole lines alone, and what is no such log."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.errors import InputError
from xharness.pretraining.metrics import MetricsLog, read_metrics, require_tensorboard

FIGURES = st.dictionaries(
    st.text(max_size=5).filter(lambda key: key not in ("kind", "step")),
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.dictionaries(st.text(max_size=3), st.floats(allow_nan=False, allow_infinity=False)),
    ),
    max_size=3,
)
LINES = st.lists(st.tuples(st.sampled_from(["train", "dev"]), FIGURES), max_size=8)


def write(path: Path, lines: list[tuple[str, dict[str, Any]]], after: int = 0) -> None:
    """Write lines of the steps after one, as a run resumed there does."""
    with MetricsLog(path, after) as log:
        for step, (kind, figures) in enumerate(lines[after:], after + 1):
            log.write(kind, step, figures)


@given(LINES, st.data())
def test_cut_back_and_written_again(
    lines: list[tuple[str, dict[str, Any]]], data: st.DataObject
) -> None:
    """Killed after any byte and resumed at any step before, the file has the same bytes in the end."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "metrics.jsonl"
        write(path, lines)
        whole = path.read_bytes()
        assert [(line["kind"], line["step"]) for line in read_metrics(path)] == [
            (kind, step) for step, (kind, _) in enumerate(lines, 1)
        ]
        end = data.draw(st.integers(0, len(whole)))
        after = data.draw(st.integers(0, whole[:end].count(b"\n")))
        path.write_bytes(whole[:end])
        write(path, lines, after)
        assert path.read_bytes() == whole


def test_a_line_cut_short_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"kind": "train", "step": 1, "loss": 3.5}\n{"kind": "train", "st')
    assert read_metrics(path) == [{"kind": "train", "step": 1, "loss": 3.5}]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "3",
        "{}",
        '{"kind": "train"}',
        '{"kind": "test", "step": 1}',
        '{"kind": "dev", "step": "1"}',
    ],
)
def test_a_line_of_something_else(tmp_path: Path, line: str) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"kind": "train", "step": 1}\n' + line + '\n{"kind": "train", "step": 2}\n')
    with pytest.raises(InputError) as caught:
        read_metrics(path)
    assert str(caught.value) == (f"{path}:2: no line of a pre-training's figures (remove the line)")


def test_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    with pytest.raises(InputError, match="cannot be read"):
        read_metrics(path)
    path.write_bytes(b"\xff\n")
    with pytest.raises(InputError, match="cannot be read"):
        read_metrics(path)


def test_a_new_run_begins_anew(tmp_path: Path) -> None:
    """What a run that never came to a checkpoint left does not matter, whatever it is."""
    path = tmp_path / "metrics.jsonl"
    path.write_text("what is this\n\n")
    write(path, [("train", {"loss": 1.0})])
    assert [line["step"] for line in read_metrics(path)] == [1]


def test_full_disk(tmp_path: Path) -> None:
    """``/dev/full`` takes no byte."""
    if not Path("/dev/full").exists():
        pytest.skip("the system has no /dev/full")
    path = tmp_path / "metrics.jsonl"
    log = MetricsLog(path, 0)
    path.unlink()
    path.symlink_to("/dev/full")
    with pytest.raises(InputError) as caught, log:
        log.write("train", 1, {"loss": 1.0})
    assert f"{path}: cannot be written: No space left on device" in str(caught.value)


def test_tensorboard_is_named_where_it_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xharness.pretraining.metrics.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'xharness\[tensorboard\]'"):
        require_tensorboard()


def test_tensorboard(tmp_path: Path) -> None:
    """What a resumed run takes back is no longer shown."""
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    path, board = tmp_path / "metrics.jsonl", tmp_path / "board"
    for after, loss in ((0, 4.0), (2, 3.0)):
        with MetricsLog(path, after, board) as log:
            for step in range(after + 1, 5):
                log.write("train", step, {"loss": loss - step / 10})
            log.write("dev", 4, {"mean_loss": 2.5, "loss": {"de": 2.0, "en": 3.0}})
    shown = reading.EventAccumulator(str(board))
    shown.Reload()
    assert {event.step: event.value for event in shown.Scalars("train/loss")} == pytest.approx(
        {1: 3.9, 2: 3.8, 3: 2.7, 4: 2.6}
    )
    assert [event.value for event in shown.Scalars("dev/loss/de")] == [2.0]
    assert json.loads(path.read_text().splitlines()[-1])["mean_loss"] == 2.5


def test_a_line_nested_beyond_reading_is_named(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text("[" * 100_000 + "\n{}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"metrics\.jsonl:1: no line of a pre-training's figures"):
        read_metrics(path)
