"""Parsing JSON, with the line in every message, and without the long texts that nobody asked for."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import Any

from xharness.errors import InputError
from xharness.scoring.lines import decode

_VALUE_OPENS = re.compile(rb'\s*:\s*"')
_BACKSLASH = ord("\\")


def parse_json(data: bytes, path: Path, *, skip: str | None = None) -> tuple[Any, int]:
    """Parse JSON in UTF-8.

    Args:
        data: The bytes, without a byte order mark.
        path: The file, for messages.
        skip: Key whose strings may come back empty, which saves the time of decoding them.

    Returns:
        The value, and how many keys were given more than once in an object, always with the same value.

    Raises:
        InputError: The bytes are not UTF-8 or not JSON, are nested too deeply, or give a key two different values.
    """
    if skip is not None:
        with contextlib.suppress(InputError, ValueError, RecursionError):
            return _loads(without_strings(data, skip), path)
        # Whatever it was, the text as a whole gives the right line.
    try:
        return _loads(data, path)
    except json.JSONDecodeError as error:
        raise InputError(
            f"not JSON: {error.msg}", where=f"{path}:{error.lineno}", mend="write a JSON object"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"not usable JSON: {error}", where=path) from error


def _loads(data: bytes, path: Path) -> tuple[Any, int]:
    repeated = 0

    def as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        found = dict(pairs)
        if len(found) != len(pairs):
            repeated += len(pairs) - len(found)
            for key, value in pairs:
                if value != found[key]:
                    raise InputError(
                        f"two different values for the key {key!r}",
                        where=place_of(key, data, path),
                        mend="give it one value",
                    )
        return found

    return json.loads(decode(data, path), object_pairs_hook=as_object), repeated


def without_strings(data: bytes, key: str) -> bytes:
    r"""Empty the string values of a key in a JSON text.

    A quote inside a JSON string is escaped, so the key in quotes that no backslash precedes, followed by a colon, is
    a key, and its value ends at the first quote with an even number of backslashes before it.

    >>> without_strings(b'{"id": "1", "context": "a \\"b\\" c"}', "context")
    b'{"id": "1", "context": ""}'
    """
    quoted = json.dumps(key).encode()
    pieces: list[bytes] = []
    done = 0  # up to here the text has been dealt with
    found = data.find(quoted)
    while found >= 0:
        rest = found + len(quoted)
        opening = _VALUE_OPENS.match(data, rest)
        if opening and data[found - 1] != _BACKSLASH:
            pieces.append(data[done : opening.end()])
            rest = done = _closing_quote(data, opening.end())
            if done < 0:
                return data
        found = data.find(quoted, rest)
    pieces.append(data[done:])
    return b"".join(pieces)


def _closing_quote(data: bytes, start: int) -> int:
    """Return where the string that begins at ``start`` ends, or -1."""
    end = data.find(b'"', start)
    while end > start and data[end - 1] == _BACKSLASH:
        before = data[start:end]
        if (len(before) - len(before.rstrip(b"\\"))) % 2 == 0:
            break
        end = data.find(b'"', end + 1)
    return end


def place_of(key: str, data: bytes, path: Path) -> str:
    """Return ``file:line`` of the first place of a string in a JSON text, written with or without escapes."""
    for written in (json.dumps(key, ensure_ascii=False), json.dumps(key)):
        position = data.find(written.encode("utf-8", "surrogatepass"))
        if position >= 0:
            line = data.count(b"\n", 0, position) + 1
            return f"{path}:{line}"
    return str(path)
