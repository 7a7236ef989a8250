"""A checkpoint's own tokenizer files, followed where transformers builds a fast tokenizer without all they say.

Since transformers 5 many tokenizer classes take no more than the vocabulary from the files and build the rest by
their own code. DeBERTa-v2's then lacks sentencepiece's NFKC table, so that full-width letters and punctuation become
unknown tokens; XLM-R's no longer joins runs of blanks; RemBERT's takes piece 2 for the unknown token.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sentencepiece import sentencepiece_model_pb2
from tokenizers import Tokenizer, normalizers
from transformers.utils import cached_file


def follow_files(tokenizer: Any, reference: str) -> None:
    """Make a fast tokenizer cut text as its checkpoint's files say.

    ``tokenizer.json`` is taken as it stands, with the tokens that ``tokenizer_config.json`` adds to it. Where
    there is only a sentencepiece model, its normalisation table is put in front if the class left it out.

    Args:
        tokenizer: A fast tokenizer; its backend is replaced or changed.
        reference: The checkpoint folder or hub id that it came from.

    Raises:
        Exception: The tokenizers library raises no narrower type for a damaged file.
    """
    path = checkpoint_file(reference, "tokenizer.json")
    if path is None:
        _restore_table(tokenizer)
        return
    backend = Tokenizer.from_file(str(path))
    for _, token in sorted(tokenizer.added_tokens_decoder.items()):
        if backend.token_to_id(token.content) is None:
            (backend.add_special_tokens if token.special else backend.add_tokens)([token])
    tokenizer._tokenizer = backend


def checkpoint_file(reference: str, name: str) -> Path | None:
    """Return a file of a checkpoint folder, or of a hub id by way of the hub's cache; ``None`` where it has none."""
    if Path(reference).is_dir():
        path = Path(reference) / name
        return path if path.is_file() else None
    found = cached_file(
        reference,
        name,
        _raise_exceptions_for_missing_entries=False,
        _raise_exceptions_for_connection_errors=False,
    )
    return None if found is None else Path(found)


def _restore_table(tokenizer: Any) -> None:
    file = getattr(tokenizer, "vocab_file", None)
    if not isinstance(file, str) or not file.endswith(".model"):
        return
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(Path(file).read_bytes())
    table = bytes(model.normalizer_spec.precompiled_charsmap)
    backend = tokenizer.backend_tokenizer
    built = json.loads(backend.to_str())["normalizer"] or {}
    if table and "Precompiled" not in json.dumps(built):
        rest = [] if backend.normalizer is None else [backend.normalizer]
        backend.normalizer = normalizers.Sequence([normalizers.Precompiled(table), *rest])
