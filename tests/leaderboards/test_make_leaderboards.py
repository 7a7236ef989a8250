"""The script behind ``make leaderboards``: the same bytes twice, and every stale file named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.records.examples import make_record
from xharness.records.store import write_record

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_leaderboards.py"
ROW = """\
title: A paper
citation: Somebody 2020
url: https://example.org/paper
rows:
  - model: A
    source: Table 1
    averages: {xtreme: {xnli: {accuracy: 81.25}}}
"""


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), "--root", str(root), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def contents(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


@pytest.mark.slow
def test_made_twice_alike_and_checked(tmp_path: Path) -> None:
    (tmp_path / "published").mkdir()
    (tmp_path / "published/paper.yaml").write_text(ROW, encoding="utf-8")
    write_record(make_record("pawsx"), tmp_path / "records/mine")
    assert run(tmp_path, "--check").returncode == 1
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    first = contents(tmp_path)
    assert {"index.html", "cells.parquet", "xtreme/tasks.md", "xtreme-seven/tasks.json"} < set(
        first
    )
    assert {"xtreme/heatmap-own-m.svg", "xtreme/transfer-gap.pdf"} < set(first)
    assert b"81.25" in first["xtreme-seven/tasks.csv"]
    assert b'"m"' in first["xtreme-seven/tasks.json"]  # XTREME's records count there too
    assert run(tmp_path).returncode == 0
    assert contents(tmp_path) == first
    assert run(tmp_path, "--check").returncode == 0

    # A new figure, a file by hand, one too many and one too few: each is named, nothing is written.
    (tmp_path / "published/paper.yaml").write_text(ROW.replace("81.25", "81.5"), encoding="utf-8")
    (tmp_path / "xtreme/panx.md").unlink()
    (tmp_path / "xtreme/old.md").write_text("old", encoding="utf-8")
    before = contents(tmp_path)
    checked = run(tmp_path, "--check")
    assert checked.returncode == 1
    lines = checked.stderr.splitlines()
    assert f"{tmp_path / 'xtreme/tasks.md'}: is stale" in lines
    assert f"{tmp_path / 'xtreme/panx.md'}: is absent" in lines
    assert f"{tmp_path / 'xtreme/old.md'}: is left over" in lines
    assert not any("pawsx" in line or "published/" in line for line in lines)
    assert contents(tmp_path) == before
    assert run(tmp_path).returncode == 0
    assert run(tmp_path, "--check").returncode == 0
    assert not (tmp_path / "xtreme/old.md").exists()


def test_a_row_without_a_source_ends_in_one_line_and_no_file(tmp_path: Path) -> None:
    (tmp_path / "published").mkdir()
    path = tmp_path / "published/paper.yaml"
    path.write_text(ROW.replace("    source: Table 1\n", ""), encoding="utf-8")
    done = run(tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"make_leaderboards: {path}:5: rows.0.source: this key is required\n"
    assert set(contents(tmp_path)) == {"published/paper.yaml"}
