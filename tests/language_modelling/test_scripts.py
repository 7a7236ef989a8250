"""The studies' scripts as commands: wrong use is one line and exit code 2, and a page can be written of nothing."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def run(monkeypatch: pytest.MonkeyPatch, script: str, *arguments: str) -> None:
    path = str(SCRIPTS / script)
    monkeypatch.setattr(sys, "argv", [path, *arguments])
    runpy.run_path(path, run_name="__main__")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("reproduce_define.py", "error: --data: no text to train on"),
        ("reproduce_tying.py", "error: --words: no word similarity set"),
    ],
)
def test_without_data(
    script: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as caught:
        run(monkeypatch, script, "--output", str(tmp_path / "results"))
    assert caught.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith(message)
    assert len(told.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("study", ["tying", "define"])
def test_a_page_of_nothing(study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(monkeypatch, f"reproduce_{study}.py", "--report", "--output", str(tmp_path / "none"))
    assert "Nothing has been run yet." in (tmp_path / "none.md").read_text()
