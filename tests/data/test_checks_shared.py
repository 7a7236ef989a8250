"""The checks on real data: what is known to be odd about the files is found, with the known counts."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data.files import write
from xharness.data.checks import Finding, check_data
from xharness.specs.registry import benchmark_of_suite, benchmark_of_tasks

pytestmark = pytest.mark.shared

Count = Callable[[str, str], int]

LANGUAGES = ("en", "es", "de", "el", "ru", "tr", "ar", "vi", "th", "zh", "hi", "ro")
XQUAD = [f"xquad/xquad.{code}.json" for code in LANGUAGES]


@pytest.fixture(scope="module")
def findings(shared: Path) -> list[Finding]:
    began = time.process_time()
    found = check_data(shared / "data/xtreme_mini", benchmark_of_suite("xtreme"))
    assert time.process_time() - began < 30
    return found


@pytest.fixture(scope="module")
def count(findings: list[Finding], shared: Path) -> Count:
    """How many instances of a code a file has, all findings together."""
    root = shared / "data/xtreme_mini"
    counts: dict[tuple[str, str], int] = {}
    for f in findings:
        key = (f.file.relative_to(root).as_posix(), f.code)
        counts[key] = counts.get(key, 0) + f.count
    return lambda name, code: counts.get((name, code), 0)


def of_code(findings: list[Finding], *codes: str) -> dict[str, Finding]:
    return {f.file.name: f for f in findings if f.code in codes}


def test_only_the_known_holes_are_errors(findings: list[Finding]) -> None:
    errors = [f for f in findings if f.severity == "error"]
    assert {(f.task, f.language, f.code) for f in errors} == {
        ("panx", "th", "missing_file"),
        ("bucc2018", "de", "missing_file"),
        ("bucc2018", "fr", "missing_file"),
        ("bucc2018", "ru", "missing_file"),
    }
    assert of_code(findings, "stand_in")["zh-en.test.zh"].language == "zh"


def test_characters_at_which_splitlines_would_cut(findings: list[Finding]) -> None:
    found = of_code(findings, "line_separators")
    assert {(name, f.message[:6], f.count) for name, f in found.items()} == {
        ("test-el.tsv", "U+001D", 5),
        ("dev-ko.tsv", "U+001C", 1),
    }
    assert found["dev-ko.tsv"].line is not None


def test_pairs(count: Count) -> None:
    assert count("xnli/test-hi.tsv", "not_nfc") == 522
    assert max(count(f"xnli/test-{c}.tsv", "two_labels") for c in ("ar", "tr", "ur", "zh")) == 3
    assert count("pawsx/dev-de.tsv", "repeated_rows") == 17
    assert count("pawsx/test-zh.tsv", "two_labels") == 1
    assert count("pawsx/dev-de.tsv", "placeholder_rows") == 68
    assert count("pawsx/test-fr.tsv", "leading_quotes") == 488
    assert count("pawsx/test-de.tsv", "placeholder_rows") > 0
    # Files that lack different rows are not parallel, though they are of one length.
    assert count("pawsx/test-ko.tsv", "label_disagreement") == 0
    assert count("xnli/dev-fr.tsv", "label_disagreement") == 0


def test_paws_labels_differ_from_the_english(shared: Path, tmp_path: Path) -> None:
    # The two English files are the first and last rows of one dev file, which is parallel to the others.
    source, target = shared / "data/xtreme_mini/pawsx", tmp_path / "pawsx"
    both = [(source / name).read_bytes() for name in ("train-en.tsv", "dev-en.tsv")]
    write(target / "dev-en.tsv", b"".join(both))
    shutil.copy(source / "dev-de.tsv", target)
    benchmark = benchmark_of_tasks(["pawsx"])
    found = of_code(check_data(tmp_path, benchmark), "label_disagreement")
    assert [(name, f.count) for name, f in found.items()] == [("dev-de.tsv", 32)]
    assert "32 of 2000" in found["dev-de.tsv"].message


def test_tagged_words(count: Count) -> None:
    assert count("panx/test-ja.tsv", "orphan_inside_tags") == 78
    assert count("panx/test-zh.tsv", "orphan_inside_tags") == 70
    assert count("panx/test-zh.tsv", "long_sentences") == 2
    assert count("panx/test-ta.tsv", "byte_order_marks_in_tokens") == 4
    # Languages of XTREME-R, which the suite does not name, are checked as well.
    assert count("panx/test-qu.tsv", "repeated_sentences") > 0
    assert count("panx/test-en.tsv", "train_overlap") == 283
    assert count("udpos/train-en.tsv", "placeholder_tokens") == 5
    assert count("udpos/dev-ja.tsv", "placeholder_tokens") == 4
    assert count("udpos/test-pt.tsv", "placeholder_tokens") == 4


def test_questions(count: Count, findings: list[Finding]) -> None:
    repeated = [count(name, "ambiguous_answers") for name in XQUAD]
    assert (min(repeated), max(repeated)) == (87, 168)
    contexts = {
        f.language: f.count for f in findings if f.code == "not_nfc" and "contexts" in f.message
    }
    assert (contexts["hi"], contexts["ar"]) == (101, 28)
    assert count(XQUAD[0], "shared_ids") == 1190
    folder = "tydiqa/tydiqa-goldp-v1.1"
    train = f"{folder}-train/tydiqa.goldp.en.train.json"
    assert count(train, "answers_with_edge_blanks") == 12
    assert count(train, "astral_contexts") == 2
    assert count(train, "absent_keys") == 1
    assert count(f"{folder}-dev/tydiqa.goldp.ru.dev.json", "answers_with_edge_blanks") == 2
    assert count(f"{folder}-dev/tydiqa.goldp.en.dev.json", "equal_answers") > 100
    assert count("squad/dev-v1.1.json", "astral_contexts") == 1


def test_every_answer_offset_is_right_and_no_squad_context_is_tested(
    findings: list[Finding],
) -> None:
    wrong = ("repaired_offsets", "answers_not_in_context", "malformed_questions")
    assert not [f for f in findings if f.code in wrong]
    overlaps = ("train_overlap", "dev_overlap")
    assert not [f for f in findings if f.task == "xquad" and f.code in overlaps]


def test_tatoeba_is_aligned_and_repeats_no_line(findings: list[Finding]) -> None:
    codes = {f.code for f in findings if f.task == "tatoeba"}
    assert not codes & {"repeated_sentences", "unequal_line_counts", "sorted_target"}


def test_other_layouts(shared: Path, tmp_path: Path) -> None:
    extra = shared / "data/extra"
    for name in ("de-en.de", "de-en.en"):
        code = {"de": "deu", "en": "eng"}[name[-2:]]
        target = tmp_path / f"tatoeba/tatoeba.deu-eng.{code}"
        target.parent.mkdir(exist_ok=True)
        shutil.copy(extra / "tatoeba_xtreme_layout" / name, target)
    benchmark = benchmark_of_tasks(["tatoeba", "xnli", "panx"])
    write(tmp_path / "xnli/test-sw.tsv", next((extra / "xnli/unlabelled").glob("*")).read_bytes())
    write(tmp_path / "panx/test-yo.tsv", next((extra / "panx/unlabelled").glob("*")).read_bytes())
    found = check_data(tmp_path, benchmark)
    assert of_code(found, "sorted_target")["tatoeba.deu-eng.eng"].count == 1000
    assert set(of_code(found, "no_gold")) == {"test-sw.tsv", "test-yo.tsv"}


def test_ids_cut_to_their_last_number_are_noticed(shared: Path, tmp_path: Path) -> None:
    for source in (shared / "data/extra/tydiqa/xtreme_layout").rglob("*.json"):
        language = "en" if ".en." in source.name else "bn"
        split = "train" if "train" in source.name else "dev"
        folder = tmp_path / f"tydiqa/tydiqa-goldp-v1.1-{split}"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, folder / f"tydiqa.goldp.{language}.{split}.json")
    found = check_data(tmp_path, benchmark_of_tasks(["tydiqa"]))
    assert "truncated_ids" in {f.code for f in found}
    assert "absent_keys" in {f.code for f in found}
    assert [f.language for f in found if f.code == "no_gold"] == ["bn"]


def test_xcopa(shared: Path) -> None:
    findings = check_data(shared / "data/extra", benchmark_of_tasks(["xcopa"]))
    unlike = {f.language: f.count for f in findings if f.code == "questions_unlike_english"}
    assert unlike == {"th": 250, "tr": 51, "sw": 37, "id": 4, "it": 4}
    ends = {f.language: f.count for f in findings if f.code == "carriage_returns"}
    assert len(ends) == 11
    assert set(ends.values()) == {500}
