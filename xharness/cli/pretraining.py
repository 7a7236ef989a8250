"""The verb that makes an encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from xharness.cli.app import app


@app.command(epilog="Example: xharness pretrain coupled.yaml --text texts --output runs/coupled")
def pretrain(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG.yaml", help="Configuration of the pre-training.")
    ],
    output: Annotated[Path, typer.Option(help="Folder of the run; an earlier one continues.")],
    text: Annotated[
        Path | None,
        typer.Option(help="Folder of <language>.txt, plain or compressed; over the file's own."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE, such as encoder.hidden_size=256; may be repeated."),
    ] = None,
    prepared: Annotated[
        Path | None,
        typer.Option(help="Folder of tokenizer and token shards, to share them between runs."),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")] = "auto",
    dtype: Annotated[str, typer.Option(help="float32, bfloat16 or auto.")] = "auto",
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write figures for tensorboard too.")
    ] = False,
) -> None:
    """Pre-train the built-in encoder; under torchrun, on several devices."""
    from xharness.pretraining.command import PretrainCommand

    PretrainCommand(
        config=config,
        output=output,
        overrides=tuple(set_ or ()),
        text=text,
        prepared=prepared,
        device=device,
        dtype=dtype,
        tensorboard=tensorboard,
    ).execute()
