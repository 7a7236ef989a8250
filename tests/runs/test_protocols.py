"""Runs under other protocols than zero-shot, each compared with a plain run that must come to the same predictions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.runs.comparing_runs import one_thread, record_texts
from tests.runs.protocol_runs import (
    FEW_SHOT,
    IN_LANGUAGE,
    TRANSLATE_TEST,
    TRANSLATE_TRAIN,
    make_data,
    models_of,
    plain_run,
    predictions,
    record_of,
    run_of,
    spec_file,
    write_sentences,
)
from xharness.errors import InputError
from xharness.inference.device import Device
from xharness.models.adapter import open_model
from xharness.records.record import Record
from xharness.runs.command import RunCommand
from xharness.runs.execution import Execution
from xharness.runs.jobs import UnitJob
from xharness.runs.plan import Plan
from xharness.runs.planning import make_plan
from xharness.sample import CHECKPOINT

NO_DATA = ("hi", "ru", "sw", "tr", "zh")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("protocols"))


@pytest.fixture(scope="module")
def in_language(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished in-language run: en, de and es have training data, the others none."""
    folder = tmp_path_factory.mktemp("in-language")
    run_of(folder, data, "sample_ner", IN_LANGUAGE).execute()
    return folder


def plan_of(run: RunCommand) -> Plan:
    benchmark = run._benchmark()
    model = open_model(str(CHECKPOINT), Device("cpu", "float32", 1024))
    place = run._place(benchmark)
    return make_plan(benchmark, model.describe(), place.open_source(), run._options(benchmark))


def statuses(record: Record) -> dict[str, str | None]:
    return {code: r.reason or r.status for code, r in record.languages.items()}


# -- in-language --------------------------------------------------------------------------------------------


def test_each_language_has_its_own_model_and_those_without_data_are_holes(
    in_language: Path,
) -> None:
    record = record_of(in_language)
    assert statuses(record) == {
        **dict.fromkeys(("en", "de", "es"), "scored"),
        **dict.fromkeys(NO_DATA, "no training data"),
    }
    assert record.score is None
    assert record.protocol.setting == "in-language"
    models = models_of(record)
    assert {code: model["languages"] for code, model in models.items()} == {
        "en": {"en": 24},
        "de": {"de": 24},
        "es": {"es": 24},
    }
    # Spanish has no dev file, so English chooses its checkpoint.
    assert {code: model["dev_language"] for code, model in models.items()} == {
        "en": "en",
        "de": "de",
        "es": "en",
    }
    assert record.data.train_examples == 72
    assert set(record.data.train) == {f"sample_ner/train-{code}.tsv" for code in ("en", "de", "es")}
    assert set(record.data.dev) == {f"sample_ner/dev-{code}.tsv" for code in ("en", "de")}
    keys = {path.name.rpartition("-")[0] for path in (in_language / "run/checkpoints").iterdir()}
    assert keys == {"sample_ner-en", "sample_ner-de", "sample_ner-es"}


def test_a_language_is_predicted_as_by_a_plain_run_on_its_files(
    in_language: Path, data: Path, tmp_path: Path
) -> None:
    files = "{train: sample_ner/train-de.tsv, dev: sample_ner/dev-de.tsv}"
    reference = spec_file(tmp_path, "sample_ner", f"languages: [de]\nsources: {{files: {files}}}")
    plain_run(tmp_path, data, reference).execute()
    found = predictions(in_language / "run", "sample_ner", "de")
    assert found == predictions(tmp_path / "run", "sample_ner", "de")


def test_table_names_setting_choice_and_holes(in_language: Path) -> None:
    table = (in_language / "run" / "leaderboard.md").read_text(encoding="utf-8")
    assert "| sample, in-language |" in table
    assert (
        "NER: in-language: a model for each language; en de: checkpoint chosen on its own dev data; "
        "es: checkpoint chosen on English dev data"
    ) in table
    assert "hole: NER hi, ru, sw, tr, zh (no training data), so no average over it" in table


def test_second_run_does_nothing_and_a_harmed_file_is_made_again_alone(
    in_language: Path, data: Path
) -> None:
    receipts = in_language / "run" / "receipts"
    before = {path.name: path.stat().st_mtime_ns for path in receipts.iterdir()}
    harmed = in_language / "run" / "predictions" / "seed-1" / "sample_ner" / "test-es.tsv"
    right = harmed.read_bytes()
    harmed.write_bytes(right[:-9])
    text = record_texts(in_language / "run")
    run_of(in_language, data, "sample_ner", IN_LANGUAGE).execute()
    after = {path.name: path.stat().st_mtime_ns for path in receipts.iterdir()}
    assert {name for name in after if after[name] != before[name]} == {
        "predict_sample_ner_seed-1_es.json"
    }
    assert harmed.read_bytes() == right
    assert record_texts(in_language / "run") == text


