"""Checks of small data folders: every code, with file, line and count."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.data.files import benchmark_of, question, squad, task_of, write
from xharness.data.checks import Finding, check_data, render_findings
from xharness.data.checks.content import HANDFUL
from xharness.data.checks.findings import CODES
from xharness.data.checks.rendering import summary
from xharness.errors import InputError
from xharness.scoring import language_score
from xharness.specs.registry import benchmark_of_suite, load
from xharness.specs.task import TaskSpec

ROWS = "a\tb\tneutral\nc\td\tentailment\n"
WORDS = "Anna\tB-PER\nReed\tI-PER\n\nhere\tO\n\n"


def checked(
    root: Path, task: TaskSpec, *, languages: tuple[str, ...] | None = None
) -> list[Finding]:
    return check_data(root, benchmark_of(task), languages)


def of_file(findings: list[Finding], name: str) -> dict[str, tuple[int | None, int]]:
    """Return line and count of each code found in the files whose path ends on a name."""
    return {f.code: (f.line, f.count) for f in findings if f.file.as_posix().endswith(name)}


def pairs(folder: Path, content: str, split: str = "test") -> dict[str, tuple[int | None, int]]:
    write(folder / f"xnli/{split}-en.tsv", content)
    return of_file(checked(folder, task_of("xnli", languages=("en",))), f"{split}-en.tsv")


def columns(folder: Path, content: str, split: str = "test") -> dict[str, tuple[int | None, int]]:
    write(folder / f"panx/{split}-en.tsv", content)
    return of_file(checked(folder, task_of("panx", languages=("en",))), f"{split}-en.tsv")


def questions(folder: Path, content: str) -> dict[str, tuple[int | None, int]]:
    write(folder / "xquad/xquad.en.json", content)
    return of_file(checked(folder, task_of("xquad", languages=("en",))), "xquad.en.json")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (ROWS, {}),
        (ROWS + "x\ty\n" + "x\n", {"ragged_rows": (3, 2)}),
        (ROWS + "x\ty\tneutrl\n", {"unknown_labels": (3, 1)}),
        (ROWS + "x\ty\t-\n", {"rows_without_gold_label": (3, 1)}),
        (ROWS + "x\ty\tcontradictory\n", {"label_aliases": (3, 1)}),
        (ROWS + "x\ty\tneutral\n" * 2, {"repeated_rows": (4, 1)}),
        (ROWS + "a\tb\tentailment\n" * 2, {"two_labels": (3, 1), "repeated_rows": (4, 1)}),
        (ROWS + "NS\ty\tneutral\nx\t NS\tneutral\n", {"placeholder_rows": (3, 2)}),
        (ROWS + " \t\tneutral\n", {"empty_sentences": (3, 2)}),
        (ROWS + "e\u0301\ty\tneutral\n", {"not_nfc": (3, 1)}),
        (ROWS + '"x\t""y\tneutral\n', {"leading_quotes": (3, 2)}),
        (ROWS + "\n\n", {"blank_trailing_lines": (4, 2)}),
        ("\ufeff" + ROWS, {"byte_order_mark": (1, 1)}),
        (ROWS.replace("\n", "\r\n"), {"carriage_returns": (1, 2)}),
        (ROWS + "x\u2028\ty\x1d\x1d\tneutral\n", {"line_separators": (3, 1)}),
        (ROWS + "x\xa0z\ty\tneutral\n", {"no_break_spaces": (3, 1)}),
        ("a\tb\nc\td\n", {"no_gold": (None, 1)}),
        ("", {"no_examples": (None, 1)}),
        ("a\tb\t-\n", {"no_examples": (None, 1), "rows_without_gold_label": (1, 1)}),
    ],
)
def test_pairs(tmp_path: Path, content: str, expected: dict[str, tuple[int | None, int]]) -> None:
    assert pairs(tmp_path, content) == expected


def test_each_separator_is_told_apart(tmp_path: Path) -> None:
    write(tmp_path / "xnli/test-en.tsv", ROWS + "x\u2028\ty\x1d\x1d\tneutral\n\rz\tz\tneutral\n")
    findings = checked(tmp_path, task_of("xnli", languages=("en",)))
    told = {f.message[:6]: (f.line, f.count) for f in findings if f.code == "line_separators"}
    assert told == {"U+2028": (3, 1), "U+001D": (3, 2), "U+000D": (4, 1)}


def test_one_label_on_more_than_a_handful_is_no_gold(tmp_path: Path) -> None:
    row = "a{}\tb\tneutral\n"
    few = "".join(row.format(i) for i in range(HANDFUL))
    assert pairs(tmp_path, few) == {}
    assert pairs(tmp_path, few + row.format("x")) == {"constant_gold": (1, HANDFUL + 1)}
    assert HANDFUL == language_score.HANDFUL


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (WORDS, {}),
        (WORDS + "\n", {"blank_trailing_lines": (6, 1)}),
        ("\n" + WORDS, {"extra_blank_lines": (1, 1)}),
        (WORDS + "Bo\tI-PER\tx\nBo\tI-PER\n", {"orphan_inside_tags": (6, 1)}),
        (WORDS + "Oslo\tB-LOC\nBo\tI-PER\n", {"orphan_inside_tags": (7, 1)}),
        (WORDS + "x\n", {"ragged_rows": (6, 1)}),
        (WORDS + "x\tB-MISC\n", {"unknown_labels": (6, 1)}),
        (WORDS + "\tO\n", {"empty_tokens": (6, 1)}),
        (WORDS + "\ufeffx\tO\n\ufeff\tO\n", {"byte_order_marks_in_tokens": (6, 2)}),
        (WORDS + "x y\tO\n\u3000\tO\n", {"inner_spaces": (6, 2)}),
        (WORDS + "x\xa0y\tO\n", {"inner_spaces": (6, 1), "no_break_spaces": (6, 1)}),
        (WORDS + "_\tO\n", {"placeholder_tokens": (6, 1)}),
        (WORDS + "u\u0308\tO\n", {"not_nfc": (6, 1)}),
        (WORDS + "here\tB-LOC\n", {"repeated_sentences": (6, 1)}),
        (WORDS + "x\tO\n" * 401, {"long_sentences": (6, 1)}),
        ("a\n\nb\n", {"no_gold": (None, 1)}),
        ("\n", {"no_examples": (None, 1), "blank_trailing_lines": (1, 1)}),
        ("".join(f"{i}\tO\n\n" for i in range(6)), {"constant_gold": (1, 6)}),
    ],
)
def test_columns(tmp_path: Path, content: str, expected: dict[str, tuple[int | None, int]]) -> None:
    assert columns(tmp_path, content) == expected


def test_unlabelled_training_files_are_errors(tmp_path: Path) -> None:
    assert columns(tmp_path, "a\n", "train") == {"no_training_labels": (None, 1)}
    assert pairs(tmp_path, "a\tb\n", "train") == {"no_training_labels": (None, 1)}


CONTEXT = "Rome, Rome or Oslo"
GOOD = question("1", [("Oslo", 14)])


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (squad((CONTEXT, [GOOD])), {}),
        (squad((CONTEXT, [question("1", [("Rome", 0)])])), {"ambiguous_answers": 1}),
        (squad((CONTEXT, [question("1", [("Oslo", 14)] * 3)])), {"equal_answers": 1}),
        (squad((CONTEXT, [question("1", [(" Oslo", 13)])])), {"answers_with_edge_blanks": 1}),
        (squad((CONTEXT, [question("1", [("Oslo", 9)])])), {"repaired_offsets": 1}),
        (
            squad((CONTEXT, [GOOD, question("2", [("Bonn", 9)])])),
            {"answers_not_in_context": 1, "unanswered_questions": 1},
        ),
        (
            squad((CONTEXT, [GOOD, question("2", [("", 0)])])),
            {"blank_answers": 1, "unanswered_questions": 1},
        ),
        (squad((CONTEXT, [question("1", [("", 0)]), question("2", [])])), {"no_gold": 1}),
        (squad((CONTEXT, [GOOD, GOOD])), {"repeated_ids": 1, "truncated_ids": 1}),
        (squad((CONTEXT, [GOOD, question("x", [("Oslo", 14)]), GOOD])), {"repeated_ids": 1}),
        (squad((CONTEXT, [{**GOOD, "id": 1}])), {"integer_ids": 1}),
        (squad((CONTEXT, [GOOD, 7])), {"malformed_questions": 1}),  # type: ignore[list-item]
        (squad((CONTEXT, [GOOD, {"id": "2"}])), {"malformed_questions": 1}),
        (squad((" ", []), (CONTEXT, [GOOD])), {"empty_contexts": 1}),
        (squad(("🙂 " + CONTEXT, [question("1", [("Oslo", 16)])])), {"astral_contexts": 1}),
        (squad(("e\u0301 " + CONTEXT, [question("1", [("Oslo", 17)], "e\u0301")])), {"not_nfc": 1}),
        (squad((CONTEXT, [GOOD])).replace('"version": "1.1", ', ""), {"absent_keys": 1}),
        (squad((CONTEXT, [GOOD])).replace('"title": "t", ', ""), {"absent_keys": 1}),
        (squad(), {"no_examples": 1}),
        ("[]", {"unreadable": 1, "absent_keys": 1}),
        ("{", {"unreadable": 1}),
    ],
)
def test_questions(tmp_path: Path, content: str, expected: dict[str, int]) -> None:
    found = questions(tmp_path, content)
    assert {code: count for code, (_, count) in found.items()} == expected


def test_questions_are_found_on_their_line(tmp_path: Path) -> None:
    document = json.loads(squad((CONTEXT, [GOOD, question("the-second", [("Oslo", 2)])])))
    text = json.dumps(document, indent=1)
    line = next(i for i, row in enumerate(text.split("\n"), 1) if "the-second" in row)
    assert questions(tmp_path, text) == {"repaired_offsets": (line, 1)}


def test_training_questions_are_judged_by_what_the_reader_does(tmp_path: Path) -> None:
    content = squad((CONTEXT, [GOOD, {**GOOD, "question": "again"}, question("0", [])]))
    write(tmp_path / "squad/train-v1.1.json", content)
    found = of_file(checked(tmp_path, task_of("xquad", languages=("en",))), "train-v1.1.json")
    assert {code: count for code, (_, count) in found.items()} == {
        "repeated_training_ids": 1,
        "truncated_ids": 2,
        "dropped_questions": 1,
    }


def test_not_utf8_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "xnli/test-en.tsv"
    write(path, ROWS.encode() + b"\xff\ty\tneutral\n")
    (finding,) = [
        f for f in checked(tmp_path, task_of("xnli", languages=("en",))) if f.file == path
    ]
    assert (finding.code, finding.severity, finding.line) == ("unreadable", "error", 3)
    assert "byte 0xff is not UTF-8" in finding.message


def bitext(folder: Path, source: list[str], target: list[str]) -> list[Finding]:
    write(folder / "tatoeba/tatoeba.deu-eng.deu", "".join(f"{line}\n" for line in source))
    write(folder / "tatoeba/tatoeba.deu-eng.eng", "".join(f"{line}\n" for line in target))
    return checked(folder, task_of("tatoeba", languages=("de",)))


def test_aligned_lines(tmp_path: Path) -> None:
    assert of_file(bitext(tmp_path, ["a", "b", "a"], ["A", "", ""]), "eng") == {
        "blank_trailing_lines": (3, 2),
        "unequal_line_counts": (None, 2),
    }
    assert of_file(bitext(tmp_path, ["a", " ", "a"], ["A", "B", "C"]), "deu") == {
        "empty_sentences": (2, 1),
        "repeated_sentences": (3, 1),
    }


def test_a_sorted_side_is_no_gold_unless_lengths_agree(tmp_path: Path) -> None:
    lengths = [(i * 37) % 53 + 1 for i in range(60)]
    source = [f"{i:02}" + "x" * length for i, length in enumerate(lengths)]
    aligned = [f"{chr(65 + i // 8)}{i % 8}" + "y" * length for i, length in enumerate(lengths)]
    assert aligned == sorted(aligned)
    assert bitext(tmp_path, source, aligned) == []
    shuffled = [aligned[(i * 29 + 13) % 60] for i in range(60)]
    assert bitext(tmp_path, source, shuffled) == []  # not sorted: nothing tells
    random.Random(5).shuffle(source)
    assert of_file(bitext(tmp_path, source, aligned), "eng") == {"sorted_target": (1, 60)}


def test_corpora(tmp_path: Path) -> None:
    task = task_of("bucc2018", languages=("de",))
    name = "bucc2018/de-en.test"
    write(tmp_path / f"{name}.de", "d1\tx\nd1\tx\nd2 y\n\n")
    write(tmp_path / f"{name}.en", 'e1\t"x\ne2\t \n')
    write(tmp_path / f"{name}.gold", "d1\te1 \nd1\te1\nd9\te2\n")
    findings = checked(tmp_path, task)
    assert of_file(findings, ".test.de") == {
        "repeated_ids": (2, 1),
        "repeated_sentences": (2, 1),
        "ragged_rows": (3, 1),
        "blank_lines": (4, 1),
    }
    assert of_file(findings, ".test.en") == {"leading_quotes": (1, 1), "empty_sentences": (2, 1)}
    assert of_file(findings, ".test.gold") == {
        "padded_ids": (1, 1),
        "repeated_rows": (2, 1),
        "unknown_gold_ids": (3, 1),
    }
    # No dev pairs to take a threshold from.
    assert of_file(findings, ".dev.de") == {"missing_file": (None, 1)}
    (tmp_path / f"{name}.gold").unlink()
    assert "no_gold" in of_file(checked(tmp_path, task), ".test.en")


def test_holes_and_stand_ins(tmp_path: Path) -> None:
    write(tmp_path / "xnli/test-de.tsv", ROWS)
    findings = checked(tmp_path, task_of("xnli", languages=("de", "en", "fr")))
    holes = {f.file.name: (f.code, f.severity, f.language) for f in findings}
    assert holes == {
        "train-en.tsv": ("missing_file", "error", "en"),
        "dev-en.tsv": ("missing_dev", "warning", "en"),
        "test-en.tsv": ("missing_file", "error", "en"),
        "test-fr.tsv": ("missing_file", "error", "fr"),
    }
    name = "bucc2018/de-en.dev"
    for side, content in (("de", "d\tx\n"), ("en", "e\tX\n"), ("gold", "d\te\n")):
        write(tmp_path / f"{name}.{side}", content)
    findings = checked(tmp_path, task_of("bucc2018", languages=("de", "fr")))
    assert [(f.code, f.language) for f in findings] == [("stand_in", "de"), ("missing_file", "fr")]


def test_a_task_of_which_nothing_is_there_is_one_hole(tmp_path: Path) -> None:
    findings = checked(tmp_path, task_of("tatoeba"))
    (finding,) = findings
    assert (finding.code, finding.language, finding.count) == ("missing_file", None, 36)


def test_one_side_of_a_bitext_misses_the_other(tmp_path: Path) -> None:
    write(tmp_path / "tatoeba/tatoeba.pol-eng.pol", "a\n")
    findings = checked(tmp_path, task_of("tatoeba", languages=("de", "fr")))
    assert {(f.file.name, f.language, f.count) for f in findings} == {
        ("tatoeba.pol-eng.eng", "pl", 1),
        ("tatoeba.deu-eng.deu", None, 2),
    }


def test_files_that_no_run_reads_are_checked_too(tmp_path: Path) -> None:
    write(tmp_path / "xnli/dev-de.tsv", ROWS + "x\ty\tneutrl\n")
    write(tmp_path / "xnli/test-pl.tsv", ROWS + "\n")
    write(tmp_path / "xnli/readme.txt", "x")
    findings = checked(tmp_path, task_of("xnli", languages=("en",)))
    assert of_file(findings, "dev-de.tsv") == {"unknown_labels": (3, 1)}
    assert of_file(findings, "test-pl.tsv") == {"blank_trailing_lines": (3, 1)}
    assert of_file(findings, "/xnli") == {"files_not_read": (None, 1)}
    chosen = checked(tmp_path, task_of("xnli", languages=("en", "de")), languages=("de",))
    assert of_file(chosen, "dev-de.tsv")
    assert not of_file(chosen, "test-pl.tsv")
    with pytest.raises(InputError, match="has the languages pl"):
        checked(tmp_path, task_of("xnli", languages=("en",)), languages=("pl",))


def test_overlap_is_found_between_splits(tmp_path: Path) -> None:
    write(tmp_path / "panx/train-en.tsv", "Anna\tB-PER\n\nBo\tB-PER\n\nCy\tB-PER\n\n")
    write(tmp_path / "panx/dev-en.tsv", "Cy\tO\n\nDo\tB-PER\n\n")
    write(tmp_path / "panx/train-de.tsv", "Emil\tB-PER\n\n")
    write(tmp_path / "panx/test-de.tsv", "x\tO\n\nBo\tO\n\nEmil\tO\n\nEmil\tO\n\nDo\tB-PER\n\n")
    findings = checked(tmp_path, task_of("panx", languages=("de",)))
    assert of_file(findings, "dev-en.tsv") == {"train_overlap": (1, 1)}
    told = {(f.code, f.line, f.count, f.message) for f in findings if f.language == "de"}
    assert told == {
        ("train_overlap", 3, 1, "1 of 5 sentences in the training file: 'train-en.tsv:3'"),
        ("train_overlap", 5, 2, "2 of 5 sentences in the training file: 'train-de.tsv:1'"),
        ("dev_overlap", 9, 1, "1 of 5 sentences in the dev file: 'dev-en.tsv:3'"),
        ("repeated_sentences", 7, 1, "sentences that occurred before in the file: 'Emil'"),
    }


def test_contexts_shared_with_training_are_found(tmp_path: Path) -> None:
    write(tmp_path / "squad/train-v1.1.json", squad((CONTEXT, [GOOD])))
    other = {**GOOD, "question": "Where?"}
    write(tmp_path / "xquad/xquad.en.json", squad((CONTEXT, [other]), ("x Oslo", [])))
    findings = checked(tmp_path, task_of("xquad", languages=("en",)))
    assert [f.message for f in findings if f.code == "train_overlap"] == [
        "1 of 2 contexts in the training file: 'train-v1.1.json'"
    ]


def labelled(labels: str) -> str:
    return "".join(f"a{i}\tb{i}\t{label}\n" for i, label in enumerate(labels))


def test_labels_that_differ_between_parallel_files(tmp_path: Path) -> None:
    english = "01101" * 20
    write(tmp_path / "pawsx/test-en.tsv", labelled(english))
    write(tmp_path / "pawsx/test-de.tsv", labelled("1" + english[1:-1] + "0"))
    write(tmp_path / "pawsx/test-fr.tsv", labelled(english[::-1]))  # not parallel
    write(tmp_path / "pawsx/test-zh.tsv", labelled(english[1:]))  # not of equal length
    findings = checked(tmp_path, task_of("pawsx", languages=("en", "de", "fr", "zh")))
    told = [f for f in findings if f.code == "label_disagreement"]
    assert [(f.language, f.line, f.count) for f in told] == [("de", 1, 2)]
    assert "2 of 100 labels" in told[0].message
    assert "the English file" in told[0].message


def test_without_english_the_majority_is_the_measure(tmp_path: Path) -> None:
    right = "01101" * 20
    for language, labels in (("de", right), ("fr", right), ("zh", "1" + right[1:])):
        write(tmp_path / f"pawsx/dev-{language}.tsv", labelled(labels))
    findings = checked(tmp_path, task_of("pawsx", languages=("de",)))
    assert [f.language for f in findings if f.code == "label_disagreement"] == ["zh"]


def test_ids_of_other_languages_are_noted(tmp_path: Path) -> None:
    for language in ("en", "de"):
        write(tmp_path / f"xquad/xquad.{language}.json", squad((CONTEXT, [GOOD])))
    findings = checked(tmp_path, task_of("xquad", languages=("en", "de")))
    assert of_file(findings, "xquad.en.json") == {"shared_ids": (None, 1)}


def test_a_file_that_tasks_share_is_reported_once(tmp_path: Path) -> None:
    write(tmp_path / "squad/train-v1.1.json", squad((CONTEXT, [question("1", [("Rome", 0)])])))
    tasks = (task_of("xquad", languages=("en",)), task_of("mlqa", languages=("en",)))
    findings = check_data(tmp_path, benchmark_of(*tasks))
    assert [f.task for f in findings if f.code == "ambiguous_answers"] == ["xquad"]
    assert [f.task for f in findings if f.code == "missing_dev"] == ["xquad"]


def choices(folder: Path, rows: list[dict[str, Any]]) -> dict[str, tuple[int | None, int]]:
    write(folder / "xcopa/test.et.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    return of_file(checked(folder, task_of("xcopa", languages=("et",))), "test.et.jsonl")


def test_choices(tmp_path: Path) -> None:
    row = {"premise": "p", "choice1": "a", "choice2": "b", "question": "cause", "label": 0}
    rows = [{**row, "idx": i, "label": i % 2} for i in range(6)]
    assert choices(tmp_path, rows) == {}
    assert choices(tmp_path, [*rows, {**row, "idx": 7, "choice1": " "}]) == {
        "empty_sentences": (7, 1)
    }
    assert choices(tmp_path, [{**r, "label": 0} for r in rows]) == {"constant_gold": (1, 6)}
    assert choices(tmp_path, [*rows, rows[0]]) == {"unreadable": (7, 1)}
    assert choices(tmp_path, []) == {"no_examples": (None, 1)}
    english = [{**r, "question": "effect"} for r in rows[:2]] + rows[2:]
    write(tmp_path / "xcopa/copa.test-en.jsonl", "".join(f"{json.dumps(r)}\n" for r in english))
    assert choices(tmp_path, rows) == {"questions_unlike_english": (None, 2)}


def test_a_format_without_check_is_checked_by_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xharness.data.checks import checking

    monkeypatch.delitem(checking.CHECKS, "pair_tsv")
    assert pairs(tmp_path, ROWS + "NS\ty\tneutral\n") == {"read_with_counts": (None, 1)}
    assert pairs(tmp_path, ROWS + "x\n") == {"unreadable": (3, 1)}
    assert pairs(tmp_path, "") == {"no_examples": (None, 1)}
    with pytest.raises(InputError, match="unknown format 'none'"):
        checked(tmp_path, task_of("xnli", format="none"))


def test_tasks_without_files_are_named(tmp_path: Path) -> None:
    task = load(TaskSpec, "xnli")
    task = task.model_copy(update={"sources": task.sources.model_copy(update={"files": None})})
    assert [f.code for f in checked(tmp_path, task)] == ["no_file_source"]
    with pytest.raises(InputError, match="no such data folder"):
        checked(tmp_path / "absent", task)


def test_rendering_begins_with_the_worst(tmp_path: Path) -> None:
    write(tmp_path / "xnli/test-de.tsv", ROWS + "NS\ty\x1d\tneutral\n\n")
    write(tmp_path / "xnli/test-en.tsv", "x\x1b[31m\ty\tred\x1b[0m\n" + ROWS)
    write(tmp_path / "xnli/train-en.tsv", ROWS)
    write(tmp_path / "xnli/dev-en.tsv", "e\tf\tneutral\n")
    findings = checked(tmp_path, task_of("xnli", languages=("de", "en")))
    text = render_findings(findings)
    blocks = text.split("\n\n")
    assert blocks[0].split("\n")[0] == str(tmp_path / "xnli/test-en.tsv")
    assert blocks[0].split("\n")[1].startswith("  error unknown_labels: line 1: ")
    assert blocks[-1] == summary(findings)
    assert re.fullmatch(r"1 error, \d+ warnings?, \d+ notes? in \d+ files?", blocks[-1])
    severities = [line.split()[0] for line in blocks[1].split("\n")[1:]]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)
    assert "\x1b" not in text
    assert "\x1d" not in text
    assert render_findings([]) == "0 errors, 0 warnings, 0 notes in 0 files"


def test_the_sample_has_no_fault() -> None:
    from xharness.sample import DATA

    findings = check_data(DATA, benchmark_of_suite("sample"))
    assert {f.code for f in findings if f.severity != "note"} == set()


def test_every_code_says_what_it_is() -> None:
    assert all(text for _, text in CODES.values())
    assert {severity for severity, _ in CODES.values()} == {"error", "warning", "note"}


def test_checks_import_no_torch() -> None:
    program = "import sys, xharness.data.checks; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
