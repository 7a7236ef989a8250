"""``xharness validate`` knows every kind of YAML file that the project reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from xharness.cli.file_kinds import file_kinds
from xharness.specs.linting import lint

ROOT = Path(__file__).parents[1]

PRETRAINING = """\
name: small
encoder: {hidden_size: 8, num_hidden_layers: 1, num_attention_heads: 3}
steps: 5
"""
LANGUAGE_MODEL = "name: small\nmodel: {kind: gru}\ntraining: {epochs: 1}\n"
TRANSLATION = "name: small\nsource: de\ntarget: de\nmodel: {}\ntraining: {epochs: 1}\n"
GATE = "overall: {max_drop: -1}\n"
PUBLISHED = "title: A\ncitation: B\nurl: https://example.org\nrows: []\n"


def test_all_shipped_files_are_right() -> None:
    others = ["leaderboards/published", "leaderboards/baselines/sample/gate.yaml"]
    problems, checked = lint([ROOT / name for name in others], file_kinds())
    assert (problems, checked) == ([], 1 + len(list((ROOT / others[0]).glob("*.yaml"))))
    # All of task_specs but the two tables that are data of their own rooms.
    tables = {"languages.yaml", "parameter_counts.yaml"}
    files = [p for p in (ROOT / "task_specs").rglob("*.yaml") if p.name not in tables]
    assert lint([], file_kinds()) == ([], len(files))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (PRETRAINING, "3 heads do not divide a width of 8"),
        (PRETRAINING.replace("steps: 5", "steps: 5\nspeed: 3"), "wrong.yaml:4: speed: unknown key"),
        (LANGUAGE_MODEL, "wrong.yaml:2: model.kind"),
        (TRANSLATION, "source and target are both"),
        (GATE, "wrong.yaml:1: overall.max_drop"),
        (PUBLISHED, "there is none"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(content, encoding="utf-8")
    problems, checked = lint([path], file_kinds())
    assert checked == 1
    assert len(problems) == 1
    assert message in problems[0]
