"""The committed sample checkpoint: safe to load, small, and true to the text it tokenises."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from xharness.sample import CHECKPOINT, DATA
from xharness.sample.grammar import LANGUAGES


@cache
def tokenizer() -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(CHECKPOINT, local_files_only=True)


def test_folder_is_small_and_holds_no_pickle() -> None:
    files = [path for path in CHECKPOINT.iterdir() if path.is_file()]
    assert {path.suffix for path in files} <= {".json", ".safetensors"}
    assert sum(path.stat().st_size for path in files) < 3_000_000


@pytest.mark.parametrize(
    "head", ["", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"]
)
def test_encoder_loads_whole_under_every_head(head: str) -> None:
    import torch
    import transformers

    loader = getattr(transformers, f"AutoModel{head}")
    model, report = loader.from_pretrained(
        CHECKPOINT, local_files_only=True, output_loading_info=True
    )
    assert all(key.startswith("pooler.") for key in report["unexpected_keys"])
    assert all(key.startswith(("classifier", "qa_outputs")) for key in report["missing_keys"])
    assert {value.dtype for value in model.parameters()} == {torch.float32}


@pytest.mark.parametrize("language", LANGUAGES)
def test_offsets_cover_the_text_and_nothing_between_words(language: str) -> None:
    content = json.loads((DATA / f"sample_qa/test-{language}.json").read_text(encoding="utf-8"))
    for paragraph in content["data"][0]["paragraphs"]:
        context = paragraph["context"]
        offsets = tokenizer()(context, add_special_tokens=False, return_offsets_mapping=True)[
            "offset_mapping"
        ]
        covered = [place for start, end in offsets for place in range(start, end)]
        assert covered == [place for place, char in enumerate(context) if char != " "]
        starts, ends = {start for start, _ in offsets}, {end for _, end in offsets}
        for question in paragraph["qas"]:
            for answer in question["answers"]:
                assert answer["answer_start"] in starts
                assert answer["answer_start"] + len(answer["text"]) in ends


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_the_tagging_tests_has_pieces(language: str) -> None:
    for task in ("sample_pos", "sample_ner"):
        content = (DATA / f"{task}/test-{language}.tsv").read_text(encoding="utf-8")
        for sentence in content.strip("\n").split("\n\n"):
            words = [row.split("\t")[0] for row in sentence.split("\n")]
            encoded = tokenizer()(words, is_split_into_words=True)
            assert {index for index in encoded.word_ids() if index is not None} == set(
                range(len(words))
            )


def test_pairs_are_framed_as_xlm_r_frames_them() -> None:
    encoded = tokenizer()("Anna", "Rome")
    tokens = tokenizer().convert_ids_to_tokens(encoded["input_ids"])
    assert [token for token in tokens if token in ("<s>", "</s>")] == [
        "<s>",
        "</s>",
        "</s>",
        "</s>",
    ]
    assert encoded.sequence_ids()[0] is None
    assert "token_type_ids" not in encoded
