"""The application that verbs register with."""

from __future__ import annotations

from typing import Annotated

import typer

from xharness import __version__

app = typer.Typer(
    name="xharness",
    help="Fine-tune a multilingual encoder on English, score it in up to 40 languages.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"xharness {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
