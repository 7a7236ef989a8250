"""Receipts: what was written is read again, and nothing else is."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.runs.receipts import Receipt, ReceiptStore, receipt_name

STAGE = "predict-xnli-1"


def written(folder: Path) -> Receipt:
    """Write a receipt of one output file, as it will be read, and return it."""
    (folder / "out.txt").write_text("entailment\n", encoding="utf-8")
    store = ReceiptStore(folder)
    result = {"origin": {"de": "a1b2"}, "thresholds": [1.5, 0.1], "by_seed": {10: 1, 9: 2}}
    store.write(
        STAGE, Receipt("inputs", store.outputs_of([folder / "out.txt"]), 1.5, 20.25, result)
    )
    found = store.find(STAGE, "inputs")
    assert found is not None
    return found


def test_what_was_written_is_read(tmp_path: Path) -> None:
    receipt = written(tmp_path)
    assert receipt.seconds == 1.5
    assert receipt.result["by_seed"] == {"10": 1, "9": 2}
    store = ReceiptStore(tmp_path)
    assert store.find(STAGE, "other inputs") is None
    (tmp_path / "out.txt").write_text("neutral\n", encoding="utf-8")
    assert store.find(STAGE, "inputs") is None
    assert store.missing_of(STAGE) == ["out.txt"]


@given(st.data())
def test_no_harmed_receipt_counts(data: st.DataObject) -> None:
    """Whichever bit flips, of a key or of a digit."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        receipt = written(folder)
        path = folder / receipt_name(STAGE)
        content = bytearray(path.read_bytes())
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(bytes(content))
        assert ReceiptStore(folder).read(STAGE, "inputs") in (None, receipt)


@pytest.mark.parametrize("content", ["", "[]", "null", "1", "{}", '{"sha256": "a"}', "[" * 9999])
def test_what_is_no_receipt_counts_as_none(tmp_path: Path, content: str) -> None:
    written(tmp_path)
    (tmp_path / receipt_name(STAGE)).write_text(content, encoding="utf-8")
    assert ReceiptStore(tmp_path).read(STAGE, "inputs") is None
    assert ReceiptStore(tmp_path).missing_of(STAGE) == []


def test_a_receipt_without_its_digest_counts_as_none(tmp_path: Path) -> None:
    written(tmp_path)
    path = tmp_path / receipt_name(STAGE)
    raw = json.loads(path.read_text(encoding="utf-8"))
    del raw["sha256"]
    path.write_text(json.dumps(raw), encoding="utf-8")
    assert ReceiptStore(tmp_path).read(STAGE, "inputs") is None
