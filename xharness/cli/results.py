"""The verbs on finished results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from xharness.cli.app import app


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
