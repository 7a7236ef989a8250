"""The list of tasks, protocols and suites that ``xharness tasks`` prints."""

from __future__ import annotations

from tabulate import tabulate

from xharness.specs.registry import available, available_protocols, benchmark_of_suite, load
from xharness.specs.suite import Suite
from xharness.specs.task import TaskSpec


def list_tasks(suite: str | None = None) -> str:
    """Return a table of the tasks, of one suite or all; without a suite, also of the protocols and of the suites.

    Raises:
        InputError: There is no such suite.
    """
    if suite is None:
        tasks = [load(TaskSpec, name) for name in available(TaskSpec)]
    else:
        tasks = list(benchmark_of_suite(suite).tasks)
    rows = [
        [
            task.name,
            task.kind,
            task.category,
            len(task.languages),
            task.metric,
            "+".join(task.score_figures("official")),
            task.licence,
        ]
        for task in tasks
    ]
    header = ["task", "kind", "category", "languages", "metric", "score", "licence"]
    text = tabulate(rows, header, "simple")
    if suite is not None:
        return text
    protocols = {name: load(TaskSpec, name) for name in available_protocols()}
    settings = [[name, task.name, task.protocol.setting] for name, task in protocols.items()]
    suites = [load(Suite, name) for name in available(Suite)]
    listed = [[s.name, len(s.tasks), ", ".join(s.categories), s.recipe] for s in suites]
    return "\n\n".join(
        (
            text,
            tabulate(settings, ["protocol", "task", "setting"], "simple"),
            tabulate(listed, ["suite", "tasks", "categories", "recipe"], "simple"),
        )
    )
