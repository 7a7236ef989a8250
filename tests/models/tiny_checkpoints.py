"""Tiny checkpoints with random weights and a tokenizer of their own, one for each family of encoders.

Each folder looks as on the hub: ``config.json``, ``model.safetensors``, ``tokenizer.json`` and
``tokenizer_config.json`` naming the family's tokenizer class. Vocabularies come from ``SENTENCES``.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from sentencepiece import sentencepiece_model_pb2
from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import AutoConfig, AutoModel

LAYERS = 3
WIDTH = 32
#: Pieces in a window, special tokens included, that every tiny model takes.
POSITIONS = 80
VOCABULARY = 400

SENTENCES = (
    "The old boat waits at the stone bridge near the market.",
    "Two children buy warm bread and three red apples every morning.",
    "Das alte Boot wartet an der steinernen Brücke beim Markt.",
    "Zwei Kinder kaufen jeden Morgen warmes Brot und drei rote Äpfel.",
    "El viejo barco espera junto al puente de piedra, cerca del mercado.",
    "Dos niños compran pan caliente y tres manzanas rojas cada mañana.",
    "Старая лодка ждёт у каменного моста возле рынка.",
    "Двое детей каждое утро покупают тёплый хлеб и три красных яблока.",
    "旧船停在市场旁边的石桥下。",
    "两个孩子每天早上买热面包和三个红苹果。",
    "القارب القديم ينتظر عند الجسر الحجري قرب السوق.",
    "Mtoto ananunua mkate na tufaha tatu kila asubuhi sokoni.",
    "Who waits at the bridge? When did Maria leave the harbour in 1987?",
    "Maria left the harbour in 1987 and Tomas stayed in Lisbon until 2004.",
)


@dataclass(frozen=True)
class Family:
    """How a family's tiny checkpoint is made.

    Attributes:
        model_type: Name that ``AutoConfig`` knows.
        tokenizer_class: Name in ``tokenizer_config.json``.
        tokenizer: Trains the tokenizer.
        specials: Special tokens by role.
        config: Configuration beside the sizes that all share.
        token_types: Whether the model is given token types.
        question_head: Name of the question answering head.
        sizes: Names that the family gives to the sizes.
    """

    model_type: str
    tokenizer_class: str
    tokenizer: Callable[[], Tokenizer]
    specials: dict[str, str]
    config: dict[str, Any] = field(default_factory=dict)
    token_types: bool = False
    question_head: str = "ForQuestionAnswering"
    sizes: dict[str, str] = field(default_factory=dict)


#: Special tokens that a configuration names, and the tokenizer's token that each is.
ROLES = {"pad": "pad", "cls": "cls", "sep": "sep", "bos": "cls", "eos": "sep"}

BERT_SPECIALS = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
ROBERTA_SPECIALS = {
    "bos_token": "<s>",
    "pad_token": "<pad>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "cls_token": "<s>",
    "sep_token": "</s>",
    "mask_token": "<mask>",
}
REMBERT_SPECIALS = {
    "pad_token": "<pad>",
    "unk_token": "<unk>",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
XLM_SPECIALS = {
    "bos_token": "<s>",
    "cls_token": "</s>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "unk_token": "<unk>",
    "mask_token": "<special1>",
}


def _framed(tokenizer: Tokenizer, single: str, pair: str, specials: dict[str, str]) -> Tokenizer:
    ids = {token: tokenizer.token_to_id(token) for token in specials.values()}
    used = [(token, i) for token, i in ids.items() if token in pair or token in single]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=used
    )
    return tokenizer


def characters() -> list[str]:
    """Every character of the sentences but the blank."""
    return sorted({character for sentence in SENTENCES for character in sentence} - {" "})


def short_words() -> list[str]:
    """The words of up to five characters, punctuation left on."""
    return sorted({word for sentence in SENTENCES for word in sentence.split() if len(word) <= 5})


def word_piece() -> Tokenizer:
    """WordPiece of characters and short words that keeps case and accents, framed as BERT frames it.

    Here as in the Unigram models the vocabulary is listed: the library's trainers break ties at random.
    """
    pieces = [*BERT_SPECIALS.values(), *characters(), *(f"##{c}" for c in characters())]
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys([*pieces, *short_words()]))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return _framed(
        tokenizer,
        "[CLS]:0 $A:0 [SEP]:0",
        "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        BERT_SPECIALS,
    )


@cache
def nfkc_table() -> bytes:
    """Sentencepiece's NFKC table, the form in which XLM-R's kind of tokenizer carries its normaliser."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=model,
        vocab_size=200,
        hard_vocab_limit=False,
        normalization_rule_name="nmt_nfkc",
        minloglevel=2,
        num_threads=1,
    )
    parsed = sentencepiece_model_pb2.ModelProto()
    parsed.ParseFromString(model.getvalue())
    return bytes(parsed.normalizer_spec.precompiled_charsmap)


