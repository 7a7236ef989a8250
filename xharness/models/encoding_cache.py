"""Encoded splits on disk: tokenised once for given data, tokenizer and settings."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from xharness.errors import InputError
from xharness.tasks.encoding import Encoding

E = TypeVar("E", bound=Encoding)

#: Part of every key; raised when an encoding of the same inputs would come out or be stored differently.
ENCODING_VERSION = 3


def cache_folder() -> Path:
    """Return ``XHARNESS_CACHE``, else ``xharness`` in the user's cache folder."""
    own = os.environ.get("XHARNESS_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "xharness"


def cached(kind: type[E], key_parts: tuple[str, ...], make: Callable[[], E]) -> E:
    """Return a cached encoding, or make and store it.

    A damaged cache file is replaced with a warning; a folder that cannot be written is done without.
    """
    key = hashlib.sha256("\0".join((str(ENCODING_VERSION), *key_parts)).encode()).hexdigest()
    path = cache_folder() / "encodings" / f"{key}.safetensors"
    if path.is_file():
        try:
            return kind.load(path)
        except InputError as error:
            warnings.warn(f"xharness: {error}; encoding again", stacklevel=2)
    encoding = make()
    with suppress(OSError):  # the cache only saves time
        encoding.save(path)
    return encoding
