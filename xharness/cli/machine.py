"""The verb on the machine itself."""

from __future__ import annotations

import typer

from xharness.cli.app import app


@app.command(epilog="Example: xharness doctor")
def doctor() -> None:
    """Show versions, devices and caches, what is missing and how to get it; exit code 1 at a fault."""
    from xharness.doctor.diagnosis import diagnose
    from xharness.doctor.findings import report

    findings = diagnose()
    typer.echo(report(findings))
    raise typer.Exit(1 if any(finding.fault for finding in findings) else 0)
