"""Tasks, suites, recipes and languages: what is shipped is right, what is wrong is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xharness.errors import InputError
from xharness.specs.languages import language_table
from xharness.specs.linting import lint
from xharness.specs.listing import list_tasks
from xharness.specs.recipe import Recipe, Settings
from xharness.specs.registry import (
    available,
    available_protocols,
    benchmark_of_suite,
    benchmark_of_tasks,
    load,
)
from xharness.specs.suite import Suite
from xharness.specs.task import TaskSpec, placeholders
from xharness.specs.validation import SpecError, build
from xharness.specs.yaml_loading import load_document

TASK = """\
name: tiny
title: Tiny
kind: tagging
category: tagging
languages: [en, no]
labels: [O, B-X, I-X]
metric: entity_f1
score: {default: [f1]}
training: tiny
sources: {files: {format: columns, train: a.tsv, test: "{language}.tsv"}}
citation: nobody
licence: none
"""


def build_task(folder: Path, text: str) -> TaskSpec:
    path = folder / "tiny.yaml"
    path.write_text(text, encoding="utf-8")
    return build(TaskSpec, load_document(path))


def test_everything_shipped_is_valid() -> None:
    problems, checked = lint([])
    assert problems == []
    shipped = sum(len(available(model)) for model in (TaskSpec, Suite, Recipe))
    assert checked == shipped + len(available_protocols())


def test_xtreme_has_the_published_languages_and_groups() -> None:
    xtreme = benchmark_of_suite("xtreme")
    # Hu et al. 2020, Table 1, and the official scorer's lists: languages per task.
    sizes = {"xnli": 15, "pawsx": 7, "udpos": 33, "panx": 40, "xquad": 11, "mlqa": 7, "tydiqa": 9}
    sizes |= {"bucc2018": 4, "tatoeba": 36}
    assert {task.name: len(task.languages) for task in xtreme.tasks} == sizes
    assert xtreme.categories == {
        "classification": ("pawsx", "xnli"),
        "tagging": ("udpos", "panx"),
        "qa": ("xquad", "mlqa", "tydiqa"),
        "retrieval": ("bucc2018", "tatoeba"),
    }
    assert len(xtreme.overall) == 9
    assert len({code for task in xtreme.tasks for code in task.languages}) == 40


def test_squad_is_trained_once_for_xquad_and_mlqa() -> None:
    assert load(TaskSpec, "xquad").training == load(TaskSpec, "mlqa").training == "squad"


def test_recipes_hold_the_published_values() -> None:
    official, rembert = load(Recipe, "xtreme"), load(Recipe, "rembert")
    xnli = official.resolve(load(TaskSpec, "xnli"))
    assert (xnli.learning_rate, xnli.epochs, xnli.batch_size, xnli.max_length) == (2e-5, 5, 32, 128)
    squad = official.resolve(load(TaskSpec, "xquad"))
    assert (squad.learning_rate, squad.epochs, squad.warmup_steps) == (3e-5, 3, 500)
    assert (squad.max_length, squad.doc_stride, squad.selection) == (384, 128, "last")
    assert load(Recipe, "xtreme-large").resolve(load(TaskSpec, "xnli")).learning_rate == 3e-5
    # Chung et al. 2020, Table 15.
    panx = rembert.resolve(load(TaskSpec, "panx"))
    assert (panx.learning_rate, panx.epochs, panx.batch_size) == (8e-6, 3, 64)


@pytest.mark.parametrize(("layers", "layer"), [(12, 8), (24, 14), (6, 6)])
def test_official_retrieval_layer_goes_by_model_size(layers: int, layer: int) -> None:
    settings = load(Recipe, "xtreme").resolve(load(TaskSpec, "tatoeba"))
    assert settings.layer_of(layers) == layer


def test_overrides_reach_a_task_its_training_set_or_all() -> None:
    recipe = load(Recipe, "xtreme")
    xquad, xnli = load(TaskSpec, "xquad"), load(TaskSpec, "xnli")
    values = {"epochs": 1, "squad.learning_rate": 1e-4, "xquad.n_best": 5}
    assert recipe.resolve(xquad, values).learning_rate == 1e-4
    assert recipe.resolve(xquad, values).n_best == 5
    assert recipe.resolve(xnli, values).learning_rate == 2e-5
    assert recipe.resolve(xnli, values).epochs == 1


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ({"learning_rat": 1}, "did you mean 'learning_rate'"),
        ({"learning_rate": -1}, "learning_rate = -1"),
        ({"selection": "best"}, "selection"),
        ({"epochs": "many"}, "epochs = 'many'"),
    ],
)
def test_bad_settings_are_named(override: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(Recipe, "xtreme").resolve(load(TaskSpec, "xnli"), override)


def test_layer_above_the_model_is_refused() -> None:
    with pytest.raises(InputError, match="layer 9 asked of a model of 4 layers"):
        Settings(layer=9).layer_of(4)


def test_norwegian_is_a_language(tmp_path: Path) -> None:
    assert build_task(tmp_path, TASK).languages == ("en", "no")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("languages: [en, no]", "languages: [en, xx]", r"tiny\.yaml:5: languages\.1: 'xx' is not"),
        ("languages: [en, no]", "languages: [en, false]", r"tiny\.yaml:5"),
        ("languages: [en, no]", "languages: [en, en]", "a language occurs twice"),
        ("labels: [O, B-X, I-X]", "labels: [O]", "needs two or more"),
        (
            "metric: entity_f1",
            "metrik: entity_f1",
            r"tiny\.yaml:7: metrik: unknown key, did you mean 'metric'",
        ),
        ("training: tiny\n", "", "needs the name of its training set"),
        ("score: {default: [f1]}", "score: {default: [accuracy]}", "has no figure 'accuracy'"),
        ("score: {default: [f1]}", "score: {strict: [f1]}", "needs the key 'default'"),
        ("title: Tiny\n", "", "title: this key is required"),
        ("kind: tagging", "kind: taging", "kind"),
    ],
)
def test_wrong_task_names_file_line_and_key(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(SpecError) as caught:
        build_task(tmp_path, TASK.replace(old, new))
    assert any(re.search(message, problem) for problem in caught.value.problems)


def test_lint_reports_every_problem(tmp_path: Path) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text(TASK.replace("title", "titel").replace("entity_f1", "f2"), encoding="utf-8")
    problems, checked = lint([tmp_path])
    assert checked == 1
    assert len(problems) == 3  # unknown key, missing key, unknown metric
    assert all(f"{path}" in problem for problem in problems)


def test_mistyped_task_gets_the_nearest_name() -> None:
    with pytest.raises(InputError, match=r"no task named 'xnil'.*did you mean 'xnli'"):
        load(TaskSpec, "xnil")


def test_task_from_a_path_makes_a_benchmark(tmp_path: Path) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text(TASK, encoding="utf-8")
    benchmark = benchmark_of_tasks([str(path), "xnli"])
    assert [task.name for task in benchmark.tasks] == ["tiny", "xnli"]
    assert benchmark.categories == {"tagging": ("tiny",), "classification": ("xnli",)}
    assert benchmark.overall == ()


def test_suite_refuses_a_category_of_strangers(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(
        "name: s\ntitle: S\ntasks: {xnli: }\ncategories: {a: [pawsx]}\n", encoding="utf-8"
    )
    with pytest.raises(SpecError, match=r"categories\.a: 'pawsx' is not a task"):
        build(Suite, load_document(path))


def test_placeholders_come_from_the_language_table() -> None:
    assert placeholders("de", {}) == {
        "language": "de",
        "iso3": "deu",
        "english": "German",
        "name": "de",
    }
    assert placeholders("sw", {"sw": "swh"})["name"] == "swh"


def test_language_table_covers_xtreme_r() -> None:
    xtreme_r = set(
        "af ar az bg bn de el en es et eu fa fi fr gu he hi ht hu id it ja jv ka kk ko lt ml mr ms "  # noqa: SIM905
        "my nl pa pl pt qu ro ru sw ta te th tl tr uk ur vi wo yo zh".split()
    )
    assert len(xtreme_r) == 50
    assert xtreme_r <= set(language_table())


def test_listing_shows_every_task() -> None:
    text = list_tasks()
    assert all(name in text for name in available(TaskSpec))
    assert "xnli" in list_tasks("xtreme")
    assert "sample_qa" not in list_tasks("xtreme")
