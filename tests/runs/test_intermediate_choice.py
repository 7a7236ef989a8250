"""Intermediate-task training end to end: Social IQa, then COPA, then XCOPA; LAReQA by an encoder as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console
from safetensors.torch import load_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from xharness.data.sources import FileDataSource
from xharness.errors import InputError
from xharness.inference.device import Device
from xharness.models.adapter import open_model
from xharness.records.record import Record
from xharness.records.store import read_record
from xharness.runs.display import RunDisplay
from xharness.runs.plan import RunOptions
from xharness.runs.planning import make_plan
from xharness.runs.runner import Runner
from xharness.specs.recipe import Recipe
from xharness.specs.registry import Benchmark, benchmark_of_suite, benchmark_of_tasks, load

LANGUAGES = ("et", "th")
DEVICE = Device("cpu", "float32", 2048)


def tiny_bert(folder: Path, texts: list[str]) -> Path:
    """A BERT of random weights, two blocks of width 32, with a word-piece vocabulary of the texts."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=600, special_tokens=specials)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=128,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def copa_rows(count: int) -> list[dict[str, Any]]:
    """Examples whose right choice repeats the premise's noun."""
    nouns = ["boat", "stove", "letter", "garden", "window"]
    rows = []
    for number in range(count):
        noun, other = nouns[number % 5], nouns[(number + 2) % 5]
        choices = [f"the {noun} was old", f"the {other} was old"]
        label = number % 3 % 2
        rows.append(
            {
                "premise": f"the {noun} broke",
                "choice1": choices[label],
                "choice2": choices[1 - label],
                "question": "effect" if number % 2 else "cause",
                "label": label,
                "idx": number,
            }
        )
    return rows


def social_rows(count: int) -> list[dict[str, Any]]:
    return [
        {
            "context": row["premise"],
            "question": "why",
            "answerA": row["choice1"],
            "answerB": row["choice2"],
            "answerC": "nobody knows",
            "correct": "AB"[row["label"]],
        }
        for row in copa_rows(count)
    ]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_rows(folder / "xcopa/train/socialIQa_v1.4_dev.jsonl", social_rows(24))
    write_rows(folder / "xcopa/copa.train-en.jsonl", copa_rows(24))
    write_rows(folder / "xcopa/copa.test-en.jsonl", copa_rows(10))
    write_rows(folder / "xcopa/test.et.jsonl", copa_rows(10))
    thai = [{**row, "question": "effect"} for row in copa_rows(10)]
    write_rows(folder / "xcopa/test.th.jsonl", thai)
    return folder


@pytest.fixture(scope="module")
def model(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = [json.dumps(row) for row in (*copa_rows(20), *social_rows(20))]
    return tiny_bert(tmp_path_factory.mktemp("tiny-bert"), texts)


def options(overrides: Mapping[str, Any] | None = None, **changes: Any) -> RunOptions:
    base = RunOptions(
        recipe=load(Recipe, "xtreme"),
        overrides=dict(overrides or {"epochs": 1, "learning_rate": 1e-3}),
        seeds=(1,),
        languages=LANGUAGES,
        limit=None,
        limit_train=None,
        finetune=True,
        profile="official",
        command="",
    )
    return replace(base, **changes)


def run(
    model: Path, data: Path, output: Path, benchmark: Benchmark, chosen: RunOptions
) -> list[Record]:
    adapter, source = open_model(str(model), DEVICE), FileDataSource(data)
    plan = make_plan(benchmark, adapter.describe(), source, chosen)
    with RunDisplay(Console(quiet=True), len(plan.stages())) as display:
        paths = Runner(plan, adapter, source, DEVICE, output).run(display)
    return [read_record(path) for path in paths]


def test_both_trainings_are_run_once_and_recorded(data: Path, model: Path, tmp_path: Path) -> None:
    benchmark = benchmark_of_tasks(["xcopa", "xcopa_corrected"])
    given, corrected = run(model, data, tmp_path, benchmark, options())
    stages = sorted(path.stem for path in (tmp_path / "receipts").glob("finetune_*.json"))
    assert [stage.split("-")[0] for stage in stages] == ["finetune_copa", "finetune_siqa"]
    for record in (given, corrected):
        assert {c: r.status for c, r in record.languages.items() if c in LANGUAGES} == {
            "et": "scored",
            "th": "scored",
        }
        assert record.protocol.training is not None
        (earlier,) = record.protocol.training["intermediate"]
        assert (earlier["task"], earlier["train_examples"], earlier["steps"]) == ("siqa", 24, 1)
        assert earlier["settings"]["learning_rate"] == 1e-3
        assert record.data.train_examples == 24
        assert {name for name in record.data.train if name != "note"} == {
            "xcopa/train/socialIQa_v1.4_dev.jsonl",
            "xcopa/copa.train-en.jsonl",
        }
        assert "siqa trained on dev, the train files are absent" in record.marks
    assert given.languages["th"].counts["questions_unlike_english"] == 5
    assert corrected.languages["th"].counts["corrected_questions"] == 5
    # The corrected Thai questions are the Estonian ones, and the texts of both are equal.
    predictions = tmp_path / "predictions" / "seed-1" / "xcopa_corrected"
    assert (predictions / "test-th.jsonl").read_bytes() == (
        predictions / "test-et.jsonl"
    ).read_bytes()

    times = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "receipts").iterdir()}
    again = run(model, data, tmp_path, benchmark, options())
    assert [r.content_sha256 for r in again] == [given.content_sha256, corrected.content_sha256]
    assert times == {p.name: p.stat().st_mtime_ns for p in (tmp_path / "receipts").iterdir()}


