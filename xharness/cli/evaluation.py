"""The verbs that score models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from xharness.cli.app import app


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
    processes: Annotated[
        int,
        typer.Option(
            min=1, help="Processes that fine-tune together, each with a GPU or a share of the CPUs."
        ),
    ] = 1,
    name: Annotated[
        str | None, typer.Option(help="Name of the model in tables; by default the reference's.")
    ] = None,
    executor: Annotated[str, typer.Option(help="local or ray.")] = "local",
    workers: Annotated[
        int | None,
        typer.Option(help="Units side by side on this machine, each in a process of its own."),
    ] = None,
    address: Annotated[
        str | None, typer.Option(help="Ray cluster: host:port of its head, or auto.")
    ] = None,
    unit_cpus: Annotated[int, typer.Option(help="Ray: CPUs of a unit.")] = 1,
    shard: Annotated[
        str | None,
        typer.Option(help="Only part i/n of the units; a later run without it gathers all."),
    ] = None,
    store: Annotated[
        str | None, typer.Option(help="Ray: URL for results where machines share no folder.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and stop.")] = False,
) -> None:
    """Fine-tune on English, predict all test languages, score, write records and tables."""
    from xharness.runs.command import RunCommand
    from xharness.runs.execution import Execution

    execution = Execution.checked(executor, workers, address, unit_cpus, shard, store)
    code = RunCommand(
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
        processes=processes,
        name=name,
        execution=execution,
    ).execute(dry_run=dry_run)
    raise typer.Exit(code)


@app.command(
    epilog="Example: xharness score --predictions predictions --labels labels --output scores.json"
)
def score(
    predictions: Annotated[
        Path,
        typer.Option(
            help="Folder, .zip or tar archive with <task>/test-<language>.tsv or .json; may be partial."
        ),
    ],
    labels: Annotated[Path, typer.Option(help="Folder with the gold files, laid out alike.")],
    output: Annotated[Path, typer.Option(help="Where scores.json is written.")],
    suite: Annotated[str, typer.Option(help="Suite name or YAML file.")] = "xtreme",
    profile: Annotated[str, typer.Option(help="official, official-2020 or strict.")] = "official",
    check: Annotated[
        bool, typer.Option("--check", help="Run seqeval beside ours and fail on a difference.")
    ] = False,
) -> None:
    """Score prediction files alone; no model, no torch."""
    import json

    from xharness.files import write_text
    from xharness.scoring import check_with_seqeval, score_submission
    from xharness.specs.registry import benchmark_of_suite
    from xharness.submission.archive import submission_folder

    benchmark = benchmark_of_suite(suite)
    with submission_folder(predictions) as folder:
        scores = score_submission(folder, labels, benchmark, profile)
        if check:
            compared = check_with_seqeval(folder, labels, benchmark, profile)
            typer.echo(f"{compared} figures equal seqeval's", err=True)
    write_text(output, json.dumps(scores, indent=2, ensure_ascii=False) + "\n")
    for name, task in scores["tasks"].items():
        if task["score"] is not None or task["metrics"][next(iter(task["metrics"]))]:
            typer.echo(f"{name:<16}{_percent(task['score'])}")
    for name, value in (*scores["categories"].items(), ("overall", scores["overall"])):
        typer.echo(f"{name:<16}{_percent(value)}")
    if scores["missing"]:
        typer.echo(
            f"{len(scores['missing'])} languages are missing or unscored: see {output}", err=True
        )


def _percent(value: float | None) -> str:
    return f"{'-' if value is None else format(value, '.2f'):>6}"


@app.command(epilog="Example: xharness submit runs/xlmr --output submission")
def submit(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a finished run.")],
    output: Annotated[Path, typer.Option(help="Folder of the submission; must not exist.")],
    suite: Annotated[str, typer.Option(help="Suite name or YAML file.")] = "xtreme",
    seed: Annotated[
        int | None, typer.Option(help="Which seed's predictions; needed where there are several.")
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Allow missing languages and limited runs.")
    ] = False,
) -> None:
    """Write and check an XTREME submission folder."""
    from xharness.specs.registry import benchmark_of_suite
    from xharness.submission.folder import write_submission

    report = write_submission(run_folder, output, benchmark_of_suite(suite), seed, partial)
    for line in report.lines():
        typer.echo(line)
