"""Checking specification files, for ``xharness validate``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xharness.errors import InputError
from xharness.specs.paths import SPECS
from xharness.specs.recipe import Recipe
from xharness.specs.registry import load, training_chain
from xharness.specs.suite import Suite
from xharness.specs.task import TaskSpec
from xharness.specs.validation import SpecError, SpecModel, build
from xharness.specs.yaml_loading import Document, load_document


def lint(paths: Sequence[Path]) -> tuple[list[str], int]:
    """Check files, or every shipped one.

    Args:
        paths: Files or folders of YAML files.

    Returns:
        One line for each problem, and the number of files checked.

    Raises:
        InputError: A path does not exist.
    """
    roots = list(paths) or [SPECS / name for name in ("tasks", "suites", "recipes")]
    files: list[Path] = []
    for path in roots:
        if not path.exists():
            raise InputError("no such file or folder", where=path)
        files += sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
    problems: list[str] = []
    for path in files:
        try:
            document = load_document(path)
            spec = build(_model_of(document), document)
            if isinstance(spec, Suite):
                for name in spec.tasks:
                    load(TaskSpec, name)
            elif isinstance(spec, TaskSpec):
                training_chain(spec)
        except SpecError as error:
            problems += error.problems
        except InputError as error:
            problems.append(str(error))
    return problems, len(files)


def _model_of(document: Document) -> type[SpecModel]:
    """Tell what a file specifies by the keys that only that kind of file has."""
    if "kind" in document.data or "sources" in document.data:
        return TaskSpec
    if "tasks" in document.data or "categories" in document.data:
        return Suite
    return Recipe
