"""Special tokens, words as inside a sentence, and fingerprints, for tokenizers of every kind."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import ByT5Tokenizer, PreTrainedTokenizerFast

from tests.tasks.trained_tokenizers import TEXTS, byte_level_bpe, pieces, unigram, wordpiece
from xharness.errors import InputError
from xharness.models import tokenization
from xharness.models.tokenization import TransformersPieces


def fast(backend: Tokenizer, **specials: str) -> Any:
    return PreTrainedTokenizerFast(tokenizer_object=backend, **specials)


def replacing_blanks() -> Any:
    """BPE that turns blanks into a marker in the normaliser, and has no special tokens around segments."""
    backend = Tokenizer(models.BPE(unk_token="<unk>"))
    backend.normalizer = normalizers.Replace(" ", "▁")
    backend.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<pad>", "<unk>"], show_progress=False
    )
    backend.train_from_iterator(TEXTS, trainer)
    return fast(backend, unk_token="<unk>", pad_token="<pad>")


def test_template_of_wordpiece() -> None:
    template = pieces(wordpiece(TEXTS, 300)).template
    assert template.single == ((2,), (3,))
    assert template.pair == ((2,), (3,), (3,))
    assert template.pair_types == (0, 0, 0, 1, 1)
    assert (template.cls_position, template.cut_specials) == (0, 2)
    assert (template.single_specials, template.pair_specials) == (2, 3)


@pytest.mark.parametrize("make", [unigram, byte_level_bpe])
def test_template_with_two_separators(make: Any) -> None:
    made = pieces(make(TEXTS, 300))
    assert not made.uses_token_types
    template = made.template
    assert template.single == ((0,), (2,))
    assert template.pair == ((0,), (2, 2), (2,))
    assert template.pair_types == (0, 0, 0, 0, 0)
    assert (template.cls_position, template.cut_specials) == (0, 3)
    assert (template.single_specials, template.pair_specials) == (2, 4)


def test_token_types_are_left_out_for_a_model_without_them() -> None:
    made = TransformersPieces(wordpiece(TEXTS, 300), 512, uses_token_types=False)
    assert made.template.pair_types == (0, 0, 0, 0, 0)
    assert made.template.cut_specials == 2


def test_template_without_special_tokens() -> None:
    made = pieces(replacing_blanks())
    assert made.template.single == ((), ())
    assert made.template.pair == ((), (), ())
    assert made.template.cls_position == 0


@pytest.mark.parametrize("make", [wordpiece, unigram, byte_level_bpe])
def test_wrapping_pieces_gives_what_the_tokenizer_gives(make: Any) -> None:
    tokenizer = make(TEXTS, 300)
    made = pieces(tokenizer)
    first, second = (made.texts([text])[0].tolist() for text in TEXTS[:2])
    before, between, after = made.template.pair
    assert tokenizer(TEXTS[0], TEXTS[1])["input_ids"] == [
        *before, *first, *between, *second, *after,
    ]  # fmt: skip
    before, after = made.template.single
    assert tokenizer(TEXTS[0])["input_ids"] == [*before, *first, *after]


@pytest.mark.parametrize(
    "make", [wordpiece, unigram, byte_level_bpe, lambda *_: replacing_blanks()]
)
def test_words_are_cut_as_inside_a_sentence(make: Any) -> None:
    made = pieces(make(TEXTS, 400))
    sentence = "the letter stands in the third line of the long letter"
    words = sentence.split()
    found = made.words(words)
    whole = made.texts([f"x {sentence}"])[0].tolist()
    alone = made.texts(["x"])[0].tolist()
    assert [i for word in range(len(words)) for i in found[word].tolist()] == whole[len(alone) :]


def test_byte_level_words_begin_with_the_pieces_that_hold_the_blank() -> None:
    made = pieces(byte_level_bpe(TEXTS, 400))
    assert made.words(["the"])[0].tolist() == made.texts([" the"])[0].tolist()
    assert made.words(["the"])[0].tolist() != made.texts(["the"])[0].tolist()
    assert made.words(["", "the"]).lengths.tolist()[0] == 0


def test_byte_level_words_need_no_blank_where_the_tokenizer_adds_it() -> None:
    tokenizer = byte_level_bpe(TEXTS, 400)
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    made = pieces(tokenizer)
    plain = pieces(byte_level_bpe(TEXTS, 400))
    assert made.words(["the"])[0].tolist() == plain.words(["the"])[0].tolist()


def test_slow_tokenizer() -> None:
    tokenizer = ByT5Tokenizer()
    assert not tokenizer.is_fast
    made = TransformersPieces(tokenizer, 128, uses_token_types=False)
    found = made.words(["ab", "", "c"])
    # Bytes: a blank would be a piece of its own, and the word's first piece.
    assert found.lengths.tolist() == [2, 0, 1]
    before, after = made.template.single
    text = made.texts(["ab c"])[0].tolist()
    assert tokenizer("ab c")["input_ids"] == [*before, *text, *after]
    with pytest.raises(InputError, match="gives no character offsets"):
        made.texts_with_offsets(["ab"])


def test_unknown_id_is_the_unknown_token_or_else_padding() -> None:
    made = wordpiece(TEXTS, 300)
    assert pieces(made).unknown_id == made.convert_tokens_to_ids("[UNK]") == 1
    tokenizer = byte_level_bpe(TEXTS, 300)
    tokenizer.unk_token = None
    assert pieces(tokenizer).unknown_id == tokenizer.pad_token_id == 1


def test_tokenizer_that_makes_nothing_of_letters_is_refused() -> None:
    backend = Tokenizer(models.BPE())
    trainer = trainers.BpeTrainer(special_tokens=["<pad>"], show_progress=False)
    backend.train_from_iterator(["一二三"], trainer)
    with pytest.raises(InputError, match="makes nothing of the letters"):
        TransformersPieces(fast(backend, pad_token="<pad>"), 128, False)


def test_fingerprint_tells_apart_whatever_decides_the_pieces() -> None:
    # Trained once and copied: training itself breaks ties at random.
    small, large = (wordpiece(TEXTS, size).backend_tokenizer.to_str() for size in (280, 300))

    def made(backend: Tokenizer, length: int = 128, types: bool = False) -> str:
        specials = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]"}
        tokenizer = fast(backend, **specials, sep_token="[SEP]")
        return TransformersPieces(tokenizer, length, types).fingerprint

    cased, reframed = Tokenizer.from_str(large), Tokenizer.from_str(large)
    cased.normalizer = normalizers.BertNormalizer(lowercase=False)
    reframed.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] [SEP] $B [SEP]",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    original = made(Tokenizer.from_str(large))
    assert original == made(Tokenizer.from_str(large))
    others = [
        made(Tokenizer.from_str(small)),
        made(Tokenizer.from_str(large), length=64),
        made(Tokenizer.from_str(large), types=True),
        made(cased),
        made(reframed),
    ]
    assert len({original, *others}) == 6


def test_truncation_and_padding_of_the_checkpoint_are_off() -> None:
    tokenizer = wordpiece(TEXTS, 300)
    tokenizer.backend_tokenizer.enable_truncation(4)
    tokenizer.backend_tokenizer.enable_padding(length=64)
    made = pieces(tokenizer)
    lengths = made.texts([TEXTS[0], "the"]).lengths.tolist()
    assert lengths[0] > 4
    assert 0 < lengths[1] < 64


def test_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    made = pieces(unigram(TEXTS, 300))
    whole, offsets = made.texts_with_offsets(TEXTS)
    monkeypatch.setattr(tokenization, "CHUNK", 3)
    again, again_offsets = made.texts_with_offsets(TEXTS)
    assert again.values.tolist() == whole.values.tolist()
    assert again.starts.tolist() == whole.starts.tolist()
    assert again_offsets.tolist() == offsets.tolist()


def test_offsets_count_code_points() -> None:
    made = pieces(unigram((*TEXTS, "\U0001f600 the"), 400))
    text = "\U0001f600 the letter"
    found, offsets = made.texts_with_offsets([text])
    assert len(found.values) == len(offsets)
    assert offsets[0].tolist() == [0, 1]
    held = sorted({place for first, past in offsets.tolist() for place in range(first, past)})
    assert held == [0, *range(2, 5), *range(6, 12)]


def test_no_texts_make_no_pieces() -> None:
    found, offsets = pieces(unigram(TEXTS, 300)).texts_with_offsets([])
    assert len(found) == 0
    assert offsets.shape == (0, 2)
