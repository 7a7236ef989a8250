"""The committed sample checkpoint: made by the pre-trainer, safe to load, small, and true to the text it tokenises."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from xharness import encoder
from xharness.sample import CHECKPOINT, DATA
from xharness.sample.grammar import LANGUAGES

encoder.register()

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_sample_checkpoint.py"


@cache
def tokenizer() -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(CHECKPOINT, local_files_only=True)


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("make_sample_checkpoint", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_folder_is_small_and_holds_no_pickle() -> None:
    files = [path for path in CHECKPOINT.iterdir() if path.is_file()]
    assert {path.suffix for path in files} <= {".json", ".safetensors"}
    assert sum(path.stat().st_size for path in files) < 2_500_000


@pytest.mark.parametrize(
    ("head", "new"),
    [
        ("", ("pooler.",)),
        ("ForMaskedLM", ()),
        ("ForSequenceClassification", ("classifier.", "rembert.pooler.")),
        ("ForTokenClassification", ("classifier.",)),
        ("ForQuestionAnswering", ("qa_outputs.",)),
    ],
)
def test_encoder_loads_whole_under_every_head(head: str, new: tuple[str, ...]) -> None:
    """Nothing but the heads, and the pooled first token that masked-language modelling does without, is new."""
    import torch
    import transformers

    loader = getattr(transformers, f"AutoModel{head}")
    model, report = loader.from_pretrained(
        CHECKPOINT, local_files_only=True, output_loading_info=True
    )
    assert model.config.model_type == "decoupled_encoder"
    assert not report["unexpected_keys"]
    assert not report["mismatched_keys"]
    assert {key for key in report["missing_keys"] if not key.startswith(new)} == set()
    assert {value.dtype for value in model.parameters()} == {torch.float32}


def test_masked_words_are_filled_from_their_translations() -> None:
    """The masked-LM head is there, and names are told from the English sentence beside."""
    import torch
    from transformers import AutoModelForMaskedLM

    model = AutoModelForMaskedLM.from_pretrained(CHECKPOINT, local_files_only=True).eval()
    names = ["Anna", "Peter", "Maria", "Omar", "Rita", "Ivan", "David", "Victor", "Nina", "Max"]
    filled = []
    for name in names:
        inputs = tokenizer()(
            f"<mask> spricht Deutsch.</s>{name} speaks German.", return_tensors="pt"
        )
        place = int((inputs["input_ids"][0] == tokenizer().mask_token_id).nonzero())
        with torch.no_grad():
            logits = model(inputs["input_ids"]).logits[0, place]
        filled.append(tokenizer().convert_ids_to_tokens(int(logits.argmax())))
    assert sum(piece == f"▁{name}" for piece, name in zip(filled, names, strict=True)) >= 6


@pytest.mark.parametrize("language", LANGUAGES)
def test_offsets_cover_the_text_and_nothing_between_words(language: str) -> None:
    content = json.loads((DATA / f"sample_qa/test-{language}.json").read_text(encoding="utf-8"))
    for paragraph in content["data"][0]["paragraphs"]:
        context = paragraph["context"]
        offsets = tokenizer()(context, add_special_tokens=False, return_offsets_mapping=True)[
            "offset_mapping"
        ]
        covered = {place for start, end in offsets for place in range(start, end)}
        assert sorted(covered) == [place for place, char in enumerate(context) if char != " "]
        starts, ends = {start for start, _ in offsets}, {end for _, end in offsets}
        for question in paragraph["qas"]:
            for answer in question["answers"]:
                assert answer["answer_start"] in starts
                assert answer["answer_start"] + len(answer["text"]) in ends


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_the_tagging_tests_has_pieces(language: str) -> None:
    """Known ones, but for names with characters that the running text lacks."""
    known = set((DATA / f"text/{language}.txt").read_text(encoding="utf-8"))
    for task in ("sample_pos", "sample_ner"):
        content = (DATA / f"{task}/test-{language}.tsv").read_text(encoding="utf-8")
        for sentence in content.strip("\n").split("\n\n"):
            words = [row.split("\t")[0] for row in sentence.split("\n")]
            encoded = tokenizer()(words, is_split_into_words=True)
            assert {index for index in encoded.word_ids() if index is not None} == set(
                range(len(words))
            )
            if set("".join(words)) <= known:
                assert tokenizer().unk_token_id not in encoded["input_ids"]


def test_text_and_words_have_the_same_pieces() -> None:
    """Pre-training sees running text, tagging single words."""
    text = "Анна живёт в Нью-Дели. Omar Moskova'ya gidiyor. 安娜住在罗马。"
    words = ["Анна", "живёт", "в", "Нью-Дели", ".", "Omar", "Moskova'ya", "gidiyor", "."]
    words += [*"安娜住在罗马。"]
    assert (
        tokenizer()(text)["input_ids"] == tokenizer()(words, is_split_into_words=True)["input_ids"]
    )


def test_pairs_have_one_separator_and_two_types() -> None:
    encoded = tokenizer()("Anna", "Peter")
    assert tokenizer().convert_ids_to_tokens(encoded["input_ids"]) == [
        "<s>",
        "▁Anna",
        "</s>",
        "▁Peter",
        "</s>",
    ]
    assert encoded["token_type_ids"] == [0, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("question", "statement", "answer"),
    [
        ("Where does Anna live?", "Anna lives in Rome.", "in Rome"),
        ("Who lives in Rome?", "Anna lives in Rome.", "Anna"),
        ("谁住在罗马？", "安娜住在罗马。", "安娜"),
        ("Who is here?", "Who is here.", ""),
    ],
)
def test_answers_are_what_questions_lack(
    script: ModuleType, question: str, statement: str, answer: str
) -> None:
    start, end = script.news(question, statement)
    assert statement[start:end] == answer


def test_arranged_text_is_the_samples_text_and_no_sentence_of_a_test(
    script: ModuleType, tmp_path: Path
) -> None:
    """Every translated line is one of ``text/``, every passage is made of such lines, and no test sentence is there."""
    units = script.read_units(DATA / "text")
    script.arrange(units, tmp_path)
    given = {line for path in (DATA / "text").iterdir() for line in lines_of(path)}
    translated = lines_of(tmp_path / "translations.txt")
    passages = lines_of(tmp_path / "passages.txt")
    assert len(translated) == len(units) * 8 * script.TRANSLATIONS
    assert set(translated) == given - {line for line in given if line[-1] in "?？"}
    assert len(passages) % 3 == 0
    asked = {question for unit in units if unit.question for question in unit.question.values()}
    assert set(passages[::3]) <= asked
    assert all(answer in told for told, answer in zip(passages[1::3], passages[2::3], strict=True))
    tests = {line for path in (DATA / "sample_retrieval").iterdir() for line in lines_of(path)}
    for path in (DATA / "sample_nli").glob("test-*.tsv"):
        tests.update(part for row in lines_of(path) for part in row.split("\t")[:2])
    assert len(tests) > 2_000
    assert not tests & {*translated, *passages}
    told = {part for passage in passages[1::3] for part in re.split(r"(?<=[.।。])\s", passage)}
    assert told <= set(translated)


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
def test_the_same_configuration_gives_the_same_bytes(script: ModuleType, tmp_path: Path) -> None:
    """Few steps, but everything that the committed checkpoint comes from; its configuration is that of today's."""
    short = ["steps=12", "warmup_steps=2", "checkpoint_every=5"]
    for name in ("one", "two"):
        script.make(short, tmp_path / name, tmp_path / name / "made")
    made = [tmp_path / name / "made" for name in ("one", "two")]
    names = sorted(path.name for path in made[0].iterdir())
    assert names == sorted(path.name for path in CHECKPOINT.iterdir())
    for name in names:
        assert (made[0] / name).read_bytes() == (made[1] / name).read_bytes()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        assert (made[0] / name).read_bytes() == (CHECKPOINT / name).read_bytes()
    configs = [json.loads((folder / "config.json").read_text()) for folder in (made[0], CHECKPOINT)]
    assert configs[0] == {**configs[1], "transformers_version": configs[0]["transformers_version"]}
