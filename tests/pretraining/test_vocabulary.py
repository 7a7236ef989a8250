"""Trained vocabularies cut text as sentencepiece does; what is told of any tokenizer's pieces is right."""

from __future__ import annotations

import io
import json
import lzma
import random
import shutil
import unicodedata
from collections import Counter
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from tests.pretraining.small_corpus import SIZE, train
from xharness.errors import InputError
from xharness.models.tokenization import TransformersPieces
from xharness.models.tokenizer_files import follow_files
from xharness.pretraining.corpus import CorpusFiles, find_corpus
from xharness.pretraining.vocabulary import Vocabulary, load_vocabulary
from xharness.pretraining.vocabulary_training import SPECIALS, unigram_tokenizer

Corpus = dict[str, CorpusFiles]

TEXTS = [
    "Hassan is not a driver.",
    "İstanbul'da kim yaşıyor?",
    "安娜住在伊斯坦布尔。",
    "अन्ना इस्तांबुल में रहती है।",
    "Кто живёт в Стамбуле?",
    "  blanks \t and\u00a0more\u3000 ",
    "full ｗｉｄｔｈ ① ㎞ ﬁ ½",
    "half ｶﾞｷﾞ and か\u3099",
    "decomposed e\u0301 Kατα\u0301 각",
    "wave ～ 〜 ~",
    "zero\u200bwidth\u200d\ufeff \u0000 \u0085 \u2028 x",
    "👩‍👩‍👧 🇩🇪 ☃☃ ☃",
    "▁a b▁c ▁",
    "aaaaaaaaaaaaaaaaaaaaaaa",
    "ﷺ \u0e01\u0e33 \u1e9b\u0323",
    "",
    " ",
]


@pytest.fixture(scope="module")
def trained(vocabulary: Vocabulary) -> tuple[Tokenizer, Any]:
    """The written tokenizer and sentencepiece's own."""
    model = sentencepiece.SentencePieceProcessor(
        model_file=str(vocabulary.path / "sentencepiece.model")
    )
    return Tokenizer.from_file(str(vocabulary.path / "tokenizer.json")), model


def same_pieces(trained: tuple[Tokenizer, Any], text: str) -> bool:
    """Whether both cut a text alike, or into pieces of equal probability.

    sentencepiece adds scores in single precision, so its choice among equal ones may be another.
    """
    tokenizer, model = trained
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    own = model.encode(text)
    if ids == own:
        return True
    scores = [sum(model.get_score(id_) for id_ in row) for row in (ids, own)]
    return len(ids) == len(own) and scores[0] == pytest.approx(scores[1], abs=1e-4)


@pytest.mark.parametrize("text", TEXTS)
def test_ids_are_those_of_sentencepiece(trained: tuple[Tokenizer, Any], text: str) -> None:
    tokenizer, model = trained
    assert tokenizer.encode(text, add_special_tokens=False).ids == model.encode(text)


def in_canonical_order(text: str) -> bool:
    classes = [
        unicodedata.combining(mark)
        for character in text
        for mark in unicodedata.normalize("NFKD", character)
    ]
    return not any(a > b > 0 for a, b in pairwise(classes))


def marks_compatibility_characters(text: str) -> bool:
    """Whether a combining mark follows a character that NFKC replaces, as in U+FB01 U+0300."""
    return any(
        unicodedata.combining(mark) and unicodedata.decomposition(character).startswith("<")
        for character, mark in pairwise(text)
    )


def composes_over_a_mark(text: str) -> bool:
    """Whether NFKC composes a character with a mark that does not follow it at once, as in H U+094D U+0323."""
    decomposed = unicodedata.normalize("NFKD", text)
    for at, character in enumerate(decomposed):
        marks = [*takewhile(unicodedata.combining, decomposed[at + 1 :])]
        composes = [len(unicodedata.normalize("NFC", character + mark)) == 1 for mark in marks]
        if any(composes) and not composes[0]:
            return True
    return False


