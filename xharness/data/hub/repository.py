"""A data set repository at one commit: its configurations, and its tables as ``datasets`` loads them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from xharness.data.lines import digest
from xharness.errors import InputError

#: Splits by configuration; the splits are ``None`` where the card leaves them to the files' names.
Configurations = Mapping[str, frozenset[str] | None]

_CARD = "README.md"
_OFFLINE_MEND = "connect once to fill the cache below HF_HOME, or read files with --data DIR"


@dataclass(frozen=True)
class LoadedTable:
    """One split of one configuration.

    Attributes:
        table: The rows, a ``pyarrow.Table`` mapped from the cache.
        features: The ``datasets`` features by column.
        revision: Commit that the rows belong to; ``sha256:`` and a digest for a local copy.
    """

    table: Any
    features: Mapping[str, Any]
    revision: str


@dataclass(frozen=True)
class Repository:
    """A repository of the hub at one commit, or a local copy.

    Attributes:
        name: What messages and records call it.
        commit: Commit hash; ``None`` for a local copy.
        folder: Folder of a local copy; ``None`` on the hub.
        configurations: As the card lists them; ``None`` where it lists none.
    """

    name: str
    commit: str | None
    folder: Path | None
    configurations: Configurations | None

    @property
    def where(self) -> str:
        """The repository and its commit, for messages."""
        return self.name if self.commit is None else f"{self.name}@{self.commit[:12]}"

    def has(self, configuration: str | None, split: str) -> bool:
        """Return whether the card lists the split; true where the card lists nothing."""
        if self.configurations is None or configuration is None:
            return True
        if configuration not in self.configurations:
            return False
        splits = self.configurations[configuration]
        return splits is None or split in splits

    def load(self, configuration: str | None, split: str) -> LoadedTable:
        """Load a split, from the cache where it is there.

        Raises:
            InputError: No such configuration or split, the hub cannot be reached, or the cache holds
                another commit.
        """
        self._check(configuration, split)
        try:
            with _quiet():
                if self.folder is not None:
                    return _load_folder(self.folder, configuration, split)
                return _load_commit(self.name, str(self.commit), configuration, split)
        except InputError:
            raise
        except Exception as error:  # the library stack raises many types, none of them for users
            raise self._explained(error, configuration, split) from error

    def _check(self, configuration: str | None, split: str) -> None:
        if self.has(configuration, split):
            return
        known = self.configurations or {}
        if configuration is not None and configuration in known:
            splits = ", ".join(sorted(known[configuration] or ()))
            raise InputError(
                f"configuration {configuration} has no split {split!r}",
                where=self.where,
                mend=f"splits: {splits}",
            )
        raise InputError(
            f"no configuration {configuration!r}",
            where=self.where,
            mend=_nearest(configuration, known),
        )

    def _explained(self, error: Exception, configuration: str | None, split: str) -> InputError:
        what = f"{configuration} {split} cannot be loaded"
        if isinstance(error, ConnectionError) or "find cache" in str(error):
            return InputError(
                f"{what}: the hub cannot be reached, and the cache does not hold it",
                where=self.where,
                mend=_OFFLINE_MEND,
            )
        return InputError(f"{what}: {_first_line(error)}", where=self.where)


def find_on_hub(name: str, revision: str) -> Repository:
    """Resolve a revision to its commit and read the card; both come from the cache where the hub is offline.

    Args:
        name: Repository id, ``owner/name``.
        revision: Commit, tag or branch.

    Raises:
        InputError: No such repository or revision, or it is neither reachable nor cached.
    """
    from huggingface_hub import HfApi, hf_hub_download
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    where = f"{name}@{revision}"
    try:
        with _quiet():
            try:
                card = Path(hf_hub_download(name, _CARD, repo_type="dataset", revision=revision))
            except LocalEntryNotFoundError:  # an EntryNotFoundError too, but not the hub's word
                raise
            except EntryNotFoundError:
                return Repository(
                    name, HfApi().dataset_info(name, revision=revision).sha, None, None
                )
            return Repository(name, card.parent.name, None, _configurations(card))
    except InputError:
        raise
    except LocalEntryNotFoundError as error:
        raise InputError(
            "the hub cannot be reached, and the cache does not hold this revision",
            where=where,
            mend=_OFFLINE_MEND,
        ) from error
    except GatedRepoError as error:
        raise InputError(
            "access is gated",
            where=where,
            mend="ask for access on the hub and log in with `hf auth login`",
        ) from error
    except RepositoryNotFoundError as error:
        raise InputError("the hub has no such data set, or it is private", where=where) from error
    except RevisionNotFoundError as error:
        raise InputError(
            f"no revision {revision!r}", where=where, mend="give a commit, tag or branch"
        ) from error
    except Exception as error:  # the library stack raises many types, none of them for users
        raise InputError(f"cannot be resolved: {_first_line(error)}", where=where) from error


def find_in_folder(name: str, folder: Path) -> Repository:
    """Read the card of a local copy of a repository.

    Raises:
        InputError: The folder holds no card, or one that does not read.
    """
    card = folder / _CARD
    if not card.is_file():
        raise InputError(
            f"no {_CARD}, which lists the configurations", where=folder, mend="copy it along"
        )
    with _quiet():
        return Repository(name, None, folder, _configurations(card))


def _load_commit(name: str, commit: str, configuration: str | None, split: str) -> LoadedTable:
    import datasets

    def load() -> tuple[Any, set[Path]]:
        data = datasets.load_dataset(
            name, configuration, split=split, revision=commit, keep_in_memory=False
        )
        return data, {Path(file["filename"]).parent for file in data.cache_files}

    # Where the hub does not answer, datasets falls back to the commit that it cached last, whatever was asked
    # for. The cache folder bears the name of the commit that the rows are really from.
    data, folders = load()
    wanted = {folder.with_name(commit) for folder in folders}
    if folders != wanted and all(folder.is_dir() for folder in wanted):
        for folder in wanted:
            folder.touch()
        data, folders = load()
    if folders != wanted:
        raise InputError(
            f"{configuration} {split} is cached at {', '.join(sorted(f.name for f in folders))} only, "
            f"not at {commit}",
            where=name,
            mend="connect to fetch it, or give the cached commit with --data hub:COMMIT",
        )
    return LoadedTable(data.with_format("arrow")[:], dict(data.features), commit)


def _load_folder(folder: Path, configuration: str | None, split: str) -> LoadedTable:
    import datasets

    path = str(folder.resolve())
    builder = datasets.load_dataset_builder(path, configuration)
    files = [Path(file) for group in builder.config.data_files.values() for file in group]
    revision = _digest_all([*files, folder / _CARD], folder)
    # The cache of datasets knows a local folder by its name and card alone: without a place of their own,
    # changed files, or another folder of that name, would be answered with stale rows.
    cache = Path(datasets.config.HF_DATASETS_CACHE) / f"local-{revision}"
    data = datasets.load_dataset(
        path, configuration, split=split, cache_dir=str(cache), keep_in_memory=False
    )
    return LoadedTable(data.with_format("arrow")[:], dict(data.features), f"sha256:{revision}")


def _digest_all(files: list[Path], folder: Path) -> str:
    root = folder.resolve()
    lines = sorted(f"{f.resolve().relative_to(root).as_posix()}\0{digest(f)}\n" for f in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _configurations(card: Path) -> Configurations | None:
    from huggingface_hub import DatasetCard

    try:
        listed = DatasetCard.load(card).data.to_dict().get("configs")
        if listed is None:
            return None
        return {entry["config_name"]: _splits(entry.get("data_files")) for entry in listed}
    except Exception as error:  # YAML errors, wrong shapes, undecodable bytes
        raise InputError(
            f"the card's metadata do not read: {_first_line(error)}", where=card
        ) from error


def _splits(data_files: Any) -> frozenset[str] | None:
    if isinstance(data_files, list) and all(isinstance(entry, dict) for entry in data_files):
        return frozenset(str(entry["split"]) for entry in data_files)
    return None


def _nearest(name: str | None, known: Configurations) -> str:
    near = get_close_matches(str(name), known, n=3)
    if near:
        return f"nearest there: {', '.join(near)}"
    return f"it has {len(known)} configurations, such as {', '.join(sorted(known)[:3])}"


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence progress bars and warnings of the libraries, and their call to a download counter."""
    import datasets
    import huggingface_hub

    def restore_counter(value: bool) -> None:
        datasets.config.HF_UPDATE_DOWNLOAD_COUNTS = value

    with ExitStack() as stack:
        # datasets reports each load to a counter outside the hub's endpoint.
        stack.callback(restore_counter, datasets.config.HF_UPDATE_DOWNLOAD_COUNTS)
        datasets.config.HF_UPDATE_DOWNLOAD_COUNTS = False
        for utilities in (datasets.utils, huggingface_hub.utils):
            stack.callback(utilities.logging.set_verbosity, utilities.logging.get_verbosity())
            utilities.logging.set_verbosity_error()
            if not utilities.are_progress_bars_disabled():
                stack.callback(utilities.enable_progress_bars)
                utilities.disable_progress_bars()
        yield
