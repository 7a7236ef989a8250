"""Protocols on real data with a real encoder: dev files of other languages as training data."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runs.protocol_runs import models_of, record_of
from tests.small_run import command
from xharness.specs.paths import SPECS

pytestmark = [pytest.mark.slow, pytest.mark.shared]


def run(folder: Path, shared: Path, text: str, languages: str | None, **changes: object) -> None:
    reference = folder / "task.yaml"
    reference.write_text(text.replace("SPECS", str(SPECS)), encoding="utf-8")
    options: dict[str, object] = {
        "model": str(shared / "models" / "multilingual-e5-small-trimmed"),
        "suite": None,
        "tasks": (str(reference),),
        "data": str(shared / "data" / "xtreme_mini"),
        "recipe": "short",
        "languages": languages,
        "limit": 50,
        "limit_train": 50,
        "overrides": (),
    }
    command(folder / "run", **{**options, **changes}).execute()


@pytest.mark.parametrize("examples", [10, 50])
def test_few_shot_ner_from_german_dev(tmp_path: Path, shared: Path, examples: int) -> None:
    text = f"""\
include: SPECS/protocols/panx_few_shot.yaml
protocol: {{examples: {examples}, files: {{train: "panx/dev-{{language}}.tsv"}}}}
"""
    run(tmp_path, shared, text, "en,de")
    record = record_of(tmp_path)
    model = models_of(record)["de"]
    # The German dev file has 1,500 sentences.
    assert record.data.train["de: drawn"] == f"{examples} of 1500, seed 42"
    assert model["languages"] == {"de": examples}
    assert len(set(model["examples"])) == examples
    assert {code for code, r in record.languages.items() if r.status == "scored"} == {"en", "de"}


def test_in_language_xnli_from_dev(tmp_path: Path, shared: Path) -> None:
    text = """\
include: SPECS/tasks/xnli.yaml
protocol: {kind: in_language, dev: english, files: {train: "xnli/dev-{language}.tsv"}}
"""
    run(tmp_path, shared, text, "de,sw")
    record = record_of(tmp_path)
    assert {code: m["dev_language"] for code, m in models_of(record).items()} == {
        "de": "en",
        "sw": "en",
    }
    assert record.languages["sw"].status == "scored"


def test_one_tagger_for_several_languages_from_dev(tmp_path: Path, shared: Path) -> None:
    """There are no dev files in kk, th, tl and yo, which are holes; the pool has the other 29 languages."""
    text = """\
include: SPECS/protocols/udpos_in_language.yaml
protocol: {training_languages: all, files: {train: "udpos/dev-{language}.tsv", dev: null}, recipe: {selection: last}}
"""
    run(tmp_path, shared, text, None, limit=5, limit_train=5)
    record = record_of(tmp_path)
    holes = {code for code, r in record.languages.items() if r.reason == "no training data"}
    assert holes == {"kk", "th", "tl", "yo"}
    assert record.data.train_examples == 29 * 5