def test_what_composes_over_a_mark() -> None:
    assert composes_over_a_mark("H\u094d\u0323")
    assert not composes_over_a_mark("e\u0302\u0301")  # one after the other


ASSIGNED = st.text(
    st.characters(exclude_categories=["Cs", "Cn"], exclude_characters="\uffff"), max_size=30
)
KNOWN = st.text(
    st.sampled_from(sorted({c for text in TEXTS for c in text} | set("aeiounrst  ,.।"))),
    max_size=40,
)


@settings(max_examples=400)
@given(ASSIGNED | KNOWN)
def test_ids_of_any_text_are_those_of_sentencepiece(
    trained: tuple[Tokenizer, Any], text: str
) -> None:
    """Left out is where they differ: special tokens, and marks that NFKC puts in order or composes."""
    assume(in_canonical_order(text))
    assume(not marks_compatibility_characters(text))
    assume(not composes_over_a_mark(text))
    assume(not any(token in unicodedata.normalize("NFKC", text) for token in SPECIALS))
    assert same_pieces(trained, text)


@pytest.mark.parametrize(
    ("text", "ids", "own"),
    [
        ("<s>", [2], ["▁", "<unk>", "s", "<unk>"]),
        ("＜s＞", ["▁", 2], ["▁", "<unk>", "s", "<unk>"]),
        ("a\uffff", ["▁a", "～"], ["▁a", "<unk>"]),
    ],
)
def test_where_they_differ(text: str, ids: list[Any], own: list[str]) -> None:
    """Special tokens in the text, and U+FFFF, which stands in for U+FF5E on the way."""
    written = sentencepiece_model(["a～b c s d", "s ～ a"] * 20, 16)
    tokenizer = unigram_tokenizer(written)
    model = sentencepiece.SentencePieceProcessor(model_proto=written)
    expected = [id_ if isinstance(id_, int) else model.piece_to_id(id_) for id_ in ids]
    assert tokenizer.encode(text, add_special_tokens=False).ids == expected
    assert [model.id_to_piece(id_) for id_ in model.encode(text)] == own


def sentencepiece_model(lines: list[str], size: int) -> bytes:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        vocab_size=size,
        hard_vocab_limit=False,
        character_coverage=1.0,
        num_threads=1,
        pad_id=0,
        unk_id=1,
        bos_id=2,
        eos_id=3,
        unk_piece="<unk>",
        control_symbols=["<mask>"],
        minloglevel=2,
    )
    return written.getvalue()


# The folder


def test_transformers_opens_the_folder_as_a_fast_tokenizer(vocabulary: Vocabulary) -> None:
    tokenizer = AutoTokenizer.from_pretrained(str(vocabulary.path))
    assert tokenizer.is_fast
    assert len(tokenizer) == SIZE
    specials = ["pad", "unk", "bos", "eos", "cls", "sep", "mask"]
    assert {name: getattr(tokenizer, f"{name}_token_id") for name in specials} == {
        **{"pad": 0, "unk": 1, "bos": 2, "eos": 3},
        **{"cls": 2, "sep": 3, "mask": 4},
    }
    a = tokenizer("Hassan", add_special_tokens=False)["input_ids"]
    b = tokenizer("Anna wohnt", add_special_tokens=False)["input_ids"]
    assert tokenizer("Hassan")["input_ids"] == [2, *a, 3]
    pair = tokenizer("Hassan", "Anna wohnt")
    assert pair["input_ids"] == [2, *a, 3, *b, 3]
    assert pair["token_type_ids"] == [0] * (len(a) + 2) + [1] * (len(b) + 1)
    assert tokenizer.decode(a + b) == "Hassan Anna wohnt"
    anna, driver = (tokenizer(word)["input_ids"][1:-1] for word in ("Anna", "driver"))
    assert tokenizer("Anna <mask> driver")["input_ids"] == [2, *anna, 4, *driver, 3]