def test_each_model_is_a_unit_that_another_process_can_carry_out(
    in_language: Path, data: Path
) -> None:
    run = run_of(in_language, data, "sample_ner", IN_LANGUAGE, seeds="1,2")
    plan = plan_of(run)
    units = plan.units()
    assert [unit.name.split("-")[1] for unit in units] == ["en", "de", "es"] * 2
    assert [[stage.kind for stage in unit.stages()] for unit in units] == [
        ["finetune", "predict"]
    ] * 6
    assert [(s.kind, s.seed) for s in plan.joint_scores()] == [("score", 1), ("score", 2)]
    for unit in units:
        job = UnitJob.from_json(UnitJob.of(unit, plan, run._place(run._benchmark())).to_json())
        assert job.unit == unit


@pytest.mark.slow
def test_workers_come_to_the_same_record(in_language: Path, data: Path, tmp_path: Path) -> None:
    run = run_of(tmp_path, data, "sample_ner", IN_LANGUAGE)
    with one_thread():
        replace(run, execution=Execution.checked(workers=2), output=tmp_path / "apart").execute()
        run_of(tmp_path / "here", data, "sample_ner", IN_LANGUAGE).execute()
    apart, here = (
        {key: text.replace(str(folder), "OUT") for key, text in record_texts(folder).items()}
        for folder in (tmp_path / "apart", tmp_path / "here" / "run")
    )
    assert apart.keys() == here.keys()
    for key in apart:
        lines = zip(apart[key].splitlines(), here[key].splitlines(), strict=True)
        assert {a.split(":")[0].strip() for a, b in lines if a != b} <= {'"command"'}


