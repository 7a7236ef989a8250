"""Whole submissions: the structure of scores.json, holes, folders and links."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.scoring.submission import squad, tag_text, write
from xharness.errors import InputError
from xharness.scoring import PROFILES, score_submission, score_task
from xharness.scoring.scores import mean
from xharness.specs.registry import Benchmark, benchmark_of_suite, load
from xharness.specs.task import TaskSpec

POS_GOLD = [["NOUN", "NOUN", "NOUN", "VERB"], ["VERB"]]
POS_PREDICTED = [["NOUN", "VERB", "NOUN", "VERB"], ["VERB"]]


def task(name: str, *languages: str) -> TaskSpec:
    changed: TaskSpec = load(TaskSpec, name).model_copy(update={"languages": languages})
    return changed


def small_benchmark() -> Benchmark:
    """Two tasks in one category, one in another, two languages each."""
    tasks = (task("xnli", "en", "de"), task("pawsx", "en", "de"), task("udpos", "en", "de"))
    return Benchmark(
        name="small",
        title="Small",
        tasks=tasks,
        categories={"classification": ("xnli", "pawsx"), "tagging": ("udpos",)},
        overall=("xnli", "pawsx", "udpos"),
        recipe="xtreme",
    )


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    """A complete submission: XNLI 50 and 100, PAWS-X 0 and 50, POS the same in both languages."""
    labels, predictions = tmp_path / "labels", tmp_path / "predictions"
    for code, xnli, pawsx in (
        ("en", "neutral\nneutral\n", "0\n0\n"),
        ("de", "neutral\nentailment\n", "1\n0\n"),
    ):
        write(labels / f"xnli/test-{code}.tsv", "neutral\nentailment\n")
        write(labels / f"pawsx/test-{code}.tsv", "1\n1\n")
        write(labels / f"udpos/test-{code}.tsv", tag_text(POS_GOLD))
        write(predictions / f"xnli/test-{code}.tsv", xnli)
        write(predictions / f"pawsx/test-{code}.tsv", pawsx)
        write(predictions / f"udpos/test-{code}.tsv", tag_text(POS_PREDICTED))
    return tmp_path


def scored(folder: Path, profile: str = "official") -> dict[str, Any]:
    return score_submission(folder / "predictions", folder / "labels", small_benchmark(), profile)


def test_structure(submission: Path) -> None:
    scores = scored(submission)
    assert json.loads(json.dumps(scores)) == scores
    f1 = 100 * 2 * (2 / 5) * (2 / 3) / (2 / 5 + 2 / 3)  # 2 right of 5 predicted and 3 gold spans
    assert scores == {
        "suite": "small",
        "profile": "official",
        "complete": True,
        "missing": [],
        "tasks": {
            "xnli": {
                "category": "classification",
                "metrics": {"accuracy": {"en": 50.0, "de": 100.0}},
                "averages": {"accuracy": 75.0},
                "score": 75.0,
                "counts": {code: {"examples": 2, "unanswered": 0} for code in ("en", "de")},
                "unscored": {},
            },
            "pawsx": {
                "category": "classification",
                "metrics": {"accuracy": {"en": 0.0, "de": 50.0}},
                "averages": {"accuracy": 25.0},
                "score": 25.0,
                "counts": {code: {"examples": 2, "unanswered": 0} for code in ("en", "de")},
                "unscored": {},
            },
            "udpos": {
                "category": "tagging",
                "metrics": {
                    "f1": {code: pytest.approx(f1) for code in ("en", "de")},
                    "precision": {"en": 40.0, "de": 40.0},
                    "recall": {code: pytest.approx(200 / 3) for code in ("en", "de")},
                    "accuracy": {"en": 80.0, "de": 80.0},
                },
                "averages": {
                    "f1": pytest.approx(f1),
                    "precision": 40.0,
                    "recall": pytest.approx(200 / 3),
                    "accuracy": 80.0,
                },
                "score": pytest.approx(f1),
                "counts": {
                    code: {"examples": 2, "unanswered": 0, "tokens": 5} for code in ("en", "de")
                },
                "unscored": {},
            },
        },
        "categories": {"classification": 50.0, "tagging": pytest.approx(f1)},
        # Over tasks, not over categories (pitfall 27).
        "overall": pytest.approx((75 + 25 + f1) / 3),
        "ignored": [],
    }


def test_strict_pos_is_token_accuracy(submission: Path) -> None:
    scores = scored(submission, "strict")
    assert scores["tasks"]["udpos"]["score"] == 80.0
    assert set(scores["tasks"]["udpos"]["metrics"]) == {"f1", "precision", "recall", "accuracy"}


def test_missing_language_makes_its_averages_null(submission: Path) -> None:
    (submission / "predictions/xnli/test-de.tsv").unlink()
    scores = scored(submission)
    assert not scores["complete"]
    assert scores["missing"] == [{"task": "xnli", "language": "de"}]
    assert scores["tasks"]["xnli"]["metrics"] == {"accuracy": {"en": 50.0}}
    assert scores["tasks"]["xnli"]["averages"] == {"accuracy": None}
    assert scores["tasks"]["xnli"]["score"] is None
    assert scores["tasks"]["xnli"]["unscored"] == {}
    assert scores["tasks"]["pawsx"]["score"] == 25.0
    assert scores["categories"]["classification"] is None
    assert scores["categories"]["tagging"] is not None
    assert scores["overall"] is None


def test_partial_folder(submission: Path) -> None:
    for path in (submission / "predictions/udpos").iterdir():
        path.unlink()
    (submission / "predictions/udpos").rmdir()
    scores = scored(submission)
    assert [hole["task"] for hole in scores["missing"]] == ["udpos", "udpos"]
    assert scores["tasks"]["udpos"]["score"] is None
    assert scores["categories"] == {"classification": 50.0, "tagging": None}


def test_missing_gold_is_unscored(submission: Path) -> None:
    gold = submission / "labels/xnli/test-de.tsv"
    gold.unlink()
    scores = scored(submission)
    assert scores["missing"] == [{"task": "xnli", "language": "de"}]
    assert scores["tasks"]["xnli"]["unscored"] == {"de": f"no gold file {gold}"}
    assert scores["overall"] is None


def test_placeholder_gold_is_unscored(submission: Path) -> None:
    """Pitfall 23."""
    write(submission / "labels/xnli/test-de.tsv", "neutral\n" * 20)
    write(submission / "predictions/xnli/test-de.tsv", "neutral\n" * 20)
    scores = scored(submission)
    assert "de" not in scores["tasks"]["xnli"]["metrics"]["accuracy"]
    assert "constant gold" in scores["tasks"]["xnli"]["unscored"]["de"]
    assert scores["missing"] == [{"task": "xnli", "language": "de"}]
    assert scores["categories"]["classification"] is None


def test_other_files_are_named(submission: Path) -> None:
    write(submission / "predictions/notes.txt", "x")
    write(submission / "predictions/mewslix/test-en.json", "{}")
    write(submission / "predictions/xnli/test-ro.tsv", "neutral\n")
    write(submission / "predictions/xnli/old/test-en.tsv", "neutral\n")
    assert scored(submission)["ignored"] == [
        "mewslix/",
        "notes.txt",
        "xnli/old/",
        "xnli/test-ro.tsv",
    ]


@pytest.mark.parametrize("what", ["file", "folder"])
def test_links_out_of_the_folder_are_refused(submission: Path, what: str) -> None:
    outside = submission / "outside"
    write(outside / "test-en.tsv", "neutral\nneutral\n")
    if what == "file":
        path = submission / "predictions/xnli/test-en.tsv"
        path.unlink()
        path.symlink_to(outside / "test-en.tsv")
    else:
        folder = submission / "predictions/xnli"
        folder.rename(submission / "elsewhere")
        folder.symlink_to(outside)
    with pytest.raises(InputError, match="symbolic link that leads out of the folder"):
        scored(submission)


def test_links_inside_the_folder_are_followed(submission: Path) -> None:
    path = submission / "predictions/xnli/test-en.tsv"
    path.rename(path.with_name("en.txt"))
    path.symlink_to("en.txt")
    assert scored(submission)["tasks"]["xnli"]["metrics"]["accuracy"]["en"] == 50.0


def test_broken_link_is_an_error_not_a_hole(submission: Path) -> None:
    path = submission / "predictions/xnli/test-en.tsv"
    path.unlink()
    path.symlink_to("nowhere")
    with pytest.raises(InputError, match="broken symbolic link"):
        scored(submission)


def test_folder_in_place_of_a_file(submission: Path) -> None:
    path = submission / "predictions/xnli/test-en.tsv"
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError, match="not a regular file"):
        scored(submission)


def test_folder_one_level_too_high(submission: Path) -> None:
    with pytest.raises(InputError, match=r"no prediction file here.*did you mean .*labels"):
        score_submission(submission, submission / "labels", small_benchmark())


def test_folder_without_predictions(submission: Path) -> None:
    write(submission / "other/readme", "x")
    with pytest.raises(InputError, match=r"no prediction file here .*pawsx/test-de.tsv"):
        score_submission(submission / "other", submission / "labels", small_benchmark())
    with pytest.raises(InputError, match="no such folder"):
        score_submission(submission / "absent", submission / "labels", small_benchmark())
    with pytest.raises(InputError, match="no such folder"):
        score_submission(submission / "predictions", submission / "absent", small_benchmark())


def test_unknown_profile(submission: Path) -> None:
    with pytest.raises(
        InputError, match=r"no profile named 'lenient'.*official, official-2020, strict"
    ):
        scored(submission, "lenient")


@pytest.mark.parametrize("profile", PROFILES)
def test_question_answering_profiles(tmp_path: Path, profile: str) -> None:
    """Thai is unknown to MLQA's script; the SQuAD script sees one token; strict sees characters."""
    gold, predicted = squad({"q": ["กขค"]}), '{"q": "กข"}'
    for name in ("xquad", "mlqa"):
        write(tmp_path / f"labels/{name}/test-th.json", gold)
        write(tmp_path / f"predictions/{name}/test-th.json", predicted)
    places = tmp_path / "predictions", tmp_path / "labels"
    xquad = score_task(task("xquad", "th"), *places, profile)
    assert xquad.metrics["f1"]["th"] == pytest.approx(80 if profile == "strict" else 0)
    assert xquad.score == pytest.approx(
        40 if profile == "strict" else 0
    )  # mean of F1 and exact match
    if profile == "strict":
        assert score_task(task("mlqa", "th"), *places, profile) == xquad.__class__(
            "mlqa", "qa", xquad.languages, xquad.averages, xquad.score
        )
    else:
        with pytest.raises(InputError, match="does not know the language 'th'"):
            score_task(task("mlqa", "th"), *places, profile)


