"""``xharness analyze``: looking into encoders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from xharness.cli.app import app

analyze = typer.Typer(help="Look into encoders.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(analyze, name="analyze")

Models = Annotated[list[str], typer.Argument(metavar="MODEL...", help="Checkpoints or hub ids.")]
Data = Annotated[
    str | None, typer.Option(help="Data folder, or 'hub'; the task's own where absent.")
]
Languages = Annotated[str | None, typer.Option(help="Only these languages, separated by commas.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Examples a language at most.")]
MaxLength = Annotated[int, typer.Option(min=8, help="Pieces of a text at most.")]
Device = Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")]
DType = Annotated[str, typer.Option(help="float32, bfloat16 or auto.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the figures here too.")]
Figure = Annotated[Path | None, typer.Option(help="Draw them here: .svg, .pdf or .png.")]


@analyze.command("parameters", epilog="Example: xharness analyze parameters --json parameters.json")
def parameters(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL...",
            help="Checkpoints or pre-training configurations; the RemBERT paper's tables where absent.",
        ),
    ] = None,
    json_: Json = None,
) -> None:
    """Count parameters in pre-training and in fine-tuning, beside printed counts."""
    from xharness.analysis.parameters_command import ParametersCommand

    typer.echo(ParametersCommand(tuple(models or ()), json_).execute())


@analyze.command(
    "retrieval", epilog="Example: xharness analyze retrieval xlm-roberta-base --data download"
)
def retrieval(
    models: Models,
    task: Annotated[str, typer.Option(help="A retrieval task.")] = "tatoeba",
    data: Data = None,
    languages: Languages = None,
    limit: Limit = None,
    max_length: MaxLength = 128,
    device: Device = "auto",
    dtype: DType = "auto",
    json_: Json = None,
    figure: Figure = None,
) -> None:
    """Find translations by the states of each layer (RemBERT, section 6.3)."""
    from xharness.analysis.retrieval_command import RetrievalCommand

    typer.echo(
        RetrievalCommand(
            tuple(models),
            task=task,
            data=data,
            languages=_several(languages),
            limit=limit,
            max_length=max_length,
            device=device,
            dtype=dtype,
            json_file=json_,
            figure=figure,
        ).execute()
    )


@analyze.command(
    "embeddings", epilog="Example: xharness analyze embeddings runs/coupled/model --words men.csv"
)
def embeddings(
    models: Models,
    words: Annotated[list[Path], typer.Option(help="File of rated word pairs; may be repeated.")],
    json_: Json = None,
    figure: Figure = None,
) -> None:
    """Correlate input and output embeddings with human word similarity (RemBERT, section 6.1)."""
    from xharness.analysis.embeddings_command import EmbeddingsCommand

    typer.echo(
        EmbeddingsCommand(
            tuple(models), words=tuple(words), json_file=json_, figure=figure
        ).execute()
    )


@analyze.command(
    "fertility", epilog="Example: xharness analyze fertility xlm-roberta-base --data download"
)
def fertility(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Checkpoint or hub id.")],
    task: Annotated[str, typer.Option(help="The task whose texts are cut into pieces.")] = "udpos",
    data: Data = None,
    languages: Languages = None,
    limit: Limit = None,
    max_length: MaxLength = 128,
    records: Annotated[
        list[Path] | None,
        typer.Option(help="Records or run folders to set the figures beside; may be repeated."),
    ] = None,
    json_: Json = None,
    figure: Figure = None,
) -> None:
    """Count pieces per word, unknown pieces and truncation by language."""
    from xharness.analysis.fertility_command import FertilityCommand

    typer.echo(
        FertilityCommand(
            model,
            task=task,
            data=data,
            languages=_several(languages),
            limit=limit,
            max_length=max_length,
            records=tuple(records or ()),
            json_file=json_,
            figure=figure,
        ).execute()
    )


@analyze.command(
    "probing", epilog="Example: xharness analyze probing xlm-roberta-base --data download"
)
def probing(
    models: Models,
    probes: Annotated[
        str | None, typer.Option(help="Which, separated by commas; all that have data by default.")
    ] = None,
    data: Data = None,
    pos_task: Annotated[str | None, typer.Option(help="Task of the POS probe.")] = None,
    entity_task: Annotated[str | None, typer.Option(help="Task of the entity probe.")] = None,
    treebanks: Annotated[
        Path | None, typer.Option(help="Folder of CoNLL-U files for the arcs.")
    ] = None,
    languages: Languages = None,
    limit: Annotated[int, typer.Option(min=1, help="Test sentences a language at most.")] = 200,
    limit_train: Annotated[int, typer.Option(min=1, help="Training sentences at most.")] = 1000,
    max_length: MaxLength = 128,
    per_layer: Annotated[
        bool, typer.Option("--per-layer/--mix-only", help="Probe each layer alone too.")
    ] = True,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the training items.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the probes.")] = 1,
    device: Device = "auto",
    dtype: DType = "auto",
    json_: Json = None,
    figure: Figure = None,
) -> None:
    """Probe the layers of a frozen encoder for POS, entities and arcs (RemBERT, section 6.2)."""
    from xharness.analysis.probe import ProbeSettings
    from xharness.analysis.probing_command import ProbingCommand

    typer.echo(
        ProbingCommand(
            tuple(models),
            probes=_several(probes),
            data=data,
            pos_task=pos_task,
            entity_task=entity_task,
            treebanks=treebanks,
            languages=_several(languages),
            limit=limit,
            limit_train=limit_train,
            max_length=max_length,
            per_layer=per_layer,
            settings=ProbeSettings(epochs=epochs, seed=seed),
            device=device,
            dtype=dtype,
            json_file=json_,
            figure=figure,
        ).execute()
    )


@analyze.command(
    "layers",
    epilog="Example: xharness analyze layers xlm-roberta-base --task xnli --data download --output runs/layers",
)
def layers(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Checkpoint or hub id.")],
    output: Annotated[Path, typer.Option(help="Folder of the runs; earlier ones continue.")],
    task: Annotated[list[str], typer.Option(help="Task to score; may be repeated.")],
    drop: Annotated[int, typer.Option(min=1, help="Layers to drop at most.")] = 4,
    data: Data = None,
    languages: Languages = None,
    recipe: Annotated[str | None, typer.Option(help="Recipe name or YAML file.")] = None,
    seeds: Annotated[str, typer.Option(help="Seeds, separated by commas.")] = "42",
    limit: Limit = None,
    limit_train: Annotated[
        int | None, typer.Option(min=1, help="Training examples at most.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE of a setting; may be repeated.")
    ] = None,
    device: Device = "auto",
    dtype: DType = "auto",
    json_: Json = None,
    figure: Figure = None,
) -> None:
    """Delete the last layers one by one, fine-tune and score (RemBERT, section 6.2)."""
    from xharness.analysis.layers_command import LayersCommand
    from xharness.runs.command import RunCommand

    run = RunCommand(
        model=model,
        output=output,
        suite=None,
        tasks=tuple(task),
        languages=languages,
        data=data,
        recipe=recipe,
        seeds=seeds,
        limit=limit,
        limit_train=limit_train,
        overrides=tuple(set_ or ()),
        profile="official",
        finetune=True,
        device=device,
        dtype=dtype,
        tokens=None,
    )
    typer.echo(LayersCommand(run=run, drop=drop, json_file=json_, figure=figure).execute())


def _several(text: str | None) -> tuple[str, ...] | None:
    return tuple(text.split(",")) if text else None
