"""The data source that reads each task's ``sources.hub``."""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches
from pathlib import Path

from xharness.data.examples import Split, SplitName
from xharness.data.hub.repository import LoadedTable, Repository, find_in_folder, find_on_hub
from xharness.data.hub.rows import ROW_READERS, select_rows
from xharness.data.sources import limited
from xharness.errors import InputError
from xharness.specs.task import HubSource, HubTable, TaskSpec, placeholders


class HubDataSource:
    """Splits from data set repositories of the Hugging Face hub, or from local copies of them.

    Args:
        revision: Commit, tag or branch of each task's repository, in place of the specification's. It does not
            hold for tables that name a repository of their own.
        repository: Another repository id in place of the specification's, or a local folder: either a copy of
            the task's repository, or a folder of copies under their ids (``google/xtreme`` ...).

    Raises:
        InputError: A revision is given for a local folder, which has none.
    """

    def __init__(self, revision: str | None = None, repository: str | None = None):
        folder = None if repository is None else Path(repository)
        self.folder = folder if folder is not None and folder.is_dir() else None
        if self.folder is None and folder is not None and len(folder.parts) != 2:
            raise InputError(
                "no such folder", where=repository, mend="give a folder, or an id owner/name"
            )
        if self.folder is not None and revision is not None:
            raise InputError(
                f"a local folder has no revision {revision!r}",
                where=repository,
                mend="leave it out",
            )
        self.revision = revision
        self.repository = None if self.folder is not None else repository
        self._repositories: dict[tuple[str, str], Repository] = {}
        self._tables: dict[tuple[str, str | None, str | None, str], LoadedTable] = {}

    def describe(self) -> dict[str, str]:
        """Name the kind of source; repository and commit are in each split's ``origin``."""
        if self.folder is not None:
            return {"source": "hub copy", "folder": self.folder.resolve().name}
        described = {"source": "hub"}
        if self.repository is not None:
            described["repository"] = self.repository
        if self.revision is not None:
            described["revision"] = self.revision
        return described

    def has(self, task: TaskSpec, split: SplitName, language: str) -> bool:
        """Return whether the task has such a table and the repository's card lists it.

        Raises:
            InputError: The card is neither reachable nor cached, so that it cannot be told.
        """
        hub = task.sources.hub
        table: HubTable | None = None if hub is None else getattr(hub, split)
        if hub is None or table is None:
            return False
        if self.folder is not None and self._copy(hub, table) is None:
            return False
        configuration = _filled(table.config, language, hub)
        return self._repository(hub, table).has(configuration, table.split)

    def read(self, task: TaskSpec, split: SplitName, language: str, limit: int | None) -> Split:
        """Read a split.

        Its origin holds ``repository``, ``config``, ``split``, ``revision`` (the commit, or ``sha256:`` and the
        digest of a local copy's files) and the specification's ``note``.
        """
        hub = _hub_source(task)
        table: HubTable | None = getattr(hub, split)
        if table is None:
            raise InputError(f"task {task.name} has no {split} split", where="sources.hub")
        repository = self._repository(hub, table)
        configuration = _filled(table.config, language, hub)
        loaded = self._load(repository, configuration, table.split)
        where = "/".join([repository.name, *filter(None, [configuration]), table.split])
        rows = select_rows(
            loaded,
            {**hub.columns, **table.columns},
            {column: str(_filled(value, language, hub)) for column, value in table.where.items()},
            _filled(table.id_prefix, language, hub),
            where,
        )
        counts: Counter[str] = Counter()
        examples = ROW_READERS[hub.format](rows, task, split, counts)
        origin = {
            "repository": repository.name,
            "config": configuration or "default",
            "split": table.split,
            "revision": loaded.revision,
        }
        if hub.note is not None:
            origin["note"] = hub.note
        result = Split(task.name, split, language, examples, +counts, origin, None, len(examples))
        return limited(result, limit)

    def _repository(self, hub: HubSource, table: HubTable) -> Repository:
        own = table.repository is None
        if self.folder is not None:
            copy = self._copy(hub, table)
            name = table.repository or hub.repository
            if copy is None:
                raise InputError(
                    f"no copy of {name}", where=self.folder, mend=f"put one at {self.folder / name}"
                )
            key = (name, str(copy))
            if key not in self._repositories:
                self._repositories[key] = find_in_folder(name, copy)
            return self._repositories[key]
        name = (self.repository or hub.repository) if own else str(table.repository)
        revision = (self.revision or hub.revision) if own else table.revision or "main"
        key = (name, revision)
        if key not in self._repositories:
            self._repositories[key] = find_on_hub(name, revision)
        return self._repositories[key]

    def _copy(self, hub: HubSource, table: HubTable) -> Path | None:
        """Return the folder of a table's repository, where the local folder holds it."""
        assert self.folder is not None
        below = self.folder / (table.repository or hub.repository)
        if below.is_dir():
            return below
        return self.folder if table.repository is None else None

    def _load(self, repository: Repository, configuration: str | None, split: str) -> LoadedTable:
        # The rows stay on disk; what is kept is the mapping, so that a table of all languages is opened once.
        key = (repository.name, repository.commit, configuration, split)
        if key not in self._tables:
            self._tables[key] = repository.load(configuration, split)
        return self._tables[key]


def _filled(pattern: str | None, language: str, hub: HubSource) -> str | None:
    return None if pattern is None else pattern.format_map(placeholders(language, hub.names))


def _hub_source(task: TaskSpec) -> HubSource:
    hub = task.sources.hub
    if hub is None:
        what = f"task {task.name} has no hub source"
        if task.method == "mining":
            what += ": the hub's tables hold gold pairs only, no corpus to mine"
        raise InputError(what, mend="read files with --data DIR")
    if hub.format not in ROW_READERS:
        near = get_close_matches(hub.format, ROW_READERS, n=1)
        raise InputError(
            f"unknown format {hub.format!r}",
            where=f"task {task.name}, sources.hub.format",
            mend=f"did you mean {near[0]!r}?" if near else f"formats: {', '.join(ROW_READERS)}",
        )
    return hub
