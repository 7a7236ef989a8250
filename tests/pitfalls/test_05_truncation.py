"""A sentence longer than the window: as many predictions as words, and what was cut is in the record."""

from __future__ import annotations

from pathlib import Path

from tests.pitfalls.submission import write
from tests.small_run import command
from xharness.records.store import read_records
from xharness.sample import DATA


def test_four_hundred_words_in_windows_of_thirty_two(tmp_path: Path) -> None:
    folder = tmp_path / "data/sample_pos"
    for name in ("train-en.tsv", "dev-en.tsv"):
        write(folder / name, (DATA / "sample_pos" / name).read_bytes())
    words = ["bread"] * 399 + ["x" * 300]
    test = "".join(f"{word}\tNOUN\n" for word in words) + "\nMaria\tPROPN\nruns\tVERB\n"
    write(folder / "test-en.tsv", test)
    run = command(
        tmp_path / "run",
        suite=None,
        tasks=("sample_pos",),
        languages="en",
        data=str(tmp_path / "data"),
        limit=None,
        overrides=("epochs=1", "max_length=32"),
    )
    run.execute()
    (record,) = read_records([tmp_path / "run"])
    text = (tmp_path / "run/predictions/seed-1/sample_pos/test-en.tsv").read_text(encoding="utf-8")
    sentences = [sentence.split("\n") for sentence in text.rstrip("\n").split("\n\n")]
    assert [len(sentence) for sentence in sentences] == [400, 2]
    result = record.languages["en"]
    assert result.status == "scored"
    assert result.counts["tokens"] == 402
    assert result.counts["unanswered"] == 0
    assert result.counts["sentences_cut"] >= 400 // 30
    assert result.counts["words_of_too_many_pieces"] == 1