def test_dry_run_has_a_row_for_each_model(
    in_language: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_of(in_language, data, "sample_ner", IN_LANGUAGE).execute(dry_run=True)
    rows = [line.split() for line in capsys.readouterr().err.splitlines()]
    # Title, training set, examples, steps, rate, languages, test examples, holes.
    assert ["NER", "de", "sample_ner", "24", "1", "0.0005", "1", "5", "-"] in rows
    assert ["NER", "(in-language)", "sample_ner", "72", "-", "-", "3", "15", *NO_DATA] in rows


def test_another_protocol_in_the_folder_is_refused(
    in_language: Path, data: Path, tmp_path: Path
) -> None:
    output = in_language / "run"
    other = run_of(tmp_path / "a", data, "sample_ner", IN_LANGUAGE + "\ndev: english")
    with pytest.raises(InputError, match=r"another plan: tasks\.sample_ner was"):
        replace(other, output=output).execute()
    overrides = ("epochs=1", "in_language.batch_size=16")
    other = run_of(tmp_path / "b", data, "sample_ner", IN_LANGUAGE, overrides=overrides)
    with pytest.raises(InputError, match=r"another plan: settings\.sample_ner\.batch_size was 32"):
        replace(other, output=output).execute()


def test_language_that_was_asked_for_needs_its_training_file(tmp_path: Path, data: Path) -> None:
    with pytest.raises(InputError, match=r"train-hi\.tsv: no such file, needed for sample_ner tra"):
        run_of(tmp_path, data, "sample_ner", IN_LANGUAGE, languages="de,hi").execute()
    assert not (tmp_path / "run").exists()


def test_a_protocol_without_any_file_is_an_error(tmp_path: Path, data: Path) -> None:
    protocol = TRANSLATE_TRAIN.replace("translated-", "nowhere-")
    with pytest.raises(InputError, match=r"nowhere-de\.tsv: no such file"):
        run_of(tmp_path, data, "sample_nli", protocol).execute()


def test_training_data_in_languages_without_test_data_are_an_error(tmp_path: Path) -> None:
    data = make_data(tmp_path)
    for code in ("de", "es"):
        (data / "sample_ner" / f"test-{code}.tsv").unlink()
    (data / "sample_ner" / "train-en.tsv").unlink()
    with pytest.raises(InputError, match="no language of sample_ner has both training and test"):
        run_of(tmp_path, data, "sample_ner", IN_LANGUAGE).execute()


def test_no_training_is_refused_where_the_protocol_is_one_of_training(
    tmp_path: Path, data: Path
) -> None:
    with pytest.raises(InputError, match=r"has no head|--no-finetune: sample_ner is to be trained"):
        run_of(tmp_path, data, "sample_ner", IN_LANGUAGE, finetune=False).execute()


def test_one_model_for_all_languages_is_trained_on_all_of_them(tmp_path: Path, data: Path) -> None:
    run_of(tmp_path, data, "sample_ner", IN_LANGUAGE + "\ntraining_languages: all").execute()
    record = record_of(tmp_path)
    assert statuses(record)["es"] == "scored"
    assert statuses(record)["hi"] == "no training data"
    training = record.protocol.training
    assert training is not None
    assert training["languages"] == {"en": 24, "de": 24, "es": 24}
    assert training["windows"] == 72
    assert training["dev_language"] == "en"  # Spanish has no dev file
    assert record.marks[:2] == (
        "in-language, multi-task: one model for en de es; checkpoint chosen on English dev data",
        "trained on at most 24 examples a language",
    )
    (checkpoint,) = (tmp_path / "run" / "checkpoints").iterdir()
    assert checkpoint.name.startswith("sample_ner-pooled-")


def test_a_pool_of_listed_languages_is_tested_in_all(tmp_path: Path, data: Path) -> None:
    """Whatever is not in the pool is transfer from it, no hole; the pooled dev data choose."""
    protocol = IN_LANGUAGE + "\ntraining_languages: [en, de]"
    run_of(tmp_path, data, "sample_ner", protocol).execute()
    record = record_of(tmp_path)
    assert set(statuses(record).values()) == {"scored"}
    assert record.protocol.setting == "in-language, multi-task on en de"
    assert record.protocol.training is not None
    assert record.protocol.training["dev_language"] == "mul"
    assert len(record.protocol.training["dev_scores"]) == 1


# -- few-shot -----------------------------------------------------------------------------------------------


def shots(data: Path, record: Record, into: Path) -> Path:
    """Write the German examples that a record names."""
    text = (data / "sample_ner" / "train-de.tsv").read_text(encoding="utf-8")
    sentences = text.strip("\n").split("\n\n")
    ids = models_of(record)["de"]["examples"]
    assert isinstance(ids, list)
    assert len(set(ids)) == 10
    write_sentences(into, [sentences[int(name) - 1] for name in ids])
    return into


def test_few_shot_goes_on_from_the_english_model(
    finished: Path, data: Path, tmp_path: Path
) -> None:
    run_of(tmp_path, data, "sample_ner", FEW_SHOT).execute()
    record = record_of(tmp_path)
    models = models_of(record)
    assert {code: m.get("languages") for code, m in models.items()} == {
        "en": None,
        "de": {"de": 10},
        "es": {"es": 10},
    }
    assert record.protocol.training is not None
    (english,) = record.protocol.training["intermediate"]
    assert (english["task"], english["train_examples"]) == ("sample_ner", 24)
    # In English it is the model of the zero-shot protocol.
    zero_shot = predictions(finished, "sample_ner", "en")
    assert predictions(tmp_path / "run", "sample_ner", "en") == zero_shot
    # English once, then German and Spanish from it: three fine-tunings in one unit.
    receipts = [p.name for p in (tmp_path / "run" / "receipts").glob("finetune_*")]
    assert len(receipts) == 3
    # The same by intermediate-task training: English, then a task whose training file are the ten examples.
    shots(data, record, data / "sample_ner" / "shots.tsv")
    changes = "languages: [de]\nintermediate_task: sample_ner\ntraining: shots\n"
    changes += "sources: {files: {train: sample_ner/shots.tsv}}"
    reference = spec_file(tmp_path / "by-hand", "sample_ner", "name: by_hand\n" + changes)
    plain_run(tmp_path / "by-hand", data, reference).execute()
    by_hand = predictions(tmp_path / "by-hand" / "run", "by_hand", "de")
    assert predictions(tmp_path / "run", "sample_ner", "de") == by_hand
    assert by_hand != predictions(finished, "sample_ner", "de")


def test_few_shot_can_begin_with_the_pretrained_model(tmp_path: Path, data: Path) -> None:
    run_of(tmp_path, data, "sample_ner", FEW_SHOT + "\nstart: pretrained").execute()
    record = record_of(tmp_path)
    assert record.protocol.setting == "in-language, 10 examples"
    assert record.protocol.training is not None
    assert "intermediate" not in record.protocol.training
    assert models_of(record)["en"]["languages"] == {"en": 10}
    shots(data, record, data / "sample_ner" / "shots-alone.tsv")
    files = "{files: {train: sample_ner/shots-alone.tsv}}"
    reference = spec_file(tmp_path / "by-hand", "sample_ner", f"languages: [de]\nsources: {files}")
    plain_run(tmp_path / "by-hand", data, reference).execute()
    by_hand = predictions(tmp_path / "by-hand" / "run", "sample_ner", "de")
    assert predictions(tmp_path / "run", "sample_ner", "de") == by_hand


# -- translations -------------------------------------------------------------------------------------------


def test_translated_tests_are_predicted_by_the_english_model_against_their_own_gold(
    data: Path, tmp_path: Path
) -> None:
    """The sample's test sets translate one another, so a German test in English is the English test."""
    # Trained long enough to give more than one label.
    changes: dict[str, object] = {"limit": None, "limit_train": 600, "overrides": ("epochs=3",)}
    run_of(tmp_path, data, "sample_nli", TRANSLATE_TEST, **changes).execute()
    plain_run(tmp_path / "plain", data, "sample_nli", **changes).execute()
    record = record_of(tmp_path)
    assert statuses(record) == {
        **dict.fromkeys(("en", "de", "es"), "scored"),
        **dict.fromkeys(NO_DATA, "no data"),
    }
    english, german, spanish = (
        predictions(tmp_path / "run", "sample_nli", code).splitlines()
        for code in ("en", "de", "es")
    )
    assert len(set(english)) > 1
    assert german == english
    assert spanish == english[::-1]
    gold = (data / "sample_nli" / "test-es.tsv").read_text(encoding="utf-8").splitlines()
    right = sum(
        row.split("\t")[2] == label.decode() for row, label in zip(gold, spanish, strict=True)
    )
    assert record.languages["es"].figures["accuracy"] == pytest.approx(100 * right / 150)
    assert record.languages["es"].counts["translated labels_that_differ"] > 0
    assert record.data.test["de"].keys() == {
        "sample_nli/test-de.tsv",
        "translated sample_nli/test-de-en.tsv",
    }
    # The training is that of the zero-shot protocol, under the same name and with the same checkpoint.
    there, here = (
        sorted((run / "checkpoints").glob("sample_nli-*/seed-1/model.safetensors"))
        for run in (tmp_path / "plain" / "run", tmp_path / "run")
    )
    assert [path.parents[1].name for path in here] == [path.parents[1].name for path in there]
    assert here[0].read_bytes() == there[0].read_bytes()
    assert record.marks[0] == "translate-test: test data translated into English"


def test_translation_of_another_length_ends_the_run_before_it_begins(
    tmp_path: Path, data: Path
) -> None:
    short = data / "sample_nli" / "short-de.tsv"
    rows = (data / "sample_nli" / "test-de-en.tsv").read_text(encoding="utf-8").splitlines(True)
    short.write_text("".join(rows[:-2]), encoding="utf-8")
    protocol = TRANSLATE_TEST.replace("test-{language}-en", "short-{language}")
    with pytest.raises(InputError, match=r"short-de\.tsv: 148 examples, where.* of de have 150"):
        run_of(tmp_path, data, "sample_nli", protocol, languages="de").execute()
    assert not (tmp_path / "run").exists()


def test_translated_training_in_each_language_and_the_originals_in_english(
    finished: Path, data: Path, tmp_path: Path
) -> None:
    run_of(tmp_path, data, "sample_nli", TRANSLATE_TRAIN).execute()
    record = record_of(tmp_path)
    assert predictions(tmp_path / "run", "sample_nli", "en") == predictions(
        finished, "sample_nli", "en"
    )
    files = "{train: sample_nli/translated-es.tsv}"
    reference = spec_file(
        tmp_path / "by-hand", "sample_nli", f"languages: [es]\nsources: {{files: {files}}}"
    )
    plain_run(tmp_path / "by-hand", data, reference).execute()
    assert predictions(tmp_path / "run", "sample_nli", "es") == predictions(
        tmp_path / "by-hand" / "run", "sample_nli", "es"
    )
    assert record.marks[0] == (
        "translate-train: a model for each language; en: the model trained on English; "
        "de es: checkpoint chosen on English dev data"
    )


def test_a_language_whose_training_diverges_does_not_take_the_others_with_it(
    tmp_path: Path, data: Path
) -> None:
    """A rate beyond float32 makes every weight infinite in the first step; English is trained at another."""
    overrides = ("epochs=1", "translate_train.learning_rate=1e39")
    run_of(tmp_path, data, "sample_nli", TRANSLATE_TRAIN, overrides=overrides).execute()
    record = record_of(tmp_path)
    assert statuses(record) == {
        "en": "scored",
        **dict.fromkeys(("de", "es"), "the fine-tuning failed"),
        **dict.fromkeys(NO_DATA, "no training data"),
    }
    failed = [mark for mark in record.marks if "failed" in mark]
    assert len(failed) == 1
    assert failed[0].startswith("seed 1 failed in de es: ")