def test_seqeval_releases_differ_on_pos(tmp_path: Path) -> None:
    """Pitfall 2: CCONJ and SCONJ are one chunk for 1.2.2."""
    write(tmp_path / "labels/udpos/test-en.tsv", "CCONJ\nNOUN\n")
    write(tmp_path / "predictions/udpos/test-en.tsv", "SCONJ\nNOUN\n")
    f1 = {
        profile: score_task(
            task("udpos", "en"), tmp_path / "predictions", tmp_path / "labels", profile
        ).metrics["f1"]["en"]
        for profile in PROFILES
    }
    assert f1 == {"official": 100.0, "official-2020": 50.0, "strict": 50.0}


def test_strict_ner(tmp_path: Path) -> None:
    """Pitfall 3."""
    write(tmp_path / "labels/panx/test-en.tsv", "B-PER\nI-PER\n")
    write(tmp_path / "predictions/panx/test-en.tsv", "I-PER\nI-PER\n")
    f1 = [
        score_task(
            task("panx", "en"), tmp_path / "predictions", tmp_path / "labels", profile
        ).metrics["f1"]["en"]
        for profile in PROFILES
    ]
    assert f1 == [100.0, 100.0, 0.0]


def test_task_without_any_file_is_all_holes(tmp_path: Path) -> None:
    scores = score_task(task("tatoeba", "de", "fr"), tmp_path, tmp_path)
    assert scores.missing == ["de", "fr"]
    assert scores.averages == {"accuracy": None}
    assert scores.score is None


def test_mean_is_never_over_fewer() -> None:
    assert mean([1.0, 3.0]) == 2.0
    assert mean([1.0, None]) is None
    assert mean([]) is None


def test_no_framework_is_imported() -> None:
    code = (
        "import sys; from xharness.scoring import score_submission; from xharness.specs import registry;"
        "registry.benchmark_of_suite('xtreme');"
        "print(sorted({'torch', 'transformers', 'datasets', 'pandas', 'scipy', 'sklearn', 'seqeval'}"
        " & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_suite_of_the_project_scores_nothing_as_holes(tmp_path: Path) -> None:
    suite = benchmark_of_suite("xtreme")
    write(tmp_path / "predictions/xnli/test-en.tsv", "neutral\n")
    write(tmp_path / "labels/xnli/test-en.tsv", "neutral\n")
    scores = score_submission(tmp_path / "predictions", tmp_path / "labels", suite)
    assert len(scores["missing"]) == sum(len(each.languages) for each in suite.tasks) - 1
    assert set(scores["categories"].values()) == {None}
