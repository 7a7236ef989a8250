"""The verb on run folders, prediction files and records: exit codes, reports, and what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.comparison.made_runs import change_record, write_gold, write_predictions, write_run
from xharness.comparison.command import CompareCommand
from xharness.errors import InputError
from xharness.records.record import Data, Protocol
from xharness.records.store import read_record

NLI_AND_NER = ("sample_nli", "sample_ner")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs") / "good")


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs") / "bad", wrong=0.6, draw=1)


def compare(baseline: Path, candidate: Path, **options: object) -> int:
    chosen: dict[str, object] = {"resamples": 1000, **options}
    return CompareCommand(baseline, candidate, **chosen).execute()  # type: ignore[arg-type]


def refused(baseline: Path, candidate: Path, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        compare(baseline, candidate, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def copied(run: Path, folder: Path) -> Path:
    return Path(shutil.copytree(run, folder / "copy"))


def test_a_run_is_as_good_as_itself(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(finished, finished) == 0
    text = capsys.readouterr().out
    assert text.rstrip().endswith("No regression")
    assert "41 of 41 languages: no significant change" in text


def test_a_worse_candidate_is_a_regression_and_a_better_one_is_not(
    good: Path, bad: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(good, bad) == 1
    text = capsys.readouterr().out
    assert "Breaches" in text
    assert "overall: " in text
    assert compare(bad, good) == 0


def test_reports_say_the_same_and_are_the_same_twice(good: Path, bad: Path, tmp_path: Path) -> None:
    names = {"output": "r.md", "junit": "r.xml", "json": "r.json"}
    for folder in ("a", "b"):
        files = {key: tmp_path / folder / name for key, name in names.items()}
        assert compare(good, bad, **files) == 1
    for name in names.values():
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    content = json.loads((tmp_path / "a" / "r.json").read_text(encoding="utf-8"))
    assert content["regression"] is True
    effects = {effect["key"]: effect for effect in content["effects"]}
    record = read_record(good / "records" / "sample_nli-seed-1.json")
    assert effects["sample_nli"]["baseline"] == pytest.approx(record.score)
    assert effects["sample_nli/sw"]["baseline"] == pytest.approx(
        record.languages["sw"].figures["accuracy"]
    )
    breaches = [check for check in content["checks"] if check["status"] == "breach"]
    assert content["verdict"] == f"{len(breaches)} regressions"


def test_baseline_without_gold_takes_the_candidates(good: Path, bad: Path, tmp_path: Path) -> None:
    committed = copied(good, tmp_path)
    shutil.rmtree(committed / "gold")
    assert compare(committed, bad) == 1
    both = copied(bad, tmp_path / "other")
    shutil.rmtree(both / "gold")
    assert "give --labels" in refused(committed, both)
    assert compare(committed, both, labels=good / "gold") == 1


def test_prediction_files_with_labels(tmp_path: Path) -> None:
    gold = write_gold(tmp_path / "gold", NLI_AND_NER)
    first = write_predictions(tmp_path / "a", gold, NLI_AND_NER, seed=1)
    second = write_predictions(tmp_path / "b", gold, NLI_AND_NER, wrong=0.7, seed=2)
    assert compare(first, second, labels=gold, suite="sample") == 1
    assert compare(second, first, labels=gold, suite="sample") == 0
    assert "neither side has a gold folder" in refused(first, second, suite="sample")
    assert "no prediction file here" in refused(first, second, labels=gold)


def test_prediction_files_of_several_seeds_and_archives(good: Path, tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        write_predictions(tmp_path / "b" / f"seed-{seed}", good / "gold", wrong=0.7, seed=seed)
    assert compare(good, tmp_path / "b") == 1
    archive = tmp_path / "b.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted((tmp_path / "b" / "seed-1").rglob("test-*")):
            file.write(path, path.relative_to(tmp_path / "b" / "seed-1"))
    assert compare(good, archive) == 1
    (tmp_path / "b" / "seed-2" / "sample_nli").rename(tmp_path / "away")
    assert "sample_nli has predictions for 2 of 3 seeds" in refused(good, tmp_path / "b")


def test_run_against_prediction_files_of_a_team(good: Path, tmp_path: Path) -> None:
    other = write_predictions(tmp_path / "team", good / "gold", wrong=0.31, seed=9)
    assert compare(good, other) == 0
    (other / "sample_nli" / "test-sw.tsv").unlink()
    message = refused(good, other)
    assert "sample_nli cannot be compared: sw is not scored in the candidate (no file" in message


def test_seeds_are_a_second_level(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = write_run(tmp_path / "a", tasks=NLI_AND_NER, seeds=(1, 2, 3))
    second = write_run(tmp_path / "b", tasks=NLI_AND_NER, seeds=(4, 5, 6), wrong=0.6)
    assert compare(first, second) == 1
    text = capsys.readouterr().out
    assert "seeds 1, 2, 3" in text
    assert "over seeds and examples" in text
    single = write_run(tmp_path / "c", tasks=NLI_AND_NER, seeds=(1,), wrong=0.6, draw=3)
    assert compare(first, single) == 1
    assert "3 and 1 seeds: they are averaged" in capsys.readouterr().out


def test_records_alone_give_differences_and_no_verdict_on_drops(
    good: Path, bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "r.md"
    message = refused(good / "records", bad, output=report)
    assert "no verdict" in message
    text = capsys.readouterr().out
    assert "Records alone: differences without intervals or p-values." in text
    assert "corrected p" not in text
    assert "No verdict" in report.read_text(encoding="utf-8")
    assert compare(bad / "records", good / "records") == 0
    assert "no verdict" in refused(good, bad / "records")
    assert "no use to records" in refused(good, bad / "records", labels=good / "gold")
    team = write_predictions(tmp_path / "team", good / "gold")
    assert "cannot be compared with records alone" in refused(good / "records", team)


def test_one_task_of_many(good: Path, tmp_path: Path) -> None:
    part = write_run(tmp_path / "part", tasks=("sample_nli",), draw=1)
    message = refused(good, part)
    assert "is in the baseline only" in message
    assert "--task" in message
    assert compare(good, part, tasks=("sample_nli",)) == 0
    assert "no task 'xnli' in either" in refused(good, part, tasks=("xnli",))


def test_record_edited_by_hand(good: Path, bad: Path, tmp_path: Path) -> None:
    run = copied(good, tmp_path)
    path = run / "records" / "sample_nli-seed-1.json"
    path.write_text(path.read_text().replace('"recipe": "sample"', '"recipe": "other"'))
    assert "changed by hand" in refused(run, bad)


def test_predictions_or_gold_changed_after_the_record(good: Path, tmp_path: Path) -> None:
    run = copied(good, tmp_path)
    path = run / "predictions" / "seed-1" / "sample_nli" / "test-sw.tsv"
    gold = run / "gold" / "sample_nli" / "test-sw.tsv"
    before = path.read_text()
    path.write_text(gold.read_text())
    message = refused(good, run)
    assert "test-sw.tsv: accuracy is 100.0000" in message
    assert "changed after they were scored" in message
    path.write_text(before)
    lines = gold.read_text().split("\n")
    gold.write_text("\n".join([*lines[1:-1], lines[0], ""]))
    assert "the gold labels differ" in refused(good, run)
    gold.write_text("\n".join(lines[1:]))
    assert "60 gold lines in the one, 59 in the other" in refused(good, run)
    path.unlink()
    gold.write_text("\n".join(lines))
    assert "the prediction file is missing: sample_nli/test-sw.tsv" in refused(good, run)


def test_other_example_ids(tmp_path: Path) -> None:
    first = write_run(tmp_path / "a", tasks=("sample_qa",), size=30)
    second = write_run(tmp_path / "b", tasks=("sample_qa",), size=31)
    assert "example 'en-30' is in" in refused(first, second)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"revision": "r2"}, "the data revision of en is file: r1-sample_nl in the baseline"),
        ({"profile": "strict"}, "profile official in the baseline, strict in the candidate"),
        ({"limit": 60}, "the limit is none in the baseline, 60 examples in the candidate"),
    ],
)
def test_other_data_profile_or_limit(
    tmp_path: Path, options: dict[str, object], message: str
) -> None:
    first = write_run(tmp_path / "a", tasks=NLI_AND_NER)
    second = write_run(tmp_path / "b", tasks=NLI_AND_NER, **options)  # type: ignore[arg-type]
    assert message in refused(first, second)
    assert message in refused(first / "records", second / "records")


def test_other_languages_specification_or_split(good: Path, tmp_path: Path) -> None:
    run = copied(good, tmp_path)
    path = run / "records" / "sample_nli-seed-1.json"
    record = read_record(path)
    hole = record.languages["sw"].model_copy(
        update={"status": "missing", "figures": {}, "reason": "no data"}
    )
    change_record(path, languages={**record.languages, "sw": hole})
    assert "sw is not scored in the candidate (no data)" in refused(good, run)
    assert "sw is not scored in the baseline (no data)" in refused(run, good)
    # A hole on both sides is one in the report.
    with pytest.raises(InputError, match="hole on both sides"):
        compare(run, run, gate=_gate(tmp_path, "overall: {max_drop: 1}"))
    assert compare(run, run) == 0
    dev = record.languages["sw"].model_copy(update={"stand_in": "dev"})
    change_record(path, languages={**record.languages, "sw": dev})
    assert "the scored split of sw is test in the baseline, dev" in refused(good, run)
    change_record(path, languages=record.languages, spec={**record.spec, "labels": ["a", "b"]})
    assert "the specification's labels is" in refused(good, run)
    # How a model is trained is not part of the test.
    change_record(
        path,
        spec={**record.spec, "recipe": {"epochs": 9}, "notes": "new"},
        protocol=Protocol(recipe="other", settings={"epochs": 9}, finetuned=True),
    )
    assert compare(good, run) == 0


def test_training_that_differs_is_noted(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = copied(good, tmp_path)
    for path in (run / "records").glob("*.json"):
        record = read_record(path)
        settings = {"epochs": 2} if record.task == "sample_nli" else {"epochs": 1}
        protocol = record.protocol.model_copy(update={"settings": settings, "limit_train": 9})
        change_record(path, protocol=protocol, model={**record.model, "name": "other\x1b[31m"})
    assert compare(good, run) == 0
    text = capsys.readouterr().out
    assert "epochs: 1 -> 2 (sample_nli)" in text
    assert "training examples at most: None -> 9\n" in text
    assert "\x1b" not in text


def test_folders_that_hold_no_one_result(good: Path, tmp_path: Path) -> None:
    run = copied(good, tmp_path)
    records = run / "records"
    shutil.copy(records / "sample_nli-seed-1.json", records / "again.json")
    assert "two records of sample_nli with seed 1" in refused(good, run)
    change_record(records / "again.json", seed=2)
    assert "sample_ner lacks seed 2" in refused(good, run)
    (records / "again.json").unlink()
    change_record(records / "sample_nli-seed-1.json", model={"name": "another"})
    assert "records of 2 models: 'another', 'made'" in refused(good, run)
    assert "no such file or folder" in refused(good, tmp_path / "nowhere")
    assert "neither a folder nor" in refused(good, Path(__file__))


def test_unshipped_suite_has_the_categories_of_its_tasks(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", tasks=NLI_AND_NER)
    for path in (run / "records").glob("*.json"):
        change_record(path, suite="mine")
    report = tmp_path / "r.json"
    assert compare(run, run, json=report) == 0
    keys = [effect["key"] for effect in json.loads(report.read_text())["effects"]]
    assert sorted(keys[:2]) == ["category:classification", "category:tagging"]
    assert "overall" not in keys
    change_record(run / "records" / "sample_nli-seed-1.json", suite="sample")
    assert "records of the suites mine and sample" in refused(run, run)
    assert compare(run, run, suite="sample") == 0
    assert "no task of suite xtreme in the records" in refused(run, run, suite="xtreme")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.0}, "--level: 1 is not between"),
        ({"resamples": 10}, "--resamples: 10 is not between"),
        ({"seed": -1}, "--seed: -1 is negative"),
        ({"profile": "other"}, "no profile named 'other'"),
        ({"profile": "strict"}, "scored under profile official, not strict"),
        ({"resamples": 100}, "--resamples: 100 resamples cannot show a drop among 41 comparisons"),
        ({"labels": Path("nowhere")}, "no such folder"),
    ],
)
def test_options_out_of_range(good: Path, options: dict[str, object], message: str) -> None:
    assert message in refused(good, good, **options)


def test_data_of_the_hub_are_compared_by_revision(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", tasks=("sample_nli",))
    path = run / "records" / "sample_nli-seed-1.json"
    data = Data(source={"source": "hub"}, test={"en": {"repository": "x", "revision": "0" * 40}})
    other = write_run(tmp_path / "b", tasks=("sample_nli",))
    change_record(path, data=data)
    assert "the data revision of en is repository: x" in refused(run, other)


def test_no_torch_is_loaded(good: Path) -> None:
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from xharness.comparison.command import CompareCommand\n"
        "run = Path(sys.argv[1])\n"
        "assert CompareCommand(run, run, resamples=1000).execute() == 0\n"
        "heavy = {'torch', 'transformers', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(good)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def _gate(folder: Path, text: str) -> Path:
    path = folder / "gate.yaml"
    path.write_text(text, encoding="utf-8")
    return path
