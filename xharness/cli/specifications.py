"""The verbs on specifications and data: what there is, and whether it is right."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from xharness.cli.app import app


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
    translations: Annotated[
        Path | None,
        typer.Option(
            help="Score this folder's translated files by BLEU and chrF, with --originals."
        ),
    ] = None,
    originals: Annotated[
        Path | None,
        typer.Option(help="Data folder with the originals that --translations are held against."),
    ] = None,
    json_: Annotated[
        Path | None, typer.Option("--json", help="Also write what --translations finds as JSON.")
    ] = None,
    suite: Annotated[str, typer.Option(help="The suite whose data the folder holds.")] = "xtreme",
    languages: Annotated[
        str | None, typer.Option(help="Only these languages, separated by commas.")
    ] = None,
    severity: Annotated[
        str,
        typer.Option(help="What to list of the data: error, warning (and worse) or note (all)."),
    ] = "note",
) -> None:
    """Check specification files, with --data a data folder, with --translations translated data.

    Exit code 1 where an error is found.
    """
    from xharness.cli.file_kinds import file_kinds
    from xharness.specs.linting import lint

    failed = False
    wanted = tuple(languages.split(",")) if languages else None
    translated = any(given is not None for given in (translations, originals, json_))
    if paths or (data is None and not translated):
        problems, checked = lint(paths or [], file_kinds())
        for problem in problems:
            typer.echo(problem, err=True)
        typer.echo(f"{checked} files checked, {len(problems)} problems")
        failed = bool(problems)
    if data is not None:
        from xharness.data.checks import check_data, render_findings, select_findings
        from xharness.specs.registry import benchmark_of_suite

        findings = check_data(data, benchmark_of_suite(suite), wanted)
        typer.echo(render_findings(select_findings(findings, severity)))
        failed = failed or any(finding.severity == "error" for finding in findings)
    if translated:
        _validate_translations(translations, originals, json_, suite, wanted)
    raise typer.Exit(1 if failed else 0)


def _validate_translations(
    translations: Path | None,
    originals: Path | None,
    json: Path | None,
    suite: str,
    languages: tuple[str, ...] | None,
) -> None:
    from xharness.errors import InputError
    from xharness.specs.registry import benchmark_of_suite
    from xharness.translation.translation_check import (
        check_translations,
        render_translations,
        write_translations,
    )

    if translations is None or originals is None:
        given = "--originals" if originals else "--translations" if translations else "--json"
        raise InputError(
            "translations are checked against originals",
            where=given,
            mend="give both --translations DIR and --originals DIR",
        )
    check = check_translations(translations, originals, benchmark_of_suite(suite), languages)
    typer.echo(render_translations(check))
    if json is not None:
        write_translations(check, json)


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
