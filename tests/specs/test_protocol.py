"""The protocol of a task: which keys each kind has, what tables call it, and what it reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from xharness.errors import InputError
from xharness.specs.listing import list_tasks
from xharness.specs.protocol import TransferProtocol
from xharness.specs.recipe import Recipe
from xharness.specs.registry import (
    available_protocols,
    benchmark_of_suite,
    benchmark_of_tasks,
    load,
    training_chain,
)
from xharness.specs.task import TaskSpec
from xharness.specs.validation import SpecError, build
from xharness.specs.yaml_loading import load_document

TASK = """\
name: tiny
title: Tiny
kind: {kind}
category: any
languages: [en, de, fr]
labels: [a, b]
metric: accuracy
score: {{default: [accuracy]}}
training: tiny
sources: {{files: {{format: pair_tsv, train: train-en.tsv, dev: dev-en.tsv, test: "test-{{language}}.tsv"}}}}
citation: nobody
licence: none
protocol:
"""


def task_of(folder: Path, protocol: str, kind: str = "pair_classification") -> TaskSpec:
    path = folder / "tiny.yaml"
    lines = "".join(f"  {line}\n" for line in protocol.splitlines())
    path.write_text(TASK.format(kind=kind) + lines, encoding="utf-8")
    return build(TaskSpec, load_document(path))


TRAIN = 'files: {train: "train-{language}.tsv"}'


@pytest.mark.parametrize(
    ("protocol", "setting"),
    [
        ("kind: zero_shot", "zero-shot"),
        (f"kind: translate_train\n{TRAIN}", "translate-train"),
        (f"kind: translate_train\n{TRAIN}\ntraining_languages: all", "translate-train, multi-task"),
        ('kind: translate_test\nfiles: {test: "{language}.tsv"}', "translate-test"),
        (f"kind: in_language\n{TRAIN}", "in-language"),
        (
            f"kind: in_language\n{TRAIN}\ntraining_languages: [de, fr]",
            "in-language, multi-task on de fr",
        ),
        (f"kind: few_shot\nexamples: 10\n{TRAIN}", "few-shot, 10 examples"),
        # XTREME's "in-language, 1,000 examples" begins with the pre-trained model.
        (
            f"kind: few_shot\nexamples: 1000\nstart: pretrained\n{TRAIN}",
            "in-language, 1000 examples",
        ),
    ],
)
def test_tables_call_it_as_xtreme_does(tmp_path: Path, protocol: str, setting: str) -> None:
    assert task_of(tmp_path, protocol).protocol.setting == setting


@pytest.mark.parametrize(
    ("protocol", "message"),
    [
        # ``protocol:`` is line 13, so its keys begin at 14.
        (
            "kind: translate_trian",
            r"tiny\.yaml:14: protocol\.kind: Input should be 'zero_shot', 'translate_train'",
        ),
        (
            f"kind: few_shot\nexmples: 10\n{TRAIN}",
            r"tiny\.yaml:15: protocol\.exmples: unknown key, did you mean 'examples'",
        ),
        (
            f"kind: translate_train\n{TRAIN}\nexamples: 10",
            r"tiny\.yaml:16: protocol\.examples: kind translate_train has no such key",
        ),
        (
            'kind: translate_test\nfiles: {test: "{language}.tsv"}\ndev: english',
            r"tiny\.yaml:16: protocol\.dev: kind translate_test has no such key",
        ),
        (f"kind: few_shot\n{TRAIN}", "examples: kind few_shot needs their number"),
        (f"kind: few_shot\nexamples: 0\n{TRAIN}", r"tiny\.yaml:15: protocol\.examples"),
        ("kind: in_language", "files: kind in_language needs files, hub or both"),
        (
            "kind: in_language\nfiles: {dev: 'dev-{language}.tsv'}",
            r"tiny\.yaml:15: protocol\.files: train: kind in_language needs it",
        ),
        (
            "kind: in_language\nfiles: {train: 'train-{language}.tsv', test: 'test-{language}.tsv'}",
            "test: kind in_language takes the task's own",
        ),
        (
            "kind: in_language\nfiles: {train: train-de.tsv}",
            r"tiny\.yaml:15: protocol\.files: train: needs {language} or another placeholder",
        ),
        (
            "kind: in_language\nfiles: {train: 'train-{lang}.tsv'}",
            r"tiny\.yaml:15: protocol\.files: train: unknown placeholder {lang}",
        ),
        (
            f"kind: in_language\n{TRAIN}\ntraining_languages: [de, es]",
            r"tiny\.yaml:13: protocol: training_languages: the task has no language 'es'",
        ),
        (f"kind: in_language\n{TRAIN}\ntraining_languages: [de, de]", "a language occurs twice"),
        (f"kind: in_language\n{TRAIN}\ntraining_languages: eahc", r"tiny\.yaml:16"),
        (
            "kind: in_language\nhub: {train: {config: '{language}', split: train}}",
            r"tiny\.yaml:13: protocol: hub: there is no sources\.hub to lay it over",
        ),
    ],
)
def test_wrong_keys_are_named_with_their_line(tmp_path: Path, protocol: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        task_of(tmp_path, protocol)


def test_translated_tests_need_labels_that_hold_for_a_translation(tmp_path: Path) -> None:
    """Tags belong to the words of the original, which its translation has not."""
    with pytest.raises(SpecError, match=r":13: protocol: the gold of a tagging task does not hold"):
        task_of(tmp_path, 'kind: translate_test\nfiles: {test: "{language}.tsv"}', "tagging")


def test_zero_shot_is_what_a_task_without_protocol_has(tmp_path: Path) -> None:
    """Digests of specifications leave defaults out, so both are the same specification."""
    said = task_of(tmp_path, "kind: zero_shot")
    assert said.protocol == TransferProtocol()
    assert "protocol" not in said.model_dump(exclude_defaults=True)


def test_a_split_that_the_protocol_does_not_give_is_not_read_from_english_files(
    tmp_path: Path,
) -> None:
    task = task_of(tmp_path, f"kind: in_language\n{TRAIN}")
    train, dev = task.from_protocol("train").sources.files, task.from_protocol("dev").sources.files
    assert train is not None
    assert dev is not None
    assert train.train == "train-{language}.tsv"
    assert dev.dev is None  # and not dev-en.tsv


def test_dev_files_have_the_format_of_the_task_and_training_files_their_own() -> None:
    """XTREME's translated MNLI has five columns; XNLI's dev files have three."""
    task = load(TaskSpec, "xnli_translate_train")
    train, dev = task.from_protocol("train").sources.files, task.from_protocol("dev").sources.files
    assert train is not None
    assert dev is not None
    assert train.options == {"columns": {"premise": 2, "hypothesis": 3, "label": 4}}
    assert dev.options == {"columns": {"premise": 0, "hypothesis": 1, "label": 2}}


def test_settings_of_the_protocol_are_laid_over_those_of_the_recipe() -> None:
    few, recipe = load(TaskSpec, "panx_few_shot"), load(Recipe, "xtreme")
    assert recipe.resolve(few).selection == "last"
    assert recipe.resolve(few.zero_shot()).selection == "best_dev"
    overrides = {"few_shot.learning_rate": 1e-5, "panx.learning_rate": 3e-5}
    assert recipe.resolve(few, overrides).learning_rate == 1e-5
    assert recipe.resolve(few.zero_shot(), overrides).learning_rate == 3e-5


def test_few_shot_goes_on_from_the_english_model() -> None:
    few = load(TaskSpec, "panx_few_shot")
    before, last = training_chain(few)
    assert (before, last) == (load(TaskSpec, "panx"), few)
    alone = few.model_copy(
        update={"protocol": few.protocol.model_copy(update={"start": "pretrained"})}
    )
    assert training_chain(alone) == (alone,)


def test_shipped_protocols_are_their_tasks_and_listed() -> None:
    assert available_protocols() == [
        "panx_few_shot",
        "panx_in_language",
        "udpos_in_language",
        "xnli_translate_test",
        "xnli_translate_train",
    ]
    for name in available_protocols():
        task = load(TaskSpec, name)
        assert task.zero_shot() == load(TaskSpec, task.name)
        assert name in list_tasks()


def test_misspelt_protocol_is_suggested() -> None:
    with pytest.raises(InputError, match="did you mean 'xnli_translate_train'"):
        load(TaskSpec, "xnli_translate_trian")


def test_one_task_under_two_protocols_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="panx and panx_few_shot are both the task panx"):
        benchmark_of_tasks(["panx", "panx_few_shot"])
    suite = tmp_path / "both.yaml"
    suite.write_text(
        "name: both\ntitle: Both\ntasks: {panx: , panx_few_shot: }\ncategories: {all: [panx]}\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError, match="panx and panx_few_shot are both the task panx"):
        benchmark_of_suite(str(suite))
