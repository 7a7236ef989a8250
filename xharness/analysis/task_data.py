"""The task and the data that an analysis reads, named as ``run`` names them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xharness.data.sources import DataSource, FileDataSource
from xharness.errors import InputError
from xharness.sample import DATA as SAMPLE_DATA
from xharness.specs.recipe import Settings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec


def open_task(name: str, data: str | None) -> tuple[TaskSpec, DataSource]:
    """Load a task's specification and open its data.

    Args:
        name: Name or YAML file of the task.
        data: A folder, ``sample``, ``hub`` or ``hub:<revision>``; the task's own folder where absent.

    Raises:
        InputError: There is no such task, or no data.
    """
    task = load(TaskSpec, name)
    if data is None and task.sources.files is not None:
        data = task.sources.files.root
    if data is None:
        raise InputError(
            f"no data given for {task.name}",
            where="--data",
            mend="give the folder in the layout of XTREME's download, or --data hub",
        )
    if data == "sample":
        return task, FileDataSource(SAMPLE_DATA)
    if data == "hub" or data.startswith("hub:"):
        from xharness.data.hub import HubDataSource

        return task, HubDataSource(data.partition(":")[2] or None)
    return task, FileDataSource(Path(data))


def languages_with_data(
    task: TaskSpec, source: DataSource, wanted: Sequence[str] | None
) -> list[str]:
    """Return the test languages to look at, in the task's order.

    Args:
        task: The task.
        source: Where its data come from.
        wanted: Those asked for; all that have data where absent.

    Raises:
        InputError: A language asked for is none of the task's, or no language has data.
    """
    if wanted is not None:
        unknown = [language for language in wanted if language not in task.languages]
        if unknown:
            raise InputError(
                f"{', '.join(unknown)}: no language of {task.name}",
                where="--languages",
                mend=f"some of {', '.join(task.languages)}",
            )
        return [language for language in task.languages if language in wanted]
    found = [language for language in task.languages if source.has(task, "test", language)]
    if not found:
        raise InputError(f"no test file of {task.name}", where="--data")
    return found


def window_settings(max_length: int) -> Settings:
    """Return settings whose windows hold so many pieces, special tokens included.

    Raises:
        InputError: Fewer than 8.
    """
    if max_length < 8:
        raise InputError(f"windows of {max_length} pieces", where="--max-length", mend="8 or more")
    return Settings(max_length=max_length, max_query_length=1)
