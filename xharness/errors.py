"""The one error type that users see."""

from __future__ import annotations

from pathlib import Path

from xharness.printable import on_one_line


class InputError(Exception):
    """Wrong use or unusable input: printed as one line on stderr, exit code 2.

    A key or value that is quoted may hold anything; what would break the line or steer a terminal is shown
    as Python writes it in a string.

    Args:
        what: What is wrong, in a few words, with the offending value.
        where: The file, ``file:line``, key, option or example id.
        mend: What the user can do about it.
    """

    def __init__(self, what: str, *, where: str | Path | None = None, mend: str | None = None):
        self.what = on_one_line(what)
        self.where = None if where is None else on_one_line(str(where))
        self.mend = None if mend is None else on_one_line(mend)
        super().__init__(str(self))

    def __str__(self) -> str:
        line = self.what if self.where is None else f"{self.where}: {self.what}"
        return line if self.mend is None else f"{line} ({self.mend})"
