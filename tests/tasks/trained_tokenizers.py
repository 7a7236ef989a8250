"""Tokenizers of three different kinds, trained on given texts, and any of them wrapped as the kinds need it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokenizers import (
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import PreTrainedTokenizerFast

from xharness.models.tokenization import TransformersPieces

#: Sentences of this project in several scripts, enough for a vocabulary of letters and a few joins.
TEXTS = (
    "The answer stands in the third line of the long letter.",
    "Die Antwort steht in der dritten Zeile des langen Briefes, danach folgt ein Gruß.",
    "Le café est fermé depuis l'été 1999, les élèves attendent.",
    "他在1999年去世，留下三本书。",
    "उत्तर पत्र की तीसरी पंक्ति में लिखा है।",
    "الجواب مكتوب في السطر الثالث من الرسالة.",
    "คำตอบอยู่ในบรรทัดที่สามของจดหมาย",
    "답은 편지의 셋째 줄에 있다.",
)

_SQUARE = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
_ANGLE = ["<s>", "<pad>", "</s>", "<unk>"]


def wordpiece(texts: Sequence[str], size: int) -> Any:
    """BERT's kind in its hard form: lower case and accents stripped, so marks fall out of the text."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=_SQUARE, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )


def byte_level_bpe(texts: Sequence[str], size: int) -> Any:
    """RoBERTa's kind: a blank belongs to the piece after it, and a piece may hold a part of a character."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=_ANGLE,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return _xlmr_like(tokenizer)


def unigram(texts: Sequence[str], size: int) -> Any:
    """XLM-R's kind: NFKC, which makes several characters of one, and a marker before words."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    trainer = trainers.UnigramTrainer(
        vocab_size=size, special_tokens=_ANGLE, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return _xlmr_like(tokenizer)


def _xlmr_like(tokenizer: Tokenizer) -> Any:
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="<unk>",
        pad_token="<pad>",
        cls_token="<s>",
        sep_token="</s>",
        bos_token="<s>",
        eos_token="</s>",
    )


def pieces(tokenizer: Any, max_length: int = 512) -> TransformersPieces:
    """Wrap a tokenizer; token types where its template tells segments apart."""
    types = tokenizer("a", "b", return_token_type_ids=True)["token_type_ids"]
    return TransformersPieces(tokenizer, max_length, any(types))
