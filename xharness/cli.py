"""The command line: one verb a function. torch is imported only by the verbs that need it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

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

#: The base of all errors of usage. Some releases of typer carry their own click, so it is reached through typer.
_UsageError: Any = typer.BadParameter.__bases__[0]


def main() -> None:
    """Run a verb; wrong use or unusable input ends in one line on stderr and exit code 2."""
    try:
        code = app(standalone_mode=False)
    except InputError as error:
        print(f"xharness: {error}", file=sys.stderr)
        sys.exit(2)
    except _UsageError as error:
        message = " ".join(error.format_message().split())
        print(f"xharness: {message}", file=sys.stderr)
        sys.exit(2)
    except (typer.Abort, KeyboardInterrupt):
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
    data: Annotated[Path | None, typer.Option(help="Check this data folder.")] = None,
    suite: Annotated[str, typer.Option(help="The suite whose data the folder holds.")] = "xtreme",
    languages: Annotated[
        str | None, typer.Option(help="Only these languages, separated by commas.")
    ] = None,
    severity: Annotated[
        str,
        typer.Option(help="What to list of the data: error, warning (and worse) or note (all)."),
    ] = "note",
) -> None:
    """Check specification files, and with --data a data folder; exit code 1 where an error is found."""
    from xharness.specs.linting import lint

    failed = False
    if paths or data is None:
        problems, checked = lint(paths or [])
        for problem in problems:
            typer.echo(problem, err=True)
        typer.echo(f"{checked} files checked, {len(problems)} problems")
        failed = bool(problems)
    if data is not None:
        from xharness.data.checks import check_data, render_findings, select_findings
        from xharness.specs.registry import benchmark_of_suite

        wanted = tuple(languages.split(",")) if languages else None
        findings = check_data(data, benchmark_of_suite(suite), wanted)
        typer.echo(render_findings(select_findings(findings, severity)))
        failed = failed or any(finding.severity == "error" for finding in findings)
    raise typer.Exit(1 if failed else 0)


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
    name: Annotated[
        str | None, typer.Option(help="Name of the model in tables; by default the reference's.")
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
        name=name,
    ).execute(dry_run=dry_run)


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


@app.command(epilog="Example: xharness prepare udpos --from ud-treebanks-v2.5 --output download")
def prepare(
    task: Annotated[
        str, typer.Argument(help="udpos, panx, xnli, pawsx, tydiqa, tatoeba or bucc2018.")
    ],
    from_: Annotated[Path, typer.Option("--from", help="Folder or file with the raw source.")],
    output: Annotated[Path, typer.Option(help="Data folder; files go to DIR/<task>/.")],
    official_boundaries: Annotated[
        bool,
        typer.Option(
            help="panx: end the sentence at a row without a token, as the official files do."
        ),
    ] = False,
) -> None:
    """Make the official files from raw sources, labels kept."""
    from xharness.preparation import prepare as prepare_task

    report = prepare_task(task, from_, output, official_boundaries=official_boundaries)
    for file in report.files:
        counted = ", ".join(f"{name} {number}" for name, number in sorted(file.counts.items()))
        typer.echo(f"{file.path}: {file.examples}" + (f" ({counted})" if counted else ""))
    for name in report.ignored:
        typer.echo(f"ignored: {name}", err=True)
    for name in report.missing:
        typer.echo(f"not in the source: {name}", err=True)


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


@app.command(epilog="Example: xharness leaderboard runs/xlmr --published --output board")
def leaderboard(
    output: Annotated[Path, typer.Option(help="Folder to write to.")],
    records: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RECORDS...", help="Run folders, folders of records, record files."),
    ] = None,
    suite: Annotated[
        str | None, typer.Option(help="Suite name or YAML file; all of the records' where absent.")
    ] = None,
    published: Annotated[bool, typer.Option("--published", help="Add the rows of papers.")] = False,
    formats: Annotated[
        str,
        typer.Option("--format", help="Some of md,html,csv,latex,json,parquet,svg,pdf, or all."),
    ] = "md,html,csv,latex,json,parquet",
    mixed: Annotated[
        bool, typer.Option("--mixed", help="Allow records of different profiles, data or settings.")
    ] = False,
) -> None:
    """Build tables and a page from records and published rows."""
    from xharness.leaderboards.command import LeaderboardCommand

    LeaderboardCommand(tuple(records or ()), suite, published, output, formats, mixed).execute()


@app.command(
    epilog="Example: xharness compare runs/before runs/after --gate gate.yaml --output report.md"
)
def compare(
    baseline: Annotated[
        Path, typer.Argument(help="Run folder, prediction files (folder or archive), or records.")
    ],
    candidate: Annotated[Path, typer.Argument(help="The same, of what is to be judged.")],
    gate: Annotated[
        Path | None, typer.Option(help="YAML file of what may drop; any significant drop without.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Write the report as markdown.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the checks as JUnit XML.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write everything as JSON.")] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Folder of gold files; by default beside the predictions.")
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help="Only this task; may be repeated.")] = None,
    suite: Annotated[
        str | None, typer.Option(help="Suite whose averages are wanted; by default the records'.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option(help="Scoring profile of prediction files without records.")
    ] = None,
    resamples: Annotated[int, typer.Option(help="Resamples behind each figure.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    level: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
) -> None:
    """Compare two results on the same examples; exit code 1 where something got worse, 2 where that cannot be told."""
    from xharness.comparison.command import CompareCommand

    raise typer.Exit(
        CompareCommand(
            baseline=baseline,
            candidate=candidate,
            labels=labels,
            suite=suite,
            tasks=tuple(task or ()),
            profile=profile,
            gate=gate,
            output=output,
            junit=junit,
            json=json,
            resamples=resamples,
            seed=seed,
            level=level,
        ).execute()
    )


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


@app.command(epilog="Example: xharness export runs/sample --to model-index --output cards")
def export(
    records: Annotated[
        list[Path],
        typer.Argument(metavar="RECORD", help="Record files, records folders or run folders."),
    ],
    to: Annotated[str, typer.Option(help="model-index, eval-results or every-eval-ever.")],
    output: Annotated[Path, typer.Option(help="Folder of the files.")],
    date: Annotated[
        str | None, typer.Option(help="When the evaluation was run, ISO 8601; records do not say.")
    ] = None,
    source_url: Annotated[
        str | None, typer.Option(help="Where the records or the paper can be read.")
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(help="Hub id of the data set of tasks whose specification names none."),
    ] = None,
    developer: Annotated[
        str | None, typer.Option(help="Who made a model that did not come from the hub.")
    ] = None,
    organization: Annotated[str | None, typer.Option(help="Who ran the evaluation.")] = None,
    relationship: Annotated[
        str,
        typer.Option(
            help="What that is to the developer: first_party, third_party, collaborative or other."
        ),
    ] = "other",
) -> None:
    """Write records as files for model cards, the hub and exchange between harnesses; no network."""
    from xharness.export.command import export_records
    from xharness.export.options import ExportOptions

    options = ExportOptions.checked(
        date=date,
        source_url=source_url,
        dataset=dataset,
        developer=developer,
        organization=organization,
        relationship=relationship,
    )
    report = export_records(records, to, output, options)
    for path in report.files:
        typer.echo(path)
    for line in report.warnings():
        typer.echo(line, err=True)


@app.command(epilog="Example: xharness doctor")
def doctor() -> None:
    """Show versions, devices and caches, what is missing and how to get it; exit code 1 at a fault."""
    from xharness.doctor.diagnosis import diagnose
    from xharness.doctor.findings import report

    findings = diagnose()
    typer.echo(report(findings))
    raise typer.Exit(1 if any(finding.fault for finding in findings) else 0)


analyze = typer.Typer(help="Analyse models.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(analyze, name="analyze")


@analyze.command("parameters", epilog="Example: xharness analyze parameters --json parameters.json")
def analyze_parameters(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL...",
            help="Checkpoints or pre-training configurations; the RemBERT paper's tables where absent.",
        ),
    ] = None,
    json_: Annotated[Path | None, typer.Option("--json", help="Write the rows here too.")] = None,
) -> None:
    """Count parameters in pre-training and in fine-tuning, beside printed counts."""
    from xharness.analysis.parameters_command import ParametersCommand

    typer.echo(ParametersCommand(tuple(models or ()), json_).execute())