def test_the_second_training_starts_from_the_first(data: Path, model: Path, tmp_path: Path) -> None:
    """With a second training too small to move a weight, what it leaves is what the first left, head included."""
    overrides = {"epochs": 1, "siqa.learning_rate": 1e-3, "copa.learning_rate": 1e-12}
    run(model, data, tmp_path, benchmark_of_tasks(["xcopa"]), options(overrides))
    first, second = (
        load_file(next((tmp_path / "checkpoints").glob(f"{name}-*")) / "seed-1/model.safetensors")
        for name in ("siqa", "copa")
    )
    assert "classifier.weight" in first
    start = load_file(model / "model.safetensors")
    assert all(torch.allclose(first[name], second[name], atol=1e-7) for name in first)
    assert not torch.allclose(
        start["embeddings.LayerNorm.weight"], first["bert.embeddings.LayerNorm.weight"], atol=1e-5
    )


def test_the_first_training_decides_the_name_of_the_second(data: Path, model: Path) -> None:
    adapter, source = open_model(str(model), DEVICE), FileDataSource(data)
    plans = [
        make_plan(
            benchmark_of_tasks(["xcopa"]), adapter.describe(), source, options({"siqa.epochs": n})
        )
        for n in (1, 2)
    ]
    keys = [[part.training_key for part in plan.tasks[0].trainings] for plan in plans]
    assert keys[0][0] != keys[1][0]
    assert keys[0][1] != keys[1][1]
    assert plans[0].identity()["settings"]["siqa"]["epochs"] == 1


def test_a_stand_in_for_train_cannot_choose_the_checkpoint_too(data: Path, model: Path) -> None:
    adapter, source = open_model(str(model), DEVICE), FileDataSource(data)
    with pytest.raises(InputError, match="selection=last"):
        make_plan(
            benchmark_of_tasks(["xcopa"]),
            adapter.describe(),
            source,
            options({"selection": "best_dev"}),
        )


def test_a_task_that_is_only_scored_is_a_hole_of_a_run(
    data: Path, model: Path, tmp_path: Path
) -> None:
    suite = benchmark_of_suite("xtreme-r")
    suite = replace(suite, tasks=(suite.task("xcopa"), suite.task("mewslix")), overall=())
    suite = replace(suite, categories={"retrieval": ("mewslix",)})
    chosen = options(languages=None)
    xcopa, mewslix = run(model, data, tmp_path, suite, chosen)
    assert xcopa.languages["et"].status == "scored"
    assert xcopa.languages["zh"].status == "missing"
    assert mewslix.score is None
    assert "prediction files only" in str(mewslix.languages["ar"].reason)


@pytest.mark.shared
def test_published_files_in_small(shared: Path, tmp_path: Path) -> None:
    """200 examples of each training set, 20 test examples, a model that knows nothing: the path, not the figure."""
    folder = shared / "data" / "extra"
    texts = (folder / "xcopa" / "copa.train-en.jsonl").read_text(encoding="utf-8").split("\n")
    texts += (folder / "xcopa" / "test.th.jsonl").read_text(encoding="utf-8").split("\n")[:50]
    model = tiny_bert(tmp_path / "model", texts)
    chosen = options(limit=20, limit_train=200)
    (record,) = run(model, folder, tmp_path / "run", benchmark_of_tasks(["xcopa"]), chosen)
    assert record.protocol.training is not None
    assert record.protocol.training["steps"] == 7
    assert record.protocol.training["intermediate"][0]["train_examples"] == 200
    for language in LANGUAGES:
        result = record.languages[language]
        assert result.status == "scored"
        assert result.counts["examples"] == 20
    assert record.data.examples == {"et": 500, "th": 500}
    assert set(record.marks) >= {
        "trained on at most 200 examples",
        "siqa trained on dev, the train files are absent",
    }


def xquad_r(folder: Path, language: str, sentences: list[str]) -> None:
    """Write one paragraph a sentence, each the answer of a question that repeats it."""
    paragraphs = [
        {
            "context": text,
            "sentence_breaks": [[0, len(text)]],
            "qas": [{"id": f"q{n}", "question": text, "answers": [{"answer_start": 0}]}],
        }
        for n, text in enumerate(sentences)
    ]
    path = folder / "lareqa" / "xquad-r" / f"{language}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}), encoding="utf-8")


def test_lareqa_is_ranked_by_an_encoder_as_it_is(model: Path, tmp_path: Path) -> None:
    """A question that equals its answer finds it first; the other language's answer may be anywhere."""
    texts = [f"the {noun} was old" for noun in ("boat", "stove", "letter", "garden")]
    xquad_r(tmp_path / "data", "en", texts)
    xquad_r(tmp_path / "data", "de", texts)
    chosen = options({}, languages=None)
    benchmark = benchmark_of_tasks(["lareqa"])
    (record,) = run(model, tmp_path / "data", tmp_path / "run", benchmark, chosen)
    # Both languages hold the same sentences, so the two right ones come first: a perfect ranking.
    assert record.languages["en"].figures == {"map@20": pytest.approx(100)}
    assert record.languages["ar"].status == "missing"
    assert record.score is None
    ranked = json.loads(
        (tmp_path / "run/predictions/seed-1/lareqa/test-en.json").read_text(encoding="utf-8")
    )
    assert ranked["q0_en"][:2] == ["de_1_0", "en_1_0"]
    assert any("no candidates in ar, el" in mark for mark in record.marks)
