"""Versions of what is installed, extras that are missing, and the files that belong to the package."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, entry_points, requires, version

from packaging.requirements import Requirement

from xharness.doctor.findings import Finding
from xharness.records.provenance import software
from xharness.sample import CHECKPOINT, DATA
from xharness.specs.paths import SPECS


def parsed_requirements(stated: Sequence[str] | None) -> Sequence[Requirement]:
    """Parse requirements; those of the installed package where none are stated, nothing where it is not installed."""
    if stated is None:
        try:
            stated = requires("xharness") or []
        except PackageNotFoundError:
            return []
    return [Requirement(line) for line in stated]


def examine_versions(requirements: Sequence[Requirement]) -> Iterator[Finding]:
    """Examine the package, Python and what the package needs in any case."""
    own = software()
    commit = f", commit {own['commit'][:12]}" if "commit" in own else ""
    dirty = ", with local changes" if own.get("dirty") == "yes" else ""
    yield Finding("versions", "xharness", f"{own['xharness']}{commit}{dirty}")
    if not requirements:
        yield Finding(
            "versions",
            "installation",
            "xharness runs from a folder and is not installed",
            "pip install .",
            fault=True,
        )
    yield Finding("versions", "python", f"{platform.python_version()} on {platform.platform()}")
    for requirement in requirements:
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            problem = _problem(requirement)
            found = problem or version(requirement.name)
            mend = f"pip install '{requirement.name}{requirement.specifier}'" if problem else None
            yield Finding("versions", requirement.name, found, mend, problem is not None)


def _problem(requirement: Requirement) -> str | None:
    """Return why a requirement is not met."""
    try:
        found = version(requirement.name)
    except PackageNotFoundError:
        return "missing"
    if requirement.specifier.contains(found, prereleases=True):
        return None
    return f"{found}, needs {requirement.specifier}"


def examine_extras(requirements: Sequence[Requirement]) -> Iterator[Finding]:
    """Examine what each extra needs; a missing one is no fault."""
    base = {str(r) for r in requirements if r.marker is None or r.marker.evaluate({"extra": ""})}
    for extra in sorted(_extra_names(requirements)):
        needed = [
            r
            for r in requirements
            if str(r) not in base and r.marker is not None and r.marker.evaluate({"extra": extra})
        ]
        problems = [f"{r.name} {problem}" for r in needed if (problem := _problem(r))]
        mend = f"pip install 'xharness[{extra}]'" if problems else None
        yield Finding("extras", extra, ", ".join(problems) or "installed", mend)


def _extra_names(requirements: Sequence[Requirement]) -> set[str]:
    """Return the names that markers ask of ``extra``."""
    names = set()
    for requirement in requirements:
        _, found, name = str(requirement.marker or "").partition('extra == "')
        if found:
            names.add(name.partition('"')[0])
    return names


def examine_shipped_files() -> Iterator[Finding]:
    """Examine specifications, the sample and the entry points of model adapters."""
    count = len(list((SPECS / "tasks").glob("*.yaml")))
    mend = "install xharness again"
    yield Finding(
        "shipped", "task specifications", f"{count} in {SPECS}", None if count else mend, not count
    )
    for name, path in (("sample model", CHECKPOINT / "model.safetensors"), ("sample data", DATA)):
        there = path.exists()
        found = f"{path}" if there else f"{path} is missing"
        yield Finding("shipped", name, found, None if there else mend, not there)
    names = sorted(point.name for point in entry_points(group="xharness.models"))
    yield Finding(
        "shipped",
        "model adapters",
        ", ".join(names) or "none registered",
        None if names else "pip install .",
        not names,
    )
