"""Checks of data folders: what is wrong or odd about their files, with file and line, before anything is trained."""

from __future__ import annotations

from xharness.data.checks.checking import check_data
from xharness.data.checks.findings import Finding, Severity, select_findings
from xharness.data.checks.rendering import render_findings

__all__ = ["Finding", "Severity", "check_data", "render_findings", "select_findings"]
