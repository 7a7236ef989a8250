"""Translated data files held against the originals."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from xharness import cli
from xharness.errors import InputError
from xharness.specs.registry import benchmark_of_suite
from xharness.translation.translation_check import (
    CheckedFile,
    TranslationCheck,
    check_translations,
    render_translations,
)

ENGLISH = [
    ("The cat sleeps on the mat.", "A cat is asleep.", "entailment"),
    ("Two men play chess in a park.", "Nobody plays.", "contradiction"),
    ("She reads the long letter.", "She is at home.", "neutral"),
]
GERMAN = [
    ("Die Katze schläft auf der Matte.", "Eine Katze schläft.", "entailment"),
    ("Zwei Männer spielen Schach im Park.", "Niemand spielt.", "contradiction"),
    ("Sie liest den langen Brief.", "Sie ist zu Hause.", "neutral"),
]
#: The first two premises as in English, the third with another word.
FROM_GERMAN = [
    (ENGLISH[0][0], ENGLISH[0][1]),
    (ENGLISH[1][0], ENGLISH[1][1]),
    ("She reads the endless letter.", "She is at home."),
]


def write_rows(path: Path, rows: Sequence[tuple[str, ...]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_questions(path: Path, questions: dict[str, str], contexts: list[str]) -> None:
    paragraphs = [
        {
            "context": context,
            "qas": [
                {"id": name, "question": text, "answers": [{"text": "x", "answer_start": 0}]}
                for name, text in questions.items()
                if name.startswith(str(number))
            ],
        }
        for number, context in enumerate(contexts)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"version": "1.1", "data": [{"title": "t", "paragraphs": paragraphs}]}
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.fixture
def originals(tmp_path: Path) -> Path:
    folder = tmp_path / "originals"
    write_rows(folder / "xnli" / "test-en.tsv", ENGLISH)
    write_rows(folder / "xnli" / "test-de.tsv", GERMAN)
    return folder


@pytest.fixture
def translations(tmp_path: Path) -> Path:
    folder = tmp_path / "translations"
    rows = [(*g[:2], *t, g[2]) for g, t in zip(GERMAN, FROM_GERMAN, strict=True)]
    write_rows(folder / "XNLI" / "translate-test" / "test-de-en-translated.tsv", rows)
    return folder


def check(
    translations: Path, originals: Path, languages: tuple[str, ...] | None = None
) -> TranslationCheck:
    return check_translations(translations, originals, benchmark_of_suite("xtreme"), languages)


def only(found: TranslationCheck) -> CheckedFile:
    (file,) = found.files
    return file


def test_five_cells_are_scored_against_the_original_in_their_language(
    translations: Path, originals: Path
) -> None:
    file = only(check(translations, originals))
    assert (file.task, file.split, file.source, file.target) == ("xnli", "test", "de", "en")
    assert file.reference == originals / "xnli" / "test-en.tsv"
    assert file.matched_by == "position"
    assert file.quality is not None
    assert file.quality.segments == 6
    # One word of the six sentences' 35 tokens differs.
    assert 80 < file.quality.bleu < 100
    assert file.counts == {}


def test_rows_of_another_source_and_empty_translations_are_counted(
    translations: Path, originals: Path
) -> None:
    rows = [(*g[:2], *t, g[2]) for g, t in zip(GERMAN, FROM_GERMAN, strict=True)]
    rows[1] = ("Ganz etwas anderes.", *rows[1][1:])
    rows[2] = (*rows[2][:3], " ", rows[2][4])
    write_rows(translations / "XNLI" / "translate-test" / "test-de-en-translated.tsv", rows)
    assert only(check(translations, originals)).counts == {
        "rows_of_another_source": 1,
        "empty_translations": 1,
    }


def test_a_folder_laid_out_like_the_originals(tmp_path: Path, originals: Path) -> None:
    test = tmp_path / "t" / "xnli" / "translate-test"
    write_rows(test / "test-de.tsv", [(*t, "neutral") for t in FROM_GERMAN])
    found = only(check(tmp_path / "t", originals))
    assert (found.source, found.target, found.reference) == (
        "de",
        "en",
        originals / "xnli" / "test-en.tsv",
    )
    # Translated from English into German, as the pseudo test sets are.
    write_rows(tmp_path / "u" / "translate_train" / "xnli" / "test-de.tsv", GERMAN)
    into_german = only(check(tmp_path / "u", originals))
    assert (into_german.source, into_german.target) == ("en", "de")
    assert into_german.quality is not None
    assert into_german.quality.bleu == pytest.approx(100)


def test_a_training_set_has_no_original_to_be_held_against(tmp_path: Path, originals: Path) -> None:
    write_rows(originals / "xnli" / "train-en.tsv", ENGLISH)
    folder = tmp_path / "t"
    rows = [(*e[:2], *g[:2], e[2]) for e, g in zip(ENGLISH, GERMAN, strict=True)]
    write_rows(folder / "XNLI" / "translate-train" / "en-de-translated.tsv", rows)
    found = check(folder, originals)
    file = only(found)
    assert (file.split, file.source, file.target) == ("train", "en", "de")
    assert file.reference is None
    assert file.quality is None
    assert "no original in de" in render_translations(found)


def test_unequal_lines_are_an_error_with_file_and_counts(
    translations: Path, originals: Path
) -> None:
    write_rows(originals / "xnli" / "test-en.tsv", ENGLISH[:2])
    with pytest.raises(InputError) as caught:
        check(translations, originals)
    message = str(caught.value)
    assert "test-de-en-translated.tsv: 3 lines, but" in message
    assert "test-en.tsv has 2" in message


def test_too_few_cells_are_named_by_line(translations: Path, originals: Path) -> None:
    path = translations / "XNLI" / "translate-test" / "test-de-en-translated.tsv"
    path.write_text(path.read_text(encoding="utf-8").replace("Niemand spielt.\t", ""), "utf-8")
    path.write_text("a\tb\n" + path.read_text(encoding="utf-8"), "utf-8")
    with pytest.raises(InputError, match=r"translated\.tsv:1: 2 cells where 4 are needed"):
        check(translations, originals)


def test_placeholder_rows_are_left_out_and_counted(tmp_path: Path) -> None:
    originals, folder = tmp_path / "o", tmp_path / "t"
    write_rows(
        originals / "pawsx" / "test-en.tsv", [("a b c d", "NS", "0"), ("a b c d", "e f g h", "1")]
    )
    write_rows(
        folder / "pawsx" / "translate_test" / "test-fr-en-translated.tsv",
        [("x", "NS", "y", "NS", "0"), ("x", "z", "a b c d", "e f g h", "1")],
    )
    file = only(check(folder, originals))
    assert file.quality is not None
    assert (file.quality.segments, file.counts["placeholder_rows"]) == (2, 1)
    assert file.quality.bleu == pytest.approx(100)


def test_questions_are_matched_by_id_and_contexts_count_once(tmp_path: Path) -> None:
    originals, folder = tmp_path / "o", tmp_path / "t"
    contexts = ["x is the first long context", "x is the second long context"]
    english = {
        "0a": "What is the first thing?",
        "0b": "Who did it?",
        "1a": "When was the last one?",
    }
    write_questions(originals / "xquad" / "xquad.en.json", english, contexts)
    translated = {"1a": english["1a"], "0a": english["0a"], "0z": "What else?"}
    write_questions(folder / "xquad.translate.test.de-en.json", translated, contexts)
    file = only(check(folder, originals))
    assert file.matched_by == "id"
    assert file.quality is not None
    # Two questions that both have, and their two contexts; the order of the file does not matter.
    assert file.quality.segments == 4
    assert file.quality.bleu == pytest.approx(100)
    assert file.counts == {"questions_without_original": 1, "questions_not_translated": 1}


def test_questions_without_a_common_id_compare_nothing(tmp_path: Path) -> None:
    originals, folder = tmp_path / "o", tmp_path / "t"
    write_questions(originals / "xquad" / "xquad.en.json", {"0a": "What?"}, ["x"])
    write_questions(folder / "xquad" / "xquad.translate.test.de-en.json", {"0b": "What?"}, ["x"])
    found = check(folder, originals)
    assert only(found).quality is None
    assert "nothing to compare" in render_translations(found)


def test_other_files_are_named_and_none_at_all_is_an_error(
    translations: Path, originals: Path, tmp_path: Path
) -> None:
    for name in ("XNLI/notes.tsv", "what/test-de-en-translated.tsv", "XNLI/test-de.tsv"):
        write_rows(translations / name, [("a", "b")])
    found = check(translations, originals)
    assert len(found.files) == 1
    assert [path.name for path in found.not_understood] == [
        "notes.tsv",
        "test-de.tsv",
        "test-de-en-translated.tsv",
    ]
    assert render_translations(found).count("not understood: ") == 3
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no translated file of a task"):
        check(tmp_path / "empty", originals)
    with pytest.raises(InputError, match="no translated file of a task in these languages"):
        check(translations, originals, ("fr",))
    assert len(check(translations, originals, ("de",)).files) == 1


def validate(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "xharness", "validate", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_verb_prints_a_table_and_writes_json(
    translations: Path, originals: Path, tmp_path: Path
) -> None:
    into = tmp_path / "check.json"
    given = ("--translations", str(translations), "--originals", str(originals))
    done = validate(*given, "--json", str(into))
    assert done.returncode == 0, done.stderr
    assert "de-en" in done.stdout
    assert "matched by position" in done.stdout
    assert "BLEU: nrefs:1" in done.stdout
    written: dict[str, Any] = json.loads(into.read_text(encoding="utf-8"))
    (file,) = written["files"]
    quality = only(check(translations, originals)).quality
    assert quality is not None
    assert file["quality"]["bleu"] == quality.bleu
    assert file["quality"]["chrf_signature"] == quality.chrf_signature
    assert (file["source"], file["target"], file["matched_by"]) == ("de", "en", "position")


@pytest.mark.parametrize("option", ["--translations", "--originals", "--json"])
def test_one_folder_alone_is_wrong_use(
    tmp_path: Path,
    option: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["xharness", "validate", option, str(tmp_path)])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith(f"xharness: {option}: ")
    assert told.count("\n") == 1


def test_no_torch_is_needed(translations: Path, originals: Path) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from xharness.specs.registry import benchmark_of_suite\n"
        "from xharness.translation.translation_check import check_translations\n"
        "check_translations(Path(sys.argv[1]), Path(sys.argv[2]), benchmark_of_suite('xtreme'))\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(translations), str(originals)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
