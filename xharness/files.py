"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from xharness.errors import InputError


@contextmanager
def written_aside(path: Path, name: str | None = None) -> Iterator[Path]:
    """Yield a path beside ``path`` to write to; it takes the place of ``path`` at the end.

    Where writing fails, nothing of it stays: half a file would fill a full disk for good.

    Args:
        path: The file to be.
        name: Name of the file aside, where two processes may write ``path`` at the same time.
    """
    aside = path.with_name(name or f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield aside
        aside.replace(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise


@contextmanager
def folder_aside(path: Path) -> Iterator[Path]:
    """Yield a new, empty folder beside ``path`` to fill; it takes the place of ``path`` at the end.

    What lies at ``path`` is removed first. Where filling fails, nothing of it stays.

    Raises:
        InputError: A folder cannot be made or renamed.
    """
    aside = path.with_name(f".{path.name}.partial")
    try:
        for old in (aside, path):
            shutil.rmtree(old, ignore_errors=True)
        aside.mkdir(parents=True)
        yield aside
        aside.rename(path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def write_text(path: Path, text: str | Iterable[str]) -> None:
    """Write a UTF-8 file aside and rename it.

    Args:
        path: The file.
        text: All of it, or its pieces in order, which need not be in memory together.

    Raises:
        InputError: The folder or file cannot be written, or the text holds half a character.
    """
    with text_aside(path) as write:
        for piece in [text] if isinstance(text, str) else text:
            write(piece)


@contextmanager
def text_aside(path: Path, name: str | None = None) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes a piece of a UTF-8 file aside; the file takes the place of ``path`` at the end.

    Errors of whoever writes pass through; where there are any, nothing of the file stays.

    Args:
        path: The file to be.
        name: Name of the file aside, where two processes may write ``path`` at the same time.

    Raises:
        InputError: The folder or file cannot be written, or a piece holds half a character.
    """
    with ExitStack() as stack:
        with _refusals_told(path):
            aside = stack.enter_context(written_aside(path, name))
            file = aside.open("w", encoding="utf-8", newline="\n")
        stack.callback(_closed, file)

        def write(piece: str) -> None:
            with _refusals_told(path):
                file.write(piece)

        yield write
        with _refusals_told(path):
            file.close()
            stack.close()


def _closed(file: TextIO) -> None:
    """Close a file that may hold what a full disk did not take; that was told when it was written."""
    with suppress(OSError):
        file.close()


@contextmanager
def _refusals_told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from error
    except UnicodeEncodeError as error:
        code = ord(error.object[error.start])
        raise InputError(
            f"cannot be written: U+{code:04X} is half a character", where=path
        ) from error


def write_json(path: Path, content: Any) -> None:
    """Write JSON with an indent of 2, as ``write_text`` does."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def unwritable(path: Path, error: OSError) -> InputError:
    """Return what a user is told of a file or folder that cannot be written."""
    return InputError(
        f"cannot be written: {error.strerror or error}",
        where=path,
        mend="make room or use another folder; what is finished is kept",
    )
