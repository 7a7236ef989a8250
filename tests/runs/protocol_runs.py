"""Small runs under other protocols than zero-shot, on the sample and files made from its test sets."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tests.small_run import command
from xharness.records.record import Record
from xharness.records.store import read_records
from xharness.runs.command import RunCommand
from xharness.sample import DATA
from xharness.specs.paths import SPECS

IN_LANGUAGE = """\
kind: in_language
files: {train: "sample_ner/train-{language}.tsv", dev: "sample_ner/dev-{language}.tsv"}"""
FEW_SHOT = 'kind: few_shot\nexamples: 10\nfiles: {train: "sample_ner/train-{language}.tsv"}'
TRANSLATE_TRAIN = 'kind: translate_train\nfiles: {train: "sample_nli/translated-{language}.tsv"}'
TRANSLATE_TEST = 'kind: translate_test\nfiles: {test: "sample_nli/test-{language}-en.tsv"}'


def make_data(folder: Path) -> Path:
    """Return the sample's data with more files.

    ``sample_ner/train-{de,es}.tsv``: the last 60 sentences of the test sets; ``sample_ner/dev-de.tsv``: the 20 before
    in German. ``sample_nli/translated-{de,es}.tsv``: the test sets; ``sample_nli/test-de-en.tsv``: the English test
    set, which translates the German one row for row; ``test-es-en.tsv``: the same, from its last row to its first.
    """
    data = folder / "data"
    for task in ("sample_ner", "sample_nli"):
        shutil.copytree(DATA / task, data / task)
    for code in ("de", "es"):
        text = (data / "sample_ner" / f"test-{code}.tsv").read_text(encoding="utf-8")
        sentences = text.strip("\n").split("\n\n")
        write_sentences(data / "sample_ner" / f"train-{code}.tsv", sentences[-60:])
        if code == "de":
            write_sentences(data / "sample_ner" / f"dev-{code}.tsv", sentences[-80:-60])
        nli = data / "sample_nli"
        shutil.copyfile(nli / f"test-{code}.tsv", nli / f"translated-{code}.tsv")
        rows = (nli / "test-en.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
        rows = rows if code == "de" else rows[::-1]
        (nli / f"test-{code}-en.tsv").write_text("".join(rows), encoding="utf-8")
    return data


def write_sentences(path: Path, sentences: list[str]) -> None:
    path.write_text("\n\n".join(sentences) + "\n", encoding="utf-8")


def spec_file(folder: Path, task: str, changes: str, protocol: str = "") -> str:
    """Write a specification that includes a shipped one, and return its path, which no other may have."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{task}.yaml"
    lines = [f"include: {SPECS / 'tasks' / task}.yaml", *changes.splitlines()]
    if protocol:
        lines += ["protocol:", *(f"  {line}" for line in protocol.splitlines())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def run_of(folder: Path, data: Path, task: str, protocol: str, **changes: object) -> RunCommand:
    """Return a run of a sample task under a protocol, its output in ``folder / "run"``."""
    reference = spec_file(folder, task, "", protocol)
    return plain_run(folder, data, reference, **changes)


def plain_run(folder: Path, data: Path, reference: str, **changes: object) -> RunCommand:
    options: dict[str, object] = {
        "suite": None,
        "tasks": (reference,),
        "data": str(data),
        "recipe": "sample",
    }
    return command(folder / "run", **{**options, **changes})


def record_of(folder: Path) -> Record:
    (record,) = read_records([folder / "run"])
    return record


def predictions(folder: Path, task: str, language: str) -> bytes:
    return (folder / "predictions" / "seed-1" / task / f"test-{language}.tsv").read_bytes()


def models_of(record: Record) -> dict[str, dict[str, Any]]:
    """Return what a record says of the training of each language's own model."""
    assert record.protocol.training is not None
    found: dict[str, dict[str, Any]] = record.protocol.training["models"]
    return found