def _unigram(specials: list[str], unknown: str) -> Tokenizer:
    """Unigram whose words are likelier than the characters that they are made of."""
    pieces = [(special, 0.0) for special in specials]
    pieces += [("▁", -6.0), *((f"▁{word}", -5.0) for word in short_words())]
    pieces += [(character, -8.0) for character in characters()]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=specials.index(unknown)))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Precompiled(nfkc_table()), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def xlm_r_unigram() -> Tokenizer:
    """Unigram with two separators between the segments, as XLM-R frames them."""
    tokenizer = _unigram(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], "<unk>")
    return _framed(tokenizer, "<s> $A </s>", "<s> $A </s> </s> $B </s>", ROBERTA_SPECIALS)


def rembert_unigram() -> Tokenizer:
    """Unigram with token types."""
    tokenizer = _unigram(["<pad>", "</s>", "<unk>", "[CLS]", "[SEP]", "[MASK]"], "<unk>")
    return _framed(
        tokenizer,
        "[CLS]:0 $A:0 [SEP]:0",
        "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        REMBERT_SPECIALS,
    )


def deberta_unigram() -> Tokenizer:
    """Unigram in mDeBERTa's order of special tokens."""
    tokenizer = _unigram(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"], "[UNK]")
    return _framed(
        tokenizer,
        "[CLS]:0 $A:0 [SEP]:0",
        "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        BERT_SPECIALS,
    )


def xlm_merges() -> tuple[list[str], list[tuple[str, str]]]:
    """Pieces and merges of a lower-cased BPE with an end-of-word suffix; short words become one piece."""
    alphabet = sorted({c.lower() for c in characters()})
    pieces = ["<s>", "</s>", "<pad>", "<unk>", "<special0>", "<special1>"]
    pieces += [*alphabet, *(f"{c}</w>" for c in alphabet)]
    merges: list[tuple[str, str]] = []
    for word in short_words():
        symbols = [*word.lower()[:-1], f"{word.lower()[-1]}</w>"]
        for end in range(1, len(symbols)):
            merges.append(("".join(symbols[:end]), symbols[end]))
            pieces.append("".join(symbols[: end + 1]))
    return list(dict.fromkeys(pieces)), list(dict.fromkeys(merges))


def xlm_bpe() -> Tokenizer:
    """BPE with an end-of-word suffix, as XLM's, in the form of the tokenizers library."""
    pieces, merges = xlm_merges()
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    tokenizer = Tokenizer(
        models.BPE(vocabulary, merges, unk_token="<unk>", end_of_word_suffix="</w>")
    )
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.BPEDecoder()
    return _framed(tokenizer, "</s> $A </s>", "</s> $A </s> $B </s>", XLM_SPECIALS)


def byte_bpe() -> Tokenizer:
    """Byte-level BPE without a blank before the first word, as ModernBERT's."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(BERT_SPECIALS.values()),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return _framed(tokenizer, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", BERT_SPECIALS)


FAMILIES: dict[str, Family] = {
    "bert": Family("bert", "BertTokenizer", word_piece, BERT_SPECIALS, token_types=True),
    "xlm-roberta": Family(
        "xlm-roberta",
        "XLMRobertaTokenizer",
        xlm_r_unigram,
        ROBERTA_SPECIALS,
        # Positions begin after the padding index.
        {"type_vocab_size": 1, "max_position_embeddings": POSITIONS + 2},
    ),
    "rembert": Family(
        "rembert",
        "RemBertTokenizer",
        rembert_unigram,
        REMBERT_SPECIALS,
        {"input_embedding_size": 16, "output_embedding_size": 48, "classifier_dropout_prob": 0.0},
        token_types=True,
    ),
    "deberta-v2": Family(
        "deberta-v2",
        "DebertaV2Tokenizer",
        deberta_unigram,
        BERT_SPECIALS,
        {
            "type_vocab_size": 0,
            "relative_attention": True,
            "position_buckets": 16,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
            "pos_att_type": ["p2c", "c2p"],
            "position_biased_input": False,
            "pooler_dropout": 0.0,
        },
    ),
    "xlm": Family(
        "xlm",
        "PreTrainedTokenizerFast",
        xlm_bpe,
        XLM_SPECIALS,
        {
            "dropout": 0.0,
            "attention_dropout": 0.0,
            "summary_first_dropout": 0.0,
            "embed_init_std": 0.05,
        },
        question_head="ForQuestionAnsweringSimple",
        sizes={"hidden_size": "emb_dim", "num_hidden_layers": "n_layers", "heads": "n_heads"},
    ),
    "distilbert": Family(
        "distilbert",
        "DistilBertTokenizer",
        word_piece,
        BERT_SPECIALS,
        {
            "hidden_dim": 2 * WIDTH,
            "dropout": 0.0,
            "attention_dropout": 0.0,
            "seq_classif_dropout": 0.0,
            "qa_dropout": 0.0,
        },
        sizes={"hidden_size": "dim", "num_hidden_layers": "n_layers", "heads": "n_heads"},
    ),
    "modernbert": Family(
        "modernbert",
        "PreTrainedTokenizerFast",
        byte_bpe,
        BERT_SPECIALS,
        {"global_attn_every_n_layers": 2, "local_attention": 16},
    ),
    "xlm-roberta-xl": Family(
        "xlm-roberta-xl",
        "XLMRobertaTokenizer",
        xlm_r_unigram,
        ROBERTA_SPECIALS,
        {"type_vocab_size": 1, "max_position_embeddings": POSITIONS + 2},
    ),
}


def write_tokenizer(family: Family, folder: Path) -> Tokenizer:
    """Write a family's tokenizer files and return the tokenizer."""
    tokenizer = family.tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    settings: dict[str, Any] = {"tokenizer_class": family.tokenizer_class, **family.specials}
    # Casing flags that the classes of BERT's kind read on loading.
    settings |= {"do_lower_case": False, "strip_accents": False, "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return tokenizer


def config_of(family: Family, tokenizer: Tokenizer, **changes: Any) -> Any:
    """Return a family's tiny configuration; no dropout, wide initial weights so that outputs differ."""
    sizes = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "heads": 2}
    named = {
        family.sizes.get(name, "num_attention_heads" if name == "heads" else name): size
        for name, size in sizes.items()
    }
    values = {
        **named,
        "vocab_size": tokenizer.get_vocab_size(),
        "intermediate_size": 2 * WIDTH,
        "max_position_embeddings": POSITIONS,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "initializer_range": 0.1,
        **{
            f"{role}_token_id": tokenizer.token_to_id(family.specials[f"{like}_token"])
            for role, like in ROLES.items()
        },
        **family.config,
        **changes,
    }
    return AutoConfig.for_model(family.model_type, **values)


def make_checkpoint(name: str, folder: Path, head: Any = AutoModel, **changes: Any) -> Path:
    """Write a family's tiny checkpoint.

    Args:
        name: Key of ``FAMILIES``.
        folder: Where; made where absent.
        head: Auto class of the model.
        changes: Configuration changes.
    """
    family = FAMILIES[name]
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = write_tokenizer(family, folder)
    with torch.random.fork_rng():
        torch.manual_seed(7)
        model = head.from_config(config_of(family, tokenizer, **changes))
    # Norm and bias parameters away from 1 and 0, or a norm laid twice over a state would not be seen.
    generator = torch.Generator().manual_seed(8)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter += 0.2 * torch.randn(parameter.shape, generator=generator)
    model.save_pretrained(folder)
    return folder
