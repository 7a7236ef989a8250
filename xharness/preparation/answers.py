"""Answer offsets of extractive question answering: checked, and repaired where they can be."""

from __future__ import annotations

from collections import Counter

from xharness.errors import InputError


def repair_answer(
    context: str, text: str, start: int, where: str, counts: Counter[str]
) -> tuple[str, int]:
    """An answer and its offset, in code points, such that ``context.startswith(text, start)``.

    What is tried, in this order, each counted under its name:

    - the offset is right;
    - ``offsets_before_blanks``: it stands on blanks before the answer, whose own were stripped;
    - ``byte_offsets``: it counts UTF-8 bytes (google-research-datasets/tydiqa issue 9), also with
      blanks before the answer;
    - ``utf16_offsets``: it counts UTF-16 units, so that U+10000 and above count twice;
    - ``offsets_searched``: the answer occurs exactly once, elsewhere.

    Last, blanks at the answer's edges are taken off and the offset moved along (``edge_blanks``):
    scorers ignore them, and a span model cannot predict them. An answer of no text at all stays
    as it is (``blank_answers``); the official scripts blank the answers of test sets.

    Args:
        context: The paragraph.
        text: The answer.
        start: Its offset as the file has it.
        where: File and example id for the error.
        counts: Gets the counters.

    Raises:
        InputError: The answer is not at the offset in any of these ways.
    """
    if not text.strip():
        counts["blank_answers"] += 1
        return text, start
    right, repair = _locate(context, text, start)
    if right is None:
        raise InputError(
            f"answer {text!r} is not at offset {start}",
            where=where,
            mend="offsets count code points of the context",
        )
    if repair:
        counts[repair] += 1
    stripped = text.strip()
    if stripped != text:
        counts["edge_blanks"] += 1
        right += len(text) - len(text.lstrip())
    return stripped, right


def _locate(context: str, text: str, start: int) -> tuple[int | None, str]:
    """The right offset, or None; and the name of the repair, empty where none was needed."""
    if start >= 0:
        if context.startswith(text, start):
            return start, ""
        moved = _after_blanks(context, start)
        if context.startswith(text, moved):
            return moved, "offsets_before_blanks"
        for encoding, unit, name in (
            ("utf-8", 1, "byte_offsets"),
            ("utf-16-le", 2, "utf16_offsets"),
        ):
            characters = _characters(context, start * unit, encoding)
            if characters is not None:
                for candidate in (characters, _after_blanks(context, characters)):
                    if context.startswith(text, candidate):
                        return candidate, name
    if context.count(text) == 1:
        return context.index(text), "offsets_searched"
    return None, ""


def _after_blanks(context: str, start: int) -> int:
    while start < len(context) and context[start].isspace():
        start += 1
    return start


def _characters(context: str, size: int, encoding: str) -> int | None:
    """How many code points the first ``size`` bytes hold; None inside a character."""
    # JSON may hold lone surrogates, which no encoding takes: such a context has no byte offsets.
    try:
        return len(context.encode(encoding)[:size].decode(encoding))
    except UnicodeError:
        return None
