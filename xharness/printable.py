"""Text that is not ours, such as names, keys and file names, as a terminal or a page may show it."""

from __future__ import annotations

import unicodedata

#: Embeddings, overrides and isolates; letters of right-to-left scripts need none of them in a name.
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """Return text without control and direction characters, which could hide or forge what is shown.

    Line ends become spaces; the others, which no name needs, become U+FFFD so that it is seen that they were there.
    """
    found = []
    for character in text:
        if character in "\t\r\n\u2028\u2029":
            found.append(" ")
        elif unicodedata.category(character) in ("Cc", "Cs") or character in _DIRECTIONS:
            found.append("\ufffd")
        else:
            found.append(character)
    return "".join(found)


def on_one_line(text: str) -> str:
    """Return text on one line, control and direction characters as Python writes them in a string."""
    return "".join(ascii(one)[1:-1] if _breaks(one) else one for one in text)


def _breaks(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in _DIRECTIONS
