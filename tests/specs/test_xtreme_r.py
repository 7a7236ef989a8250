"""XTREME-R's suite and what its tasks brought into the specifications."""

from __future__ import annotations

from pathlib import Path

import pytest

from xharness.errors import InputError
from xharness.specs.recipe import Recipe
from xharness.specs.registry import benchmark_of_suite, load, training_chain
from xharness.specs.task import TaskSpec
from xharness.specs.validation import build
from xharness.specs.yaml_loading import load_document

#: Ruder et al. 2021, and the official scorer's lists at commit 838c13b: the fifty languages.
LANGUAGES = (
    "af ar az bg bn de el en es et eu fa fi fr gu he hi ht hu id it ja jv ka kk ko lt ml mr ms my nl pa pl pt qu "
    "ro ru sw ta te th tl tr uk ur vi wo yo zh"
)
XCOPA = "et ht id it qu sw ta th tr vi zh"
MEWSLIX = "ar de en es fa ja pl ro ta tr uk"
ADDED = {
    "panx": "qu pl uk az lt pa gu ro",
    "udpos": "lt pl uk wo ro",
    "tatoeba": "az lt pl uk ro",
    "xquad": "ro",
}


def test_languages_groups_and_overall() -> None:
    suite, xtreme = benchmark_of_suite("xtreme-r"), benchmark_of_suite("xtreme")
    assert sorted({code for task in suite.tasks for code in task.languages}) == LANGUAGES.split()
    for task in suite.tasks:
        if task.name in {t.name for t in xtreme.tasks}:
            added = tuple(ADDED.get(task.name, "").split())
            assert task.languages == xtreme.task(task.name).languages + added
    assert suite.task("xcopa").languages == tuple(XCOPA.split())
    assert suite.task("mewslix").languages == tuple(MEWSLIX.split())
    # XQuAD's eleven languages of XTREME, one file of questions each.
    assert set(suite.task("lareqa").languages) == set(xtreme.task("xquad").languages)
    assert suite.categories == {
        "classification": ("xnli", "xcopa"),
        "tagging": ("udpos", "panx"),
        "qa": ("xquad", "mlqa", "tydiqa"),
        "retrieval": ("tatoeba", "mewslix"),
        "multi_choice": ("xcopa",),
    }
    assert len(suite.overall) == len(suite.tasks) == 10


def test_file_names_are_the_official_ones() -> None:
    suite = benchmark_of_suite("xtreme-r")
    assert suite.task("xcopa").file_name("et") == "test-et.jsonl"
    assert suite.task("mewslix").file_name("ar") == "test-ar.json"
    assert suite.task("tatoeba").file_name("ar") == "test-ar.tsv"


def test_xcopa_is_trained_on_social_iqa_and_then_on_copa() -> None:
    """train_xcopa.sh: 5 epochs each, batch 32, length 128, 2e-5; 3e-5 for the larger models; the last checkpoint."""
    chain = training_chain(load(TaskSpec, "xcopa"))
    assert [task.training for task in chain] == ["siqa", "copa"]
    for name, rate in (("xtreme", 2e-5), ("xtreme-large", 3e-5)):
        for task in chain:
            settings = load(Recipe, name).resolve(task)
            assert (settings.learning_rate, settings.epochs) == (rate, 5)
            assert (settings.batch_size, settings.max_length) == (32, 128)
            assert settings.selection == "last"
    changed = load(Recipe, "xtreme").resolve(chain[0], {"siqa.epochs": 1})
    assert changed.epochs == 1
    assert load(Recipe, "xtreme").resolve(chain[1], {"siqa.epochs": 1}).epochs == 5


def test_corrected_xcopa_differs_in_the_questions_alone() -> None:
    given, corrected = load(TaskSpec, "xcopa"), load(TaskSpec, "xcopa_corrected")
    assert given.sources.files is not None
    assert corrected.sources.files is not None
    assert given.sources.files.options["questions"] == "given"
    assert corrected.sources.files.options == {
        **given.sources.files.options,
        "questions": "english",
    }
    assert (given.training, given.languages) == (corrected.training, corrected.languages)


BASE = """\
name: tiny
title: Tiny
kind: {kind}
category: other
languages: [en]
metric: {metric}
score: {{default: ["{figure}"]}}
{more}
citation: nobody
licence: none
"""
CHOICE = {"kind": "multiple_choice", "metric": "accuracy", "figure": "accuracy"}
RANKING = {"kind": "retrieval", "metric": "map_at_20", "figure": "map@20"}
FILES = "sources: {files: {format: choice_jsonl, test: a.jsonl}}"


def task_of(folder: Path, fields: dict[str, str], *more: str) -> TaskSpec:
    path = folder / "tiny.yaml"
    path.write_text(BASE.format(**fields, more="\n".join(more)), encoding="utf-8")
    return build(TaskSpec, load_document(path))


def test_a_ranking_task_needs_no_source(tmp_path: Path) -> None:
    assert task_of(tmp_path, RANKING, "method: ranking").scored_only
    assert not load(TaskSpec, "lareqa").scored_only


@pytest.mark.parametrize(
    ("fields", "more", "message"),
    [
        (CHOICE, ["training: t"], "sources: give files, hub or both"),
        (CHOICE, [FILES], "training: a multiple_choice task needs the name"),
        (CHOICE, [FILES, "training: t", "labels: [a, b]"], "labels: a multiple_choice task"),
        (RANKING, ["method: mining", FILES], "method: ranking and metric map_at_20"),
        (
            RANKING,
            ["method: ranking", "intermediate_task: siqa"],
            "intermediate_task: a retrieval task is not fine-tuned",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, fields: dict[str, str], more: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        task_of(tmp_path, fields, *more)


@pytest.mark.parametrize(
    ("intermediate", "message"),
    [("tatoeba", "tatoeba is not fine-tuned"), ("siqq", "did you mean 'siqa'")],
)
def test_an_intermediate_task_must_be_trainable(
    tmp_path: Path, intermediate: str, message: str
) -> None:
    task = task_of(tmp_path, CHOICE, FILES, "training: t", f"intermediate_task: {intermediate}")
    with pytest.raises(InputError, match=message):
        training_chain(task)


def test_a_circle_of_intermediate_tasks_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tiny.yaml"
    task = task_of(tmp_path, CHOICE, FILES, "training: t", f"intermediate_task: {path}")
    with pytest.raises(InputError, match="leads back to itself"):
        training_chain(task)
