"""Training a SentencePiece unigram vocabulary, and writing it as a fast transformers tokenizer."""

from __future__ import annotations

import hashlib
import io
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing

from xharness.data.lines import digest
from xharness.errors import InputError
from xharness.files import write_json, write_text
from xharness.pretraining.corpus import CorpusFiles, read_lines
from xharness.pretraining.sampling import language_probabilities

PAD, UNKNOWN, BEGIN, END, MASK = SPECIALS = ("<pad>", "<unk>", "<s>", "</s>", "<mask>")

#: sentencepiece leaves out lines over this many bytes, by default 4,192; it allows no more than this.
_LONGEST_LINE = 1 << 30

#: sentencepiece leaves out lines with this character, which it keeps for itself.
_RESERVED = "▅"

#: Beside the tokenizer: what it was trained from.
_RECORD = "vocabulary.json"

_CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "pad_token": PAD,
    "unk_token": UNKNOWN,
    "bos_token": BEGIN,
    "eos_token": END,
    "cls_token": BEGIN,
    "sep_token": END,
    "mask_token": MASK,
    "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
    "clean_up_tokenization_spaces": False,
}


def train_vocabulary(
    corpus: Mapping[str, CorpusFiles],
    *,
    size: int,
    alpha: float,
    lines: int,
    seed: int,
    character_coverage: float,
    threads: int,
    into: Path,
    report: Callable[[str], None],
) -> Path:
    """Train a SentencePiece unigram model and write it as a folder that ``AutoTokenizer`` opens.

    The same text, settings and number of threads give the same bytes. A folder that an equal call wrote before is
    left as it is.

    Args:
        corpus: The text; held-out text is not used.
        size: Number of pieces, special tokens included.
        alpha: Languages are sampled by ``language_probabilities`` with this exponent.
        lines: Lines to train on, at most as many as the text has. A language with fewer lines than its share has
            all of them, repeated.
        seed: Decides which lines.
        character_coverage: Share of the text's characters that get a piece, a fraction from 0.98 to 1; the others
            are unknown.
        threads: For sentencepiece.
        into: The folder; made where absent.
        report: Told in a line what is being done.

    Returns:
        ``into``.

    Raises:
        InputError: The text cannot be read, the size does not fit it, the coverage is out of range, or the folder
            cannot be written.
    """
    if not 0.98 <= character_coverage <= 1:
        raise InputError(
            f"character_coverage is {character_coverage}",
            mend="sentencepiece takes 0.98 to 1, a fraction",
        )
    settings = {
        "size": size,
        "alpha": alpha,
        "lines": lines,
        "seed": seed,
        "character_coverage": character_coverage,
        "threads": threads,
        "sentencepiece": sentencepiece.__version__,
        "text": {
            language: [digest(path) for path in files.train]
            for language, files in sorted(corpus.items())
        },
    }
    if _trained_before(into, settings):
        report(f"vocabulary: {into} is used again")
        return into
    began = time.monotonic()
    totals = {language: _count_lines(files) for language, files in sorted(corpus.items())}
    shares = language_probabilities(totals, alpha)
    wanted = min(lines, sum(totals.values()))
    sampled = {language: max(1, int(share * wanted)) for language, share in shares.items()}
    report(f"vocabulary: {size} pieces from {sum(sampled.values())} lines, {len(corpus)} languages")
    counts: Counter[str] = Counter()
    text = (
        line
        for language, files in sorted(corpus.items())
        for line in _sampled(files, totals[language], sampled[language], seed, counts)
    )
    model = _train(text, size, character_coverage, threads, into)
    _write_model(into, model)
    tokenizer = unigram_tokenizer(model).to_str(pretty=True) + "\n"
    write_json(into / "tokenizer_config.json", _CONFIG)
    write_text(into / "tokenizer.json", tokenizer)
    done = {
        "settings": settings,
        "sampled_lines": sampled,
        "lines_with_reserved_character": counts["reserved"],
        "sha256": hashlib.sha256(tokenizer.encode()).hexdigest(),
    }
    write_json(into / _RECORD, done)
    report(f"vocabulary: {size} pieces in {time.monotonic() - began:.0f} s")
    return into


