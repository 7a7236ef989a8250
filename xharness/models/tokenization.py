"""Any transformers tokenizer as the ``PieceTokenizer`` that the kinds work with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

import numpy as np
import numpy.typing as npt

from xharness.errors import InputError
from xharness.tasks.pieces import Ragged, Template

#: Texts handed to the tokenizer at one time; bounds memory, not results.
CHUNK = 4096


class TransformersPieces:
    """Pieces of a transformers tokenizer, fast or slow.

    The fast path drives the tokenizers library directly: no Python object per token is made.

    Args:
        tokenizer: A ``PreTrainedTokenizerBase``.
        max_length: Longest window the model takes.
        uses_token_types: Whether the model is given token types.

    Raises:
        InputError: The tokenizer makes nothing of plain letters, so its special tokens cannot be told apart.
    """

    def __init__(self, tokenizer: Any, max_length: int, uses_token_types: bool):
        self._tokenizer = tokenizer
        self._backend = tokenizer.backend_tokenizer if tokenizer.is_fast else None
        if self._backend is not None:
            self._backend.no_truncation()
            self._backend.no_padding()
        self.max_length = max_length
        self.uses_token_types = uses_token_types
        self.template = _template(tokenizer, uses_token_types)
        unknown = tokenizer.unk_token_id
        self.unknown_id = int(unknown if unknown is not None else tokenizer.pad_token_id or 0)
        self.fingerprint = self._fingerprint()
        self._blank_before_words = self._needs_blank()

    def _fingerprint(self) -> str:
        if self._backend is not None:
            content = self._backend.to_str()
        else:
            content = json.dumps(self._tokenizer.get_vocab(), sort_keys=True)
        described = [type(self._tokenizer).__name__, content, repr(self.template)]
        described += [str(self.max_length), str(self.uses_token_types)]
        return hashlib.sha256("\0".join(described).encode("utf-8", "surrogatepass")).hexdigest()

    def _needs_blank(self) -> bool:
        """Whether a word is cut as inside a sentence only with a blank before it.

        So it is for tokenizers that join that blank to the word's first piece: byte-level BPE, and others that
        are found by comparing both ways with what becomes of a word inside a text. Where the blank is a piece
        of its own (characters, bytes) words go without it, or their first piece would be a blank.
        """
        if self._backend is not None:
            state = json.loads(self._backend.to_str()).get("pre_tokenizer") or {}
            for part in state.get("pretokenizers", [state]):
                if part.get("type") == "ByteLevel" and not part.get("add_prefix_space"):
                    return True
        return any(self._joins_blank(letter) for letter in ascii_lowercase)

    def _joins_blank(self, word: str) -> bool:
        pieces = self.texts([word, f"{word} {word}", f" {word}"])
        inside = pieces[1].tolist()[len(pieces[0]) :]
        alone = self._without_blank([word])[0].tolist()
        with_blank = pieces[2].tolist()
        return with_blank == inside != alone and len(with_blank) == len(alone)

    def words(self, words: Sequence[str]) -> Ragged:
        """Return the pieces of each word, cut as inside a sentence; a word may have none."""
        if self._blank_before_words:
            return self.texts([f" {word}" if word else "" for word in words])
        return self._without_blank(words)

    def _without_blank(self, words: Sequence[str]) -> Ragged:
        if self._backend is None:
            return self._slow(words)
        return self._fast([[word] for word in words], pretokenized=True)

    def texts(self, texts: Sequence[str]) -> Ragged:
        """Return the pieces of each text, no special tokens."""
        return self._slow(texts) if self._backend is None else self._fast(texts)

    def texts_with_offsets(self, texts: Sequence[str]) -> tuple[Ragged, npt.NDArray[np.int32]]:
        """Return the pieces of each text and their character ranges, (pieces, 2), in code points."""
        if self._backend is None:
            raise InputError(
                f"{type(self._tokenizer).__name__} gives no character offsets, which question answering needs",
                where="tokenizer",
                mend="use a checkpoint with a tokenizer.json (a fast tokenizer)",
            )
        rows: list[list[int]] = []
        offsets: list[tuple[int, int]] = []
        for encoding in self._encodings(texts, pretokenized=False):
            rows.append(encoding.ids)
            offsets += encoding.offsets
        return Ragged.of(rows), np.array(offsets, np.int32).reshape(-1, 2)

    def _fast(self, inputs: Sequence[Any], pretokenized: bool = False) -> Ragged:
        return Ragged.of([encoding.ids for encoding in self._encodings(inputs, pretokenized)])

    def _encodings(self, inputs: Sequence[Any], pretokenized: bool) -> Any:
        backend = self._backend
        assert backend is not None
        for at in range(0, len(inputs), CHUNK):
            yield from backend.encode_batch(
                list(inputs[at : at + CHUNK]),
                is_pretokenized=pretokenized,
                add_special_tokens=False,
            )

    def _slow(self, texts: Sequence[str]) -> Ragged:
        tokenizer = self._tokenizer
        return Ragged.of(
            [tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text)) for text in texts]
        )


def _template(tokenizer: Any, uses_token_types: bool) -> Template:
    """Find the special tokens by encoding a probe; works for every tokenizer class."""
    first, second = _probe_ids(tokenizer, "a"), _probe_ids(tokenizer, "b")
    if not first or not second:
        raise InputError(
            "the tokenizer makes nothing of the letters a and b",
            where="tokenizer",
            mend="give it an unknown token",
        )
    single = list(tokenizer("a")["input_ids"])
    both = tokenizer("a", "b", return_token_type_ids=True)
    pair = list(both["input_ids"])
    at = _find(single, first, 0)
    a = _find(pair, first, 0)
    b = _find(pair, second, a + len(first))
    end = b + len(second)
    types = (
        list(both.get("token_type_ids") or [0] * len(pair)) if uses_token_types else [0] * len(pair)
    )
    between = pair[a + len(first) : b]
    before, after = pair[:a], pair[end:]
    cls = tokenizer.cls_token_id
    return Template(
        single=(tuple(single[:at]), tuple(single[at + len(first) :])),
        pair=(tuple(before), tuple(between), tuple(after)),
        pair_types=(
            types[0],
            types[a],
            types[a + len(first)] if between else types[a],
            types[b],
            types[-1],
        ),
        cls_position=before.index(cls) if cls in before else 0,
        cut_specials=3 if len(between) >= 2 else 2,
    )


def _probe_ids(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _find(ids: list[int], part: list[int], at: int) -> int:
    while ids[at : at + len(part)] != part:
        at += 1
        if at + len(part) > len(ids):
            raise InputError(
                "the special tokens could not be told from the text's pieces", where="tokenizer"
            )
    return at
