"""Tokenizers with small vocabularies, of the three families whose normalisers and offsets differ."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase, digits

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from xharness.models.tokenization import TransformersPieces

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
CHARACTERS = [*ascii_lowercase, *ascii_uppercase, *digits, *"在年去世他.,;:!?'\"#…⁄"]


def _pieces(tokenizer: Tokenizer, length: int) -> TransformersPieces:
    ids = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ids
    )
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )
    return TransformersPieces(wrapped, length, False)


def bert_pieces(
    words: Sequence[str] = (), length: int = 512, *, lowercase: bool = False
) -> TransformersPieces:
    """BERT: its normaliser drops control characters, WordPiece of single characters and the given words."""
    vocabulary = [*SPECIALS, *words, *CHARACTERS, *(f"##{c}" for c in CHARACTERS)]
    numbers = {piece: i for i, piece in enumerate(dict.fromkeys(vocabulary))}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return _pieces(tokenizer, length)


def unigram_pieces(length: int = 512) -> TransformersPieces:
    """XLM-R's kind: NFKC, blanks as ``▁``, Unigram of single characters."""
    scores = [(piece, 0.0) for piece in SPECIALS] + [("▁", -2.0)]
    scores += [(character, -3.0) for character in CHARACTERS]
    tokenizer = Tokenizer(models.Unigram(scores, unk_id=1))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return _pieces(tokenizer, length)


def byte_pieces(length: int = 512) -> TransformersPieces:
    """ModernBERT's kind: single bytes, the blank before a word its first."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    numbers = {piece: i for i, piece in enumerate([*SPECIALS, *alphabet])}
    tokenizer = Tokenizer(models.BPE(numbers, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return _pieces(tokenizer, length)


FAMILIES = {
    "bert": bert_pieces,
    "bert-uncased": lambda: bert_pieces(lowercase=True),
    "unigram": unigram_pieces,
    "bytes": byte_pieces,
}
