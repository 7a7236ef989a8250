"""What can be wrong with a file as text, whatever its format."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from xharness.data.checks.findings import FileReport
from xharness.data.lines import decode, read_bytes
from xharness.errors import InputError

#: Code points at which ``str.splitlines`` cuts beside LF. A CR counts unless an LF follows it.
_SEPARATORS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"

_LINE_SUFFIX = re.compile(r":(\d+)$")


def read_text(report: FileReport) -> str | None:
    """Return a file's text without its byte order mark, or ``None`` where it cannot be read; both are reported."""
    counts: Counter[str] = Counter()
    try:
        text = decode(read_bytes(report.path), report.path, counts)
    except InputError as error:
        report_error(report, error)
        return None
    if counts["byte_order_marks"]:
        report.hit("byte_order_mark", 1)
    return text


def read_lines(report: FileReport) -> list[str] | None:
    r"""Return a file's lines as the readers see them, split at ``\n`` only; report what another reader would not see.

    Blank lines at the end are left in.
    """
    text = read_text(report)
    if text is None:
        return None
    if "\r" in text:
        text = _without_carriage_returns(text, report)
    if not text.isascii():
        _no_break_spaces(text, report)
    for separator in _SEPARATORS:
        if separator in text:
            _separators(text, separator, report)
    if not text:
        return []
    return text.removesuffix("\n").split("\n")


def _without_carriage_returns(text: str, report: FileReport) -> str:
    # The last line may lack its LF; a CR at its end is a line end all the same.
    count = text.count("\r\n") + text.endswith("\r")
    if count:
        at = text.find("\r\n")
        line = text.count("\n", 0, at if at >= 0 else len(text)) + 1
        report.hit("carriage_returns", line, count=count)
        text = text.replace("\r\n", "\n").removesuffix("\r")
    if "\r" in text:
        _separators(text, "\r", report)
    return text


def _separators(text: str, separator: str, report: FileReport) -> None:
    about = f"U+{ord(separator):04X}"
    line, at = 1, 0
    for match in re.finditer(re.escape(separator), text):
        line += text.count("\n", at, match.start())
        at = match.start()
        report.hit("line_separators", line, about=about)


def _no_break_spaces(text: str, report: FileReport) -> None:
    if "\xa0" in text:
        for number, line in enumerate(text.split("\n"), start=1):
            if "\xa0" in line:
                report.hit("no_break_spaces", number)


def blank_end(lines: list[str], report: FileReport) -> None:
    """Take blank lines off the end and report them."""
    while lines and not lines[-1]:
        report.hit("blank_trailing_lines", len(lines))
        lines.pop()


def is_composed(text: str) -> bool:
    """Return whether a text is in NFC."""
    return text.isascii() or unicodedata.is_normalized("NFC", text)


def leading_quotes(cells: Iterable[tuple[int, str]], report: FileReport) -> None:
    """Report the cells that begin with a double quote, and how many of them a reader of quotes would not see end."""
    quoted = [(number, cell) for number, cell in cells if cell.startswith('"')]
    unbalanced = sum(cell.count('"') % 2 for _, cell in quoted)
    for number, cell in quoted:
        report.hit("leading_quotes", number, cell, about=f"{unbalanced} unbalanced among")


def report_error(report: FileReport, error: InputError) -> None:
    """Report a reader's error, with the line that it names."""
    match = _LINE_SUFFIX.search(error.where or "")
    report.hit("unreadable", int(match[1]) if match else None, about=f"{error.what}:")
