"""The joint SentencePiece vocabulary of both languages, on which three-way tying rests."""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sentencepiece

from xharness.errors import InputError
from xharness.files import unwritable, write_json, written_aside
from xharness.translation.config import VocabularySettings

PAD, UNKNOWN, BEGIN, END = range(4)

_MODEL, _RECORD = "sentencepiece.model", "vocabulary.json"

#: Bytes of a line that sentencepiece would otherwise leave out.
_LONGEST_LINE = 2**30


@dataclass(frozen=True)
class JointVocabulary:
    """Pieces of both languages.

    Attributes:
        size: Number of pieces.
        sha256: Of the model's file.
        processor: SentencePiece's own.
    """

    size: int
    sha256: str
    processor: Any

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the pieces of each sentence, without begin and end."""
        pieces: list[list[int]] = self.processor.encode(list(sentences))
        return pieces

    def decode(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """Return the text of each row of pieces, detokenised; special pieces have none."""
        texts: list[str] = self.processor.decode([[int(piece) for piece in row] for row in rows])
        return texts


def train_vocabulary(
    sentences: Iterable[str], settings: VocabularySettings, into: Path, threads: int = 1
) -> JointVocabulary:
    """Train a vocabulary and keep it in a folder; one that an equal call left there is used again.

    Text is taken as it is, without Unicode normalisation, so that translations can equal raw references.

    Args:
        sentences: Of both languages.
        settings: What to train.
        into: The folder; made where absent.
        threads: For sentencepiece; the result does not depend on them.

    Raises:
        InputError: The size does not fit the text, or the folder cannot be written.
    """
    texts = list(sentences)
    wanted = {
        **settings.model_dump(),
        "text": hashlib.sha256("\n".join(texts).encode()).hexdigest(),
        "sentencepiece": sentencepiece.__version__,
    }
    if (found := _trained_before(into, wanted)) is not None:
        return found
    written = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=written,
            model_type=settings.model_type,
            vocab_size=settings.size,
            character_coverage=1.0,
            normalization_rule_name="identity",
            num_threads=threads,
            max_sentence_length=_LONGEST_LINE,
            pad_id=PAD,
            unk_id=UNKNOWN,
            bos_id=BEGIN,
            eos_id=END,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise _unfit(str(error), settings, into) from error
    model = written.getvalue()
    _write_model(into / _MODEL, model)
    write_json(into / _RECORD, {"settings": wanted, "sha256": hashlib.sha256(model).hexdigest()})
    return _opened(model)


def _unfit(message: str, settings: VocabularySettings, into: Path) -> InputError:
    if most := re.search(r"(?:too high|too large).*?<= ?(\d+)", message):
        return InputError(
            f"the text is too small for {settings.size} pieces",
            where=into,
            mend=f"vocabulary.size can be {most[1]} at most",
        )
    if least := re.search(r"required_chars\. \d+ vs (\d+)", message):
        return InputError(
            f"{settings.size} pieces are fewer than the text's characters",
            where=into,
            mend=f"vocabulary.size must be {least[1]} at least",
        )
    return InputError(
        f"sentencepiece cannot train {settings.size} pieces: {' '.join(message.split())}",
        where=into,
        mend="change vocabulary.size",
    )


def _trained_before(folder: Path, wanted: dict[str, Any]) -> JointVocabulary | None:
    try:
        record = json.loads((folder / _RECORD).read_text("utf-8"))
        model = (folder / _MODEL).read_bytes()
        if record["settings"] != wanted or record["sha256"] != hashlib.sha256(model).hexdigest():
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return _opened(model)


def _opened(model: bytes) -> JointVocabulary:
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return JointVocabulary(processor.vocab_size(), hashlib.sha256(model).hexdigest(), processor)


def _write_model(path: Path, model: bytes) -> None:
    try:
        with written_aside(path) as aside:
            aside.write_bytes(model)
    except OSError as error:
        raise unwritable(path, error) from error
