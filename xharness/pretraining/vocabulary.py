"""What pre-training knows of a tokenizer: its special tokens, and which pieces begin a word."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from xharness.errors import InputError

#: Names of letters of scripts written without blanks begin so. Their pieces each count as a word, or a whole sentence
#: would be one.
_UNSPACED = ("CJK ", "HIRAGANA ", "KATAKANA", "THAI ", "LAO ", "KHMER ", "MYANMAR ")


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What the pieces of a tokenizer are.

    Attributes:
        path: The tokenizer's folder.
        size: One more than the largest id.
        pad_id, begin_id, end_id, mask_id: Special tokens; the begin and end of a row may be called ``[CLS]`` and
            ``[SEP]``.
        unknown_id: ``None`` where every text has pieces, as for byte-level tokenizers.
        starts_word: (size,), whether a piece begins a word.
        special: (size,), whether an id is no piece of text: special tokens and ids without a piece.
        sha256: Of ``tokenizer_json``.
        tokenizer_json: The whole tokenizer, as the tokenizers library writes it.
    """

    path: Path
    size: int
    pad_id: int
    unknown_id: int | None
    begin_id: int
    end_id: int
    mask_id: int
    starts_word: npt.NDArray[np.bool_]
    special: npt.NDArray[np.bool_]
    sha256: str
    tokenizer_json: str = field(repr=False)

    @cached_property
    def ordinary(self) -> npt.NDArray[np.int64]:
        """Ids of the pieces of text."""
        return np.flatnonzero(~self.special)


def load_vocabulary(folder: Path) -> Vocabulary:
    """Open a tokenizer folder, the same way as the harness does for fine-tuning.

    Raises:
        InputError: The folder holds no fast transformers tokenizer, or it lacks a token that masked language
            modelling needs.
    """
    from transformers import AutoTokenizer

    from xharness.models.tokenizer_files import follow_files

    if not folder.is_dir():
        raise InputError("no such tokenizer folder", where=folder)
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            str(folder), trust_remote_code=False, local_files_only=True
        )
        if tokenizer.is_fast:
            follow_files(tokenizer, str(folder))
    except Exception as error:  # tokenizers raises bare Exception for a damaged file
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise InputError(f"no usable tokenizer: {reason}", where=folder) from error
    if not tokenizer.is_fast:
        raise InputError(
            f"{type(tokenizer).__name__} is slow",
            where=folder,
            mend="save it as a fast tokenizer (tokenizer.json)",
        )
    backend: Tokenizer = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    return _described(folder, tokenizer, backend)


def _described(folder: Path, tokenizer: Any, backend: Tokenizer) -> Vocabulary:
    pieces = backend.get_vocab(with_added_tokens=True)
    size = max(pieces.values()) + 1
    added = {id_ for id_, token in tokenizer.added_tokens_decoder.items() if token.special}
    special = np.ones(size, np.bool_)
    special[list(pieces.values())] = False
    special[sorted(added | set(tokenizer.all_special_ids))] = True
    if special.all():
        raise InputError("the tokenizer has no pieces but special tokens", where=folder)
    ids = {
        "padding": tokenizer.pad_token_id,
        "beginning (cls or bos)": _first(tokenizer.cls_token_id, tokenizer.bos_token_id),
        "end (sep or eos)": _first(tokenizer.sep_token_id, tokenizer.eos_token_id),
        "mask": tokenizer.mask_token_id,
    }
    for name, id_ in ids.items():
        if id_ is None:
            raise InputError(
                f"the tokenizer has no {name} token",
                where=folder,
                mend="masked language modelling needs one: name it in tokenizer_config.json",
            )
    pad, begin, end, mask = (int(id_) for id_ in ids.values() if id_ is not None)
    content = backend.to_str()
    return Vocabulary(
        path=folder,
        size=size,
        pad_id=pad,
        unknown_id=tokenizer.unk_token_id,
        begin_id=begin,
        end_id=end,
        mask_id=mask,
        starts_word=_word_starts(backend, pieces, size),
        special=special,
        sha256=hashlib.sha256(content.encode()).hexdigest(),
        tokenizer_json=content,
    )


def _first(*ids: int | None) -> int | None:
    return next((id_ for id_ in ids if id_ is not None), None)


def _word_starts(backend: Tokenizer, pieces: Mapping[str, int], size: int) -> npt.NDArray[np.bool_]:
    """Tell pieces that begin a word from those that go on with one, by the mark of the tokenizer's kind.

    Where pieces bear no mark at all, each counts as a word.
    """
    model = json.loads(backend.to_str())["model"]
    prefix = model.get("continuing_subword_prefix") if model["type"] == "WordPiece" else None
    byte_level = any(piece.startswith("Ġ") for piece in pieces) and "ByteLevel" in repr(
        backend.pre_tokenizer
    )
    mark = "Ġ" if byte_level else "▁"
    marked = any(piece.startswith(mark) for piece in pieces)
    starts = np.zeros(size, np.bool_)
    for piece, id_ in pieces.items():
        text = backend.decode([id_], skip_special_tokens=False) if byte_level else piece
        begins = piece.startswith(mark) or not marked
        if prefix:
            begins = not piece.startswith(prefix)
        starts[id_] = begins or _unspaced(text)
    return starts


def _unspaced(piece: str) -> bool:
    return piece[:1].isalpha() and unicodedata.name(piece[0], "").startswith(_UNSPACED)
