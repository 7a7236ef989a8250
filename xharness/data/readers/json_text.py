"""Parsing JSON of unknown origin."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from xharness.errors import InputError

#: An escape that may be half of a surrogate pair.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str, path: Path, line: int = 1) -> Any:
    r"""Parse a JSON text.

    Args:
        text: The text.
        path: The file, for messages.
        line: Number of the line that the text begins with.

    Raises:
        InputError: Not JSON, nested too deeply, or with an escape such as ``\ud83d`` that is half a character:
            no tokenizer and no prediction file takes one.
    """
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{path}:{line + error.lineno - 1}"
        raise InputError(f"not JSON: {error.msg}", where=where) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; deep nesting
        raise InputError(f"not usable JSON: {error}", where=f"{path}:{line}") from error
    if _SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError(
                f"the escape \\u{ord(error.object[error.start]):04x} is half a character",
                where=f"{path}:{line}",
                mend="write the text in UTF-8, without escapes",
            ) from error
    return value
