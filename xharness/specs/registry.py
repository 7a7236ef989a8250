"""Finding specifications by name or by path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TypeVar

from xharness.errors import InputError
from xharness.specs.paths import SPECS
from xharness.specs.recipe import Recipe
from xharness.specs.suite import Suite
from xharness.specs.task import TaskSpec
from xharness.specs.validation import SpecModel, build
from xharness.specs.yaml_loading import load_document

M = TypeVar("M", bound=SpecModel)

_FOLDERS: dict[type[SpecModel], str] = {TaskSpec: "tasks", Suite: "suites", Recipe: "recipes"}

#: Shipped tasks under other protocols than zero-shot; a file's name is that of its task and more.
_PROTOCOLS = "protocols"


def available(model: type[SpecModel]) -> list[str]:
    """Return the names of all shipped specifications of a kind, sorted."""
    return _stems(_FOLDERS[model])


def available_protocols() -> list[str]:
    """Return the names of all shipped tasks under other protocols than zero-shot, sorted."""
    return _stems(_PROTOCOLS)


def _stems(folder: str) -> list[str]:
    return sorted(path.stem for path in (SPECS / folder).glob("*.yaml"))


@cache
def load(model: type[M], reference: str) -> M:
    """Load a task, suite or recipe by name, or from a ``.yaml`` path; a task also by the name of a protocol.

    Raises:
        InputError: There is none of that name (the nearest is suggested), or it does not validate.
    """
    noun = _FOLDERS[model].removesuffix("s")
    if reference.endswith((".yaml", ".yml")):
        path = Path(reference)
        if not path.is_file():
            raise InputError(
                "no such file", where=reference, mend=f"give a {noun} name or a YAML file"
            )
    else:
        folders = [_FOLDERS[model], *([_PROTOCOLS] if model is TaskSpec else [])]
        known = {name: folder for folder in folders for name in _stems(folder)}
        path = SPECS / known.get(reference, folders[0]) / f"{reference}.yaml"
        if reference not in known:
            near = get_close_matches(reference, known, n=1, cutoff=0.4)
            mend = (
                f"did you mean {near[0]!r}?" if near else f"see 'xharness tasks' for every {noun}"
            )
            raise InputError(f"no {noun} named {reference!r}", mend=mend)
    spec = build(model, load_document(path))
    name = getattr(spec, "name", path.stem)
    fits = path.stem.startswith(f"{name}_") if path.parent.name == _PROTOCOLS else path.stem == name
    if path.is_relative_to(SPECS) and not fits:
        raise InputError(f"name is {name!r} but the file is {path.name}", where=path)
    return spec


def training_chain(task: TaskSpec) -> tuple[TaskSpec, ...]:
    """Return the tasks that a task's model is fine-tuned on, in order; the last is the task itself.

    Where a protocol goes on from the English model, the task under the zero-shot protocol is the one before.

    Raises:
        InputError: An intermediate task does not exist, has no training set or another protocol than zero-shot, or
            leads back to one before it.
    """
    chain = [task.zero_shot(), task] if task.protocol.from_english else [task]
    while (name := chain[0].intermediate_task) is not None:
        before = load(TaskSpec, name)
        where = f"task {chain[0].name}, intermediate_task"
        if before.training is None:
            raise InputError(f"task {before.name} is not fine-tuned", where=where)
        if before.protocol.trains:
            raise InputError(f"{name} is not trained on English alone", where=where)
        if before.name in {later.name for later in chain}:
            raise InputError(f"{before.name} leads back to itself", where=where)
        chain.insert(0, before)
    return tuple(chain)


@dataclass(frozen=True)
class Benchmark:
    """A suite with its tasks loaded; what a run, a score and a table are about.

    Attributes:
        name: Suite name.
        title: Name in tables.
        tasks: Tasks in table order, with the suite's languages and score figures applied.
        categories: Names of the tasks in each category.
        overall: Names of the tasks in the overall score; empty where there is none.
        recipe: Recipe used where the user names none.
        category_average: Whether tables also show the mean over the categories.
    """

    name: str
    title: str
    tasks: tuple[TaskSpec, ...]
    categories: dict[str, tuple[str, ...]]
    overall: tuple[str, ...]
    recipe: str
    category_average: bool = False

    @property
    def data(self) -> str | None:
        """Data folder used where the user names none: the one that all tasks' specifications name."""
        roots = {task.sources.files.root if task.sources.files else None for task in self.tasks}
        return roots.pop() if len(roots) == 1 else None

    def task(self, name: str) -> TaskSpec:
        """Return the task of that name."""
        return next(task for task in self.tasks if task.name == name)


def benchmark_of_suite(reference: str) -> Benchmark:
    """Load a suite and all its tasks."""
    suite = load(Suite, reference)
    tasks: dict[str, TaskSpec] = {}
    for name, use in suite.tasks.items():
        changes = {key: value for key, value in use if value is not None}
        tasks[name] = load(TaskSpec, name).model_copy(update=changes)
    _check_distinct(tasks)
    return Benchmark(
        name=suite.name,
        title=suite.title,
        tasks=tuple(tasks.values()),
        categories={
            category: tuple(tasks[name].name for name in names)
            for category, names in suite.categories.items()
        },
        overall=tuple(tasks[name].name for name in suite.overall or suite.tasks),
        recipe=suite.recipe,
        category_average=suite.category_average,
    )


def benchmark_of_tasks(references: Sequence[str]) -> Benchmark:
    """Make a benchmark of single tasks, grouped by the tasks' own categories; it has no overall score."""
    named = {reference: load(TaskSpec, reference) for reference in references}
    _check_distinct(named)
    tasks = list({task.name: task for task in named.values()}.values())
    categories: dict[str, tuple[str, ...]] = {}
    for task in tasks:
        categories[task.category] = (*categories.get(task.category, ()), task.name)
    return Benchmark(
        name="-".join(task.name for task in tasks),
        title=", ".join(task.title for task in tasks),
        tasks=tuple(tasks),
        categories=categories,
        overall=(),
        recipe="xtreme",
    )


def _check_distinct(tasks: Mapping[str, TaskSpec]) -> None:
    """Refuse one task under two protocols or in two versions: they would share their files and their column."""
    first: dict[str, str] = {}
    for reference, task in tasks.items():
        other = first.setdefault(task.name, reference)
        if tasks[other] != task:
            raise InputError(
                f"{other} and {reference} are both the task {task.name}",
                mend="run them apart; a leaderboard shows both as rows",
            )
