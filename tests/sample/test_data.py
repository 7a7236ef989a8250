"""The committed sample data: made by the script, well formed, and disjoint."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from xharness.sample import DATA
from xharness.sample.grammar import LANGUAGES

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_sample_data.py"
OTHERS = [language for language in LANGUAGES if language != "en"]
UPOS = {
    "ADJ",
    "ADP",
    "ADV",
    "AUX",
    "CCONJ",
    "DET",
    "NOUN",
    "NUM",
    "PART",
    "PRON",
    "PROPN",
    "PUNCT",
    "VERB",
}
TAGS = {"O"} | {f"{place}-{kind}" for place in "BI" for kind in ("PER", "LOC", "ORG")}


def split_files(task: str, ending: str) -> list[str]:
    return [f"{task}/{split}-en.{ending}" for split in ("train", "dev")] + [
        f"{task}/test-{language}.{ending}" for language in LANGUAGES
    ]


def rows(name: str) -> list[str]:
    text = (DATA / name).read_bytes().decode("utf-8")
    assert text.endswith("\n")
    assert "\r" not in text
    return text.split("\n")[:-1]


def tagged(name: str) -> list[list[tuple[str, str]]]:
    sentences: list[list[tuple[str, str]]] = [[]]
    for row in rows(name):
        if row == "":
            sentences.append([])
        else:
            word, tag = row.split("\t")
            sentences[-1].append((word, tag))
    assert sentences.pop() == []
    return sentences


def paragraphs(name: str) -> list[dict[str, Any]]:
    content = json.loads((DATA / name).read_text(encoding="utf-8"))
    assert content["version"] == "1.1"
    return [paragraph for article in content["data"] for paragraph in article["paragraphs"]]


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_sample_data", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_script_writes_the_committed_files_byte_for_byte(tmp_path: Path) -> None:
    load_script().write_all(tmp_path)
    made = {
        path.relative_to(tmp_path): path.read_bytes()
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    committed = {
        path.relative_to(DATA): path.read_bytes() for path in DATA.rglob("*") if path.is_file()
    }
    assert sorted(made) == sorted(committed)
    assert [name for name in made if made[name] != committed[name]] == []


def test_data_stay_small() -> None:
    assert sum(path.stat().st_size for path in DATA.rglob("*") if path.is_file()) < 1_500_000


@pytest.mark.parametrize("name", split_files("sample_nli", "tsv"))
def test_nli_rows_have_two_sentences_and_balanced_labels(name: str) -> None:
    columns = [row.split("\t") for row in rows(name)]
    assert {len(row) for row in columns} == {3}
    assert all(
        premise and hypothesis and premise != hypothesis for premise, hypothesis, _ in columns
    )
    third = len(columns) // 3
    assert Counter(label for _, _, label in columns) == {
        "contradiction": third,
        "entailment": third,
        "neutral": third,
    }


@pytest.mark.parametrize("name", split_files("sample_pos", "tsv"))
def test_pos_tags_are_universal(name: str) -> None:
    sentences = tagged(name)
    assert {tag for sentence in sentences for _, tag in sentence} <= UPOS
    assert all(sentence[-1][1] == "PUNCT" for sentence in sentences)
    assert all(
        word == word.strip() != "" and " " not in word
        for sentence in sentences
        for word, _ in sentence
    )


def test_english_training_data_have_every_entity_tag_of_the_tests() -> None:
    train = {tag for sentence in tagged("sample_ner/train-en.tsv") for _, tag in sentence}
    assert train == TAGS
    for language in LANGUAGES:
        test = {
            tag for sentence in tagged(f"sample_ner/test-{language}.tsv") for _, tag in sentence
        }
        assert test <= train


@pytest.mark.parametrize("name", split_files("sample_ner", "tsv"))
def test_ner_tags_are_iob2(name: str) -> None:
    for sentence in tagged(name):
        before = "O"
        for _, tag in sentence:
            assert tag in TAGS
            if tag.startswith("I-"):
                assert before[1:] == tag[1:]
            before = tag


def test_chinese_ner_is_by_character_and_pos_by_word() -> None:
    assert {len(word) for sentence in tagged("sample_ner/test-zh.tsv") for word, _ in sentence} == {
        1
    }
    assert (
        max(len(word) for sentence in tagged("sample_pos/test-zh.tsv") for word, _ in sentence) > 1
    )


def test_ner_tests_hold_names_that_training_does_not() -> None:
    def names(name: str) -> set[str]:
        return {word for sentence in tagged(name) for word, tag in sentence if tag.startswith("B-")}

    assert len(names("sample_ner/test-en.tsv") - names("sample_ner/train-en.tsv")) >= 10


@pytest.mark.parametrize("name", split_files("sample_qa", "json"))
def test_answers_stand_where_their_offsets_say(name: str) -> None:
    for paragraph in paragraphs(name):
        for question in paragraph["qas"]:
            for answer in question["answers"]:
                start = answer["answer_start"]
                assert (
                    paragraph["context"][start : start + len(answer["text"])]
                    == answer["text"]
                    != ""
                )


def test_question_ids_are_unique_over_all_files() -> None:
    ids = [
        question["id"]
        for name in split_files("sample_qa", "json")
        for paragraph in paragraphs(name)
        for question in paragraph["qas"]
    ]
    assert len(ids) == len(set(ids)) == 1200 + 120 + 100 * len(LANGUAGES)


def test_no_two_questions_of_a_paragraph_are_equal() -> None:
    for name in split_files("sample_qa", "json"):
        for paragraph in paragraphs(name):
            questions = [question["question"] for question in paragraph["qas"]]
            assert len(questions) == len(set(questions))


@pytest.mark.parametrize("language", OTHERS)
def test_retrieval_sides_are_aligned_and_free_of_doubles(language: str) -> None:
    left, right = (
        rows(f"sample_retrieval/{language}-en.{language}"),
        rows(f"sample_retrieval/{language}-en.en"),
    )
    assert len(left) == len(right) == len(set(left)) == len(set(right)) == 200


@pytest.mark.parametrize("language", ["de", "zh"])
@pytest.mark.parametrize("split", ["dev", "test"])
def test_bitext_gold_pairs_name_sentences_that_exist(language: str, split: str) -> None:
    sides = []
    for side in (language, "en"):
        pairs = [row.split("\t") for row in rows(f"sample_bitext/{language}-en.{split}.{side}")]
        said = {row[0]: row[1] for row in pairs}
        assert len(said) == len(pairs) == len(set(said.values()))
        sides.append(said)
    gold = [row.split("\t") for row in rows(f"sample_bitext/{language}-en.{split}.gold")]
    assert len({left for left, _ in gold}) == len({right for _, right in gold}) == len(gold)
    assert all(left in sides[0] and right in sides[1] for left, right in gold)
    assert len(gold) < len(sides[0])


def test_text_is_parallel_line_by_line() -> None:
    texts = {language: rows(f"text/{language}.txt") for language in LANGUAGES}
    assert {len(lines) for lines in texts.values()} == {len(texts["en"])}
    for language, lines in texts.items():
        marks = ("？",) if language == "zh" else ("?",)
        assert [line.endswith(marks) for line in lines] == [
            line.endswith("?") for line in texts["en"]
        ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_test_sentence_occurs_in_the_text_or_in_training(language: str) -> None:
    text = rows(f"text/{language}.txt")
    used = {sentence for row in rows("sample_nli/train-en.tsv") for sentence in row.split("\t")[:2]}
    used |= {sentence for row in rows("sample_nli/dev-en.tsv") for sentence in row.split("\t")[:2]}
    used |= set(text)
    contexts = [
        p["context"] for split in ("train", "dev") for p in paragraphs(f"sample_qa/{split}-en.json")
    ]
    tests = {
        sentence
        for row in rows(f"sample_nli/test-{language}.tsv")
        for sentence in row.split("\t")[:2]
    }
    if language != "en":
        tests |= set(rows(f"sample_retrieval/{language}-en.{language}"))
        tests |= set(rows(f"sample_retrieval/{language}-en.en"))
    if language in ("de", "zh"):
        for side in (language, "en"):
            tests |= {
                row.split("\t")[1] for row in rows(f"sample_bitext/{language}-en.test.{side}")
            }
    assert sorted(tests & used) == []
    assert [
        sentence for sentence in sorted(tests) if any(sentence in context for context in contexts)
    ] == []
    test_contexts = [p["context"] for p in paragraphs(f"sample_qa/test-{language}.json")]
    statements = [line for line in text if not line.endswith(("?", "？"))]
    assert [line for line in statements if any(line in context for context in test_contexts)] == []
