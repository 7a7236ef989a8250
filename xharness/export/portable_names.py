"""File names made from names that others chose."""

from __future__ import annotations

import re

_UNSAFE = re.compile(r"[^\w.+-]", re.ASCII)
_RESERVED = {"con", "prn", "aux", "nul", "data"} | {
    f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10)
}
_LONGEST = 96


def portable_name(name: str) -> str:
    """Return a name as one path component that every file system takes and that leads nowhere else.

    Letters, digits, ``.``, ``+``, ``-`` and ``_`` stay, anything else becomes ``_``. Names that Windows
    reserves, and ``data``, which Every Eval Ever reserves, get a ``_`` in front.
    """
    safe = _UNSAFE.sub("_", name)[:_LONGEST].lstrip(".").rstrip(".") or "_"
    return f"_{safe}" if safe.split(".", 1)[0].casefold() in _RESERVED else safe