def test_the_harness_reads_it_like_any_checkpoint(vocabulary: Vocabulary) -> None:
    tokenizer = AutoTokenizer.from_pretrained(str(vocabulary.path))
    follow_files(tokenizer, str(vocabulary.path))
    pieces = TransformersPieces(tokenizer, 128, uses_token_types=True)
    assert pieces.unknown_id == 1
    assert pieces.template.single == ((2,), (3,))
    assert pieces.template.pair == ((2,), (3,), (3,))
    assert pieces.template.pair_types == (0, 0, 0, 1, 1)
    assert pieces.template.cut_specials == 2
    # Words alone are cut as inside the sentence.
    for sentence in ("Hassan is not a driver .", "İstanbul'da kim yaşıyor ?"):
        words = pieces.words(sentence.split())
        assert words.values.tolist() == pieces.texts([sentence])[0].tolist()
    # Character ranges are those of the text as it stands, before normalisation.
    text = "Anna  wohnt ｉｎ Istanbul"
    found, ranges = pieces.texts_with_offsets([text])
    covered = ["".join(text[a:b].split()) for a, b in ranges]
    assert "".join(covered) == "AnnawohntｉｎIstanbul"
    assert len(found[0]) == len(ranges)


def test_equal_calls_write_equal_bytes_and_another_seed_does_not(
    corpus: Corpus, tmp_path: Path
) -> None:
    def content(folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    first = content(train(corpus, tmp_path / "a", lines=500, size=400, coverage=0.98))
    again = content(train(corpus, tmp_path / "b", lines=500, size=400, coverage=0.98))
    other = content(train(corpus, tmp_path / "c", lines=500, size=400, coverage=0.98, seed=2))
    assert first == again
    assert sorted(first) == [
        "sentencepiece.model",
        "tokenizer.json",
        "tokenizer_config.json",
        "vocabulary.json",
    ]
    assert first["tokenizer.json"] != other["tokenizer.json"]


def test_an_equal_call_uses_the_folder_again_and_a_damaged_one_is_trained_anew(
    corpus: Corpus, tmp_path: Path
) -> None:
    reports: list[str] = []

    def call(size: int) -> bytes:
        folder = train(corpus, tmp_path, lines=500, size=size, coverage=0.98, report=reports.append)
        return (folder / "tokenizer.json").read_bytes()

    first = call(400)
    before = (tmp_path / "sentencepiece.model").stat().st_mtime_ns
    assert call(400) == first
    assert "used again" in reports[-1]
    assert (tmp_path / "sentencepiece.model").stat().st_mtime_ns == before
    (tmp_path / "tokenizer.json").write_bytes(first[:1000])
    assert call(400) == first
    assert "used again" not in reports[-1]
    assert call(401) != first


def test_lines_are_sampled_by_alpha_and_small_languages_repeated(tmp_path: Path) -> None:
    """900 and 100 lines are as 9 to 1, their square roots as 3 to 1, zeroth powers as 1 to 1.

    sentencepiece would leave out the last line of bb without a word.
    """
    text = tmp_path / "text"
    text.mkdir()
    for language, count, last in (("aa", 899, ""), ("bb", 99, "▅")):
        numbered = [f"{language} number {n} {'x' * (n % 7)}" for n in range(count)]
        (text / f"{language}.txt").write_text("\n".join([*numbered, f"last {last}"]))
    for alpha, lines, expected in (
        (1.0, 100, {"aa": 90, "bb": 10}),
        (0.5, 1000, {"aa": 750, "bb": 250}),
        (0.0, 10**9, {"aa": 500, "bb": 500}),
    ):
        folder = train(find_corpus(text), tmp_path / "out", size=25, alpha=alpha, lines=lines)
        record = json.loads((folder / "vocabulary.json").read_text())
        assert record["sampled_lines"] == expected
    assert record["lines_with_reserved_character"] == 5


def test_a_vocabulary_too_large_names_the_largest_which_works(
    corpus: Corpus, tmp_path: Path
) -> None:
    few = {"en": corpus["en"]}
    with pytest.raises(InputError, match="largest possible vocabulary is") as caught:
        train(few, tmp_path, size=100_000)
    largest = int(str(caught.value.mend).split()[-1])
    folder = train(few, tmp_path, size=largest)
    assert load_vocabulary(folder).size == largest
    with pytest.raises(InputError, match="largest possible"):
        train(few, tmp_path / "more", size=largest + 1)


def test_a_vocabulary_too_small_names_the_smallest_which_works(
    corpus: Corpus, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="take at least") as caught:
        train(corpus, tmp_path, size=30, coverage=1.0)
    least = int(str(caught.value.mend).split(",")[0].split()[-1])
    assert load_vocabulary(train(corpus, tmp_path, size=least, coverage=1.0)).size == least


def test_a_coverage_out_of_range(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"character_coverage is 99.95 \(.* 0.98 to 1"):
        train(corpus, tmp_path, coverage=99.95)


def test_a_folder_that_cannot_be_made(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        train(corpus, tmp_path / "file" / "vocabulary", lines=500, size=400, coverage=0.98)


# What is told of a tokenizer


def test_description_of_the_trained_vocabulary(vocabulary: Vocabulary) -> None:
    pieces = json.loads((vocabulary.path / "tokenizer.json").read_text())["model"]["vocab"]
    assert vocabulary.size == SIZE == len(pieces)
    assert (vocabulary.pad_id, vocabulary.unknown_id, vocabulary.begin_id) == (0, 1, 2)
    assert (vocabulary.end_id, vocabulary.mask_id) == (3, 4)
    assert np.flatnonzero(vocabulary.special).tolist() == [0, 1, 2, 3, 4]
    assert vocabulary.ordinary.tolist() == list(range(5, SIZE))
    starts = {piece for id_, (piece, _) in enumerate(pieces) if vocabulary.starts_word[id_]}
    expected = {
        piece for piece, _ in pieces if piece.startswith("▁") or "\u4e00" <= piece[0] <= "\u9fff"
    }
    assert starts == expected
    assert any(piece[0] != "▁" for piece in expected)


def test_the_digest_changes_with_the_tokenizer_alone(
    vocabulary: Vocabulary, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(vocabulary.path, tmp_path / "copy"))
    assert load_vocabulary(copy).sha256 == vocabulary.sha256
    state = json.loads((copy / "tokenizer.json").read_text())
    state["model"]["vocab"][7][1] -= 1.0
    (copy / "tokenizer.json").write_text(json.dumps(state))
    assert load_vocabulary(copy).sha256 != vocabulary.sha256


def word_pieces() -> Tokenizer:
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "play", "##ing", "##ed", "世"]
    backend = Tokenizer(
        models.WordPiece({token: id_ for id_, token in enumerate(tokens)}, unk_token="[UNK]")
    )
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return backend


def byte_pieces() -> Tokenizer:
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(["the the then 世界 世界 世世"] * 9, trainer)
    return backend


def saved(backend: Tokenizer, folder: Path, **tokens: str) -> Path:
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    named = {f"{name}_token": token for name, token in (names | tokens).items() if token}
    PreTrainedTokenizerFast(tokenizer_object=backend, **named).save_pretrained(str(folder))
    return folder


def test_word_pieces_begin_words_without_their_prefix(tmp_path: Path) -> None:
    vocabulary = load_vocabulary(saved(word_pieces(), tmp_path))
    assert vocabulary.starts_word.tolist() == [True] * 6 + [False, False, True]
    assert vocabulary.special.tolist() == [True] * 5 + [False] * 4
    assert (vocabulary.begin_id, vocabulary.end_id, vocabulary.unknown_id) == (2, 3, 1)


def test_byte_level_pieces_begin_words_with_a_blank_or_a_letter_of_an_unspaced_script(
    tmp_path: Path,
) -> None:
    backend = byte_pieces()
    vocabulary = load_vocabulary(saved(backend, tmp_path))
    pieces = backend.get_vocab()
    starts = {p for p, id_ in pieces.items() if vocabulary.starts_word[id_] and len(p) > 1}
    han = {p for p in pieces if backend.decode([pieces[p]])[:1] in ("世", "界")}
    assert han
    assert starts == {p for p in pieces if p.startswith("Ġ") and len(p) > 1} | han
    assert "Ġthe" in starts


def test_ids_without_a_piece_are_no_text(tmp_path: Path) -> None:
    backend = word_pieces()
    state = json.loads(backend.to_str())
    state["model"]["vocab"]["late"] = 12
    vocabulary = load_vocabulary(saved(Tokenizer.from_str(json.dumps(state)), tmp_path))
    assert vocabulary.size == 13
    assert vocabulary.ordinary.tolist() == [5, 6, 7, 8, 12]


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ({"mask": ""}, "no mask token"),
        ({"pad": ""}, "no padding token"),
        ({"cls": ""}, "no beginning .* token"),
        ({"sep": ""}, "no end .* token"),
    ],
)
def test_a_tokenizer_that_lacks_a_token(
    tmp_path: Path, tokens: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load_vocabulary(saved(word_pieces(), tmp_path, **tokens))


def test_folders_without_a_usable_tokenizer(vocabulary: Vocabulary, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such tokenizer folder"):
        load_vocabulary(tmp_path / "absent")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no usable tokenizer"):
        load_vocabulary(tmp_path / "empty")
    damaged = Path(shutil.copytree(vocabulary.path, tmp_path / "damaged"))
    content = (damaged / "tokenizer.json").read_bytes()
    (damaged / "tokenizer.json").write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match="no usable tokenizer"):
        load_vocabulary(damaged)


# Real text and a real model


@pytest.mark.shared
@pytest.mark.slow
def test_real_text_is_cut_as_by_sentencepiece(shared: Path, tmp_path: Path) -> None:
    corpus = find_corpus(shared / "data" / "pretrain")
    folder = train(corpus, tmp_path, size=6000, lines=6000)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    model = sentencepiece.SentencePieceProcessor(model_file=str(folder / "sentencepiece.model"))
    counts: Counter[str] = Counter()
    for language, files in corpus.items():
        assert files.dev is not None
        with lzma.open(files.dev, "rt", encoding="utf-8") as text:
            lines = random.Random(1).sample(text.read().splitlines(), 300)
        for form in ("NFC", "NFD", "NFKD"):
            normal = [unicodedata.normalize(form, line) for line in lines]
            encoded = tokenizer.encode_batch_fast(normal, add_special_tokens=False)
            for line, encoding, own in zip(normal, encoded, model.encode(normal), strict=True):
                assert encoding.ids == own or same_pieces((tokenizer, model), line), (
                    language,
                    line,
                )
                counts[form] += 1
    assert counts == {"NFC": 6300, "NFD": 6300, "NFKD": 6300}


@pytest.mark.shared
def test_a_real_model_s_tokenizer(shared: Path) -> None:
    """The ids are those of its tokenizer_config.json and tokenizer.json."""
    vocabulary = load_vocabulary(shared / "models" / "multilingual-e5-small-trimmed")
    assert vocabulary.size == 45300
    assert (vocabulary.begin_id, vocabulary.pad_id, vocabulary.end_id) == (0, 1, 2)
    assert (vocabulary.unknown_id, vocabulary.mask_id) == (3, 45299)
    assert np.flatnonzero(vocabulary.special).tolist() == [0, 1, 2, 3, 45299]
    assert bool(vocabulary.starts_word[6])  # the lone mark of a word's beginning
    assert not vocabulary.starts_word[4]  # a comma
