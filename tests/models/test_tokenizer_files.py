"""The checkpoint's tokenizer files decide how text is cut, whatever transformers' own class would do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from tokenizers import Tokenizer

from xharness.inference.progress import Silent
from xharness.models.adapter import open_model
from xharness.models.checkpoints import load_config, load_tokenizer, max_positions

from .tiny_checkpoints import FAMILIES, SENTENCES
from .tiny_tasks import PAIRS, WIDE, pairs, settings

Checkpoint = Callable[[str], Path]
ODD = (
    "the ﬁre，ｔｈｅ　bridge",
    "two  blanks   here",
    " ½ ㎞ ",
    "l'eau «x»",
    "e\u0301té",
    "👩‍👩‍👧",
    "",
)


def load(folder: Path) -> tuple[Any, Any]:
    return load_tokenizer(str(folder), load_config(str(folder)))


@pytest.mark.parametrize("family", FAMILIES)
def test_texts_are_cut_as_tokenizer_json_says(family: str, checkpoint: Checkpoint) -> None:
    file = Tokenizer.from_file(str(checkpoint(family) / "tokenizer.json"))
    _, pieces = load(checkpoint(family))
    texts = [*SENTENCES, *ODD]
    found, ranges = pieces.texts_with_offsets(texts)
    expected = [file.encode(text, add_special_tokens=False) for text in texts]
    assert [found[i].tolist() for i in range(len(texts))] == [e.ids for e in expected]
    assert ranges.tolist() == [list(offset) for e in expected for offset in e.offsets]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_fine_tuned_checkpoint_cuts_alike(
    family: str, checkpoint: Checkpoint, tmp_path: Path
) -> None:
    adapter = open_model(str(checkpoint(family)), WIDE)
    adapter.finetune(PAIRS, pairs(), None, settings(epochs=1), 1, tmp_path, Silent())
    _, before = load(checkpoint(family))
    _, after = load(tmp_path)
    texts = [*SENTENCES, *ODD]
    for cut in ("texts", "words"):
        a, b = getattr(before, cut)(texts), getattr(after, cut)(texts)
        assert a.values.tolist() == b.values.tolist()
        assert a.starts.tolist() == b.starts.tolist()
    assert after.template == before.template
    assert after.uses_token_types == before.uses_token_types == FAMILIES[family].token_types
    assert after.max_length == before.max_length


def test_nfkc_of_a_sentencepiece_model_is_kept(tmp_path: Path) -> None:
    """mDeBERTa's checkpoint has a sentencepiece model and no tokenizer.json."""
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_prefix=str(tmp_path / "spm"),
        vocab_size=260,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
        pad_id=0,
        bos_id=1,
        eos_id=2,
        unk_id=3,
        pad_piece="[PAD]",
        bos_piece="[CLS]",
        eos_piece="[SEP]",
        unk_piece="[UNK]",
        user_defined_symbols=["[MASK]"],
    )
    (tmp_path / "spm.vocab").unlink()
    config = {"model_type": "deberta-v2", "type_vocab_size": 0}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    tokenizer, pieces = load(tmp_path)
    assert type(tokenizer).__name__ == "DebertaV2Tokenizer"
    model = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "spm.model"))
    texts = [*SENTENCES, "the ﬁre，ｔｈｅ bridge"]
    found = pieces.texts(texts)
    assert [found[i].tolist() for i in range(len(texts))] == [model.encode(t) for t in texts]


def test_tokens_that_the_configuration_adds_are_kept(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(checkpoint("bert"), tmp_path / "added"))
    path = folder / "tokenizer_config.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, "pad_token": "[FILL]"}), encoding="utf-8")
    size = Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab_size()
    tokenizer, _ = load(folder)
    assert (tokenizer.pad_token, tokenizer.pad_token_id) == ("[FILL]", size)


def test_token_types_are_left_out_where_the_checkpoint_says_so(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(checkpoint("bert"), tmp_path / "without"))
    path = folder / "tokenizer_config.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["model_input_names"] = ["input_ids", "attention_mask"]
    path.write_text(json.dumps(content), encoding="utf-8")
    assert load(checkpoint("bert"))[1].uses_token_types
    assert not load(folder)[1].uses_token_types


@pytest.mark.parametrize(
    ("model_type", "positions", "model_max", "expected"),
    [
        ("bert", 512, 512, 512),
        ("bert", 512, 256, 256),
        ("xlm-roberta", 514, 512, 512),
        ("xlm-roberta", 514, int(1e30), 512),
        ("luke", 514, int(1e30), 512),
        ("bert", None, int(1e30), 1_000_000),
    ],
)
def test_the_longest_window(
    model_type: str, positions: int | None, model_max: int, expected: int
) -> None:
    class Some:
        max_position_embeddings = positions
        pad_token_id = 1
        model_max_length = model_max

    Some.model_type = model_type  # type: ignore[attr-defined]
    assert max_positions(Some, Some) == expected


def test_language_embeddings_are_noted(tmp_path: Path) -> None:
    from .tiny_checkpoints import make_checkpoint

    folder = make_checkpoint("xlm", tmp_path / "languages", n_langs=3, use_lang_emb=True)
    assert "language embeddings not given" in open_model(str(folder), WIDE).describe().notes
