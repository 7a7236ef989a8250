"""The command line: one verb a function. torch is imported only by the verbs that need it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import click
import typer

from xharness import __version__
from xharness.errors import InputError

app = typer.Typer(
    name="xharness",
    help="Fine-tune a multilingual encoder on English, score it in up to 40 languages.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run a verb; wrong use or unusable input ends in one line on stderr and exit code 2."""
    try:
        code = app(standalone_mode=False)
    except InputError as error:
        print(f"xharness: {error}", file=sys.stderr)
        sys.exit(2)
    except click.ClickException as error:
        print(f"xharness: {error.format_message()}", file=sys.stderr)
        sys.exit(2)
    except (click.exceptions.Abort, KeyboardInterrupt):
        print("xharness: stopped; the same command continues", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
    sys.exit(code if isinstance(code, int) else 0)


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


@app.command(epilog="Example: xharness tasks --suite xtreme")
def tasks(
    suite: Annotated[str | None, typer.Option(help="Only the tasks of this suite.")] = None,
) -> None:
    """List tasks and suites: kind, category, languages, metric, licence."""
    from xharness.specs.listing import list_tasks

    typer.echo(list_tasks(suite))


@app.command(epilog="Example: xharness validate my_task.yaml")
def validate(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Spec files; all shipped ones where absent.")
    ] = None,
) -> None:
    """Check specification files; every message names file, line and key."""
    from xharness.specs.linting import lint

    problems, checked = lint(paths or [])
    for problem in problems:
        typer.echo(problem, err=True)
    typer.echo(f"{checked} files checked, {len(problems)} problems")
    raise typer.Exit(1 if problems else 0)


@app.command(epilog="Example: xharness run --suite sample --model sample --output runs/sample")
def run(
    model: Annotated[
        str,
        typer.Option(help="Checkpoint folder, hub id, <adapter>:<reference>, or 'sample'."),
    ],
    output: Annotated[Path, typer.Option(help="Folder of the run; an earlier one continues.")],
    suite: Annotated[str | None, typer.Option(help="Suite name or YAML file.")] = None,
    task: Annotated[
        list[str] | None, typer.Option(help="Task name or YAML file; may be repeated.")
    ] = None,
    languages: Annotated[
        str | None, typer.Option(help="Test languages, separated by commas.")
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="Data folder, or 'hub', or 'hub:<revision>'.")
    ] = None,
    recipe: Annotated[str | None, typer.Option(help="Recipe name or YAML file.")] = None,
    seeds: Annotated[str, typer.Option(help="Seeds, separated by commas.")] = "42",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Test and dev examples a language at most.")
    ] = None,
    limit_train: Annotated[
        int | None, typer.Option(min=1, help="Training examples at most.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE or NAME.KEY=VALUE of a setting; may be repeated."),
    ] = None,
    profile: Annotated[str, typer.Option(help="official, official-2020 or strict.")] = "official",
    finetune: Annotated[
        bool,
        typer.Option(
            "--finetune/--no-finetune", help="Without it the checkpoint must have the task's head."
        ),
    ] = True,
    device: Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")] = "auto",
    dtype: Annotated[str, typer.Option(help="float32, bfloat16 or auto.")] = "auto",
    tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Padded pieces in a micro-batch; never changes a step."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and stop.")] = False,
) -> None:
    """Fine-tune on English, predict all test languages, score, write records and tables."""
    from xharness.runs.command import RunCommand

    RunCommand(
        model=model,
        output=output,
        suite=suite,
        tasks=tuple(task or ()),
        languages=languages,
        data=data,
        recipe=recipe,
        seeds=seeds,
        limit=limit,
        limit_train=limit_train,
        overrides=tuple(set_ or ()),
        profile=profile,
        finetune=finetune,
        device=device,
        dtype=dtype,
        tokens=tokens,
    ).execute(dry_run=dry_run)
