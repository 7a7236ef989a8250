"""The command line: one verb a function. torch is imported only by the verbs that need it."""

from __future__ import annotations

import sys
from typing import Any

import typer

# Each module registers its verbs, which --help lists in this order.
from xharness.cli import specifications, evaluation, results, pretraining, analyses, machine  # isort: skip
from xharness.cli.app import app
from xharness.errors import InputError

__all__ = [
    "analyses",
    "app",
    "evaluation",
    "machine",
    "main",
    "pretraining",
    "results",
    "specifications",
]

#: The base of all errors of usage. Some releases of typer carry their own click, so it is reached through typer.
_UsageError: Any = typer.BadParameter.__bases__[0]

_INTERRUPTED = 130
_STOPPED = "xharness: stopped; the same command continues"


def main() -> None:
    """Run a verb; wrong use or unusable input ends in one line on stderr and exit code 2."""
    try:
        _check_text(sys.argv[1:])
        code = app(standalone_mode=False)
    except InputError as error:
        print(f"xharness: {error}", file=sys.stderr)
        sys.exit(2)
    except _UsageError as error:
        message = " ".join(error.format_message().split())
        print(f"xharness: {message}", file=sys.stderr)
        sys.exit(2)
    except (typer.Abort, KeyboardInterrupt):
        print(_STOPPED, file=sys.stderr)
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:
        sys.exit(141)
    if code == _INTERRUPTED:  # typer turns Ctrl-C inside a verb into this code
        print(_STOPPED, file=sys.stderr)
    sys.exit(code if isinstance(code, int) else 0)


def _check_text(arguments: list[str]) -> None:
    """Refuse arguments that are not UTF-8: they would fail only when a record that quotes them is written."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"argument {argument!r} is not UTF-8") from error