def _trained_before(into: Path, settings: Mapping[str, object]) -> bool:
    try:
        done = json.loads((into / _RECORD).read_text("utf-8"))
        return (
            # Threads are no part of what is wanted: a run that goes on elsewhere keeps its tokenizer.
            {**done["settings"], "threads": None} == {**settings, "threads": None}
            and done["sha256"] == digest(into / "tokenizer.json")
            and (into / "tokenizer_config.json").is_file()
        )
    except (OSError, ValueError, KeyError, TypeError, InputError):
        return False


def _count_lines(files: CorpusFiles) -> int:
    counts: Counter[str] = Counter()
    return sum(1 for path in files.train for _ in read_lines(path, counts))


def _sampled(
    files: CorpusFiles, total: int, wanted: int, seed: int, counts: Counter[str]
) -> Iterator[str]:
    """Yield ``wanted`` of a language's ``total`` lines in their order, each about equally often."""
    random = np.random.default_rng([seed, *files.language.encode()])
    copies = np.full(total, wanted // total)
    copies[random.choice(total, wanted % total, replace=False)] += 1
    texts = (line for path in files.train for line in read_lines(path, Counter()))
    for line, times in zip(texts, copies.tolist(), strict=True):
        counts["reserved"] += times if _RESERVED in line else 0
        for _ in range(times):
            yield line


def _train(text: Iterator[str], size: int, coverage: float, threads: int, into: Path) -> bytes:
    written = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=text,
            model_writer=written,
            model_type="unigram",
            vocab_size=size,
            character_coverage=coverage,
            num_threads=threads,
            pad_id=0,
            unk_id=1,
            bos_id=2,
            eos_id=3,
            pad_piece=PAD,
            unk_piece=UNKNOWN,
            bos_piece=BEGIN,
            eos_piece=END,
            control_symbols=[MASK],
            max_sentence_length=_LONGEST_LINE,
            minloglevel=2,
        )
    except RuntimeError as error:
        message = str(error)
        if most := re.search(r"too high.*<= (\d+)", message):
            raise InputError(
                f"the text is too small for {size} pieces",
                where=into,
                mend=f"the largest possible vocabulary is {most[1]}",
            ) from error
        if least := re.search(r"smaller than required_chars\. \d+ vs (\d+)", message):
            raise InputError(
                f"{size} pieces are fewer than the text's characters",
                where=into,
                mend=f"take at least {least[1]}, or lower character_coverage",
            ) from error
        raise InputError(f"sentencepiece cannot train: {message}", where=into) from error
    return written.getvalue()


def _write_model(into: Path, model: bytes) -> None:
    path = into / "sentencepiece.model"
    aside = into / ".sentencepiece.model.partial"
    try:
        into.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(model)
        aside.replace(path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=path) from error


def unigram_tokenizer(model: bytes) -> Tokenizer:
    """Build the tokenizer that cuts text as a SentencePiece unigram model does.

    It gives other ids than sentencepiece in these cases alone: a special token written out in the text, in
    full-width letters too, is taken for that token; combining marks that are not in canonical order are put in
    order, and one after a compatibility character, such as U+FB01, is composed with that character's last letter;
    U+FFFF becomes U+FF5E; pieces of equal probability may be chosen otherwise (sentencepiece adds up in single
    precision).

    The normaliser table alone (``Precompiled``) would differ far more often: it is applied to whole grapheme
    clusters, and drops or leaves apart the combining marks of decomposed and half-width text. NFKC in front of it
    composes them as sentencepiece does, but for U+FF5E, which sentencepiece keeps and NFKC makes a tilde; it is
    hidden behind a noncharacter.

    Args:
        model: A serialised model with the five ``SPECIALS`` first.
    """
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model)
    scored = [(piece.piece, piece.score) for piece in proto.pieces]
    tokenizer = Tokenizer(
        models.Unigram(scored, unk_id=SPECIALS.index(UNKNOWN), byte_fallback=False)
    )
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace("\uff5e", "\uffff"),
            normalizers.NFKC(),
            normalizers.Replace("\uffff", "\uff5e"),
            normalizers.Precompiled(bytes(proto.normalizer_spec.precompiled_charsmap)),
            normalizers.Replace(Regex(" {2,}"), " "),
            normalizers.Replace(Regex("^ | $"), ""),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = TemplateProcessing(
        single=f"{BEGIN} $A {END}",
        pair=f"{BEGIN}:0 $A:0 {END}:0 $B:1 {END}:1",
        special_tokens=[(token, SPECIALS.index(token)) for token in (BEGIN, END)],
    )
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=False) for token in SPECIALS]
    )
    return tokenizer
