"""The ``doctor`` verb: everything that a run rests on, looked at in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from xharness.doctor.findings import Finding
from xharness.doctor.folders import cache_folders, examine_folders
from xharness.doctor.installation import (
    examine_extras,
    examine_shipped_files,
    examine_versions,
    parsed_requirements,
)
from xharness.doctor.machine import examine_devices, examine_hub


def diagnose(
    caches: Mapping[str, Path] | None = None, requirements: Sequence[str] | None = None
) -> tuple[Finding, ...]:
    """Look at everything that a run rests on; nothing is changed and nothing is left behind.

    Args:
        caches: Cache folders by name; those in use where absent.
        requirements: Requirements as package metadata state them; the installed package's where absent.
    """
    parts: list[tuple[str, Callable[[], Iterator[Finding]]]] = [
        ("versions", lambda: examine_versions(parsed_requirements(requirements))),
        ("extras", lambda: examine_extras(parsed_requirements(requirements))),
        ("devices", examine_devices),
        ("folders", lambda: examine_folders(cache_folders() if caches is None else caches)),
        ("hub", examine_hub),
        ("shipped", examine_shipped_files),
    ]
    findings: list[Finding] = []
    for section, part in parts:
        try:
            findings.extend(part())
        except Exception as error:  # a library that breaks on import is what the report is for
            found = f"{type(error).__name__}: {error}"
            findings.append(Finding(section, "not examined", found, fault=True))
    return tuple(findings)
