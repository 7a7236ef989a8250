"""Checking specification files, for ``xharness validate``."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from xharness.errors import InputError
from xharness.specs.paths import SPECS
from xharness.specs.recipe import Recipe
from xharness.specs.registry import load, training_chain
from xharness.specs.suite import Suite
from xharness.specs.task import TaskSpec
from xharness.specs.validation import SpecError, SpecModel, build
from xharness.specs.yaml_loading import Document, load_document


@dataclass(frozen=True)
class FileKind:
    """A kind of file that a later room reads, beside tasks, suites and recipes.

    Attributes:
        is_one: Whether a file with these keys at its top is of this kind.
        check: Reads one; raises ``InputError`` where it is wrong.
        shipped: Folder of the shipped ones in ``task_specs``, where there are any.
    """

    is_one: Callable[[Set[str]], bool]
    check: Callable[[Path], object]
    shipped: str | None = None


def lint(paths: Sequence[Path], kinds: Sequence[FileKind] = ()) -> tuple[list[str], int]:
    """Check files, or every shipped one.

    Args:
        paths: Files or folders of YAML files.
        kinds: Further kinds of files; the first that recognises a file checks it.

    Returns:
        One line for each problem, and the number of files checked.

    Raises:
        InputError: A path does not exist.
    """
    shipped = [kind.shipped for kind in kinds if kind.shipped is not None]
    names = ["tasks", "protocols", "suites", "recipes", *shipped]
    roots = list(paths) or [SPECS / name for name in names]
    files: list[Path] = []
    for path in roots:
        if not path.exists():
            raise InputError("no such file or folder", where=path)
        files += sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
    problems: list[str] = []
    for path in files:
        try:
            document = load_document(path)
            further = next((kind for kind in kinds if kind.is_one(document.data.keys())), None)
            if further is not None:
                further.check(path)
                continue
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
