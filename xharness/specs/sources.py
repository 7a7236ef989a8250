"""Where a task's data come from: path patterns below a data folder, or tables on the hub."""

from __future__ import annotations

from typing import Any, Literal

from xharness.specs.languages import LanguageCode, language_table
from xharness.specs.validation import SpecModel

#: A path pattern, or one for each part that a format reads (``source``, ``target``, ``gold``).
PathPattern = str | dict[str, str]


class FileSource(SpecModel):
    """Files below the data folder. Patterns may hold ``{language}``, ``{iso3}``, ``{english}`` and ``{name}``.

    Attributes:
        format: Name of the reader, see ``xharness.data.readers``.
        train: Pattern of the training split.
        dev: Pattern of the development split.
        test: Pattern of the test split.
        root: Data folder used where the user names none; ``sample`` is the one inside the package.
        options: Passed to the reader, such as column numbers.
        names: What ``{name}`` stands for in each language; the language code where it is not listed.
        test_stand_in: The split read in place of an absent test; the record and the table say so.
        train_stand_in: The split read in place of an absent train, likewise.
        sha256: Expected digests by path below the data folder.
        alternatives: Other layouts of the same data, tried in order where the files of this one are absent.
    """

    format: str
    train: PathPattern | None = None
    dev: PathPattern | None = None
    test: PathPattern
    root: str | None = None
    options: dict[str, Any] = {}
    names: dict[LanguageCode, str] = {}
    test_stand_in: Literal["dev"] | None = None
    train_stand_in: Literal["dev"] | None = None
    sha256: dict[str, str] = {}
    alternatives: tuple[FileSource, ...] = ()


class HubTable(SpecModel):
    """One split of a data set on the hub.

    Attributes:
        repository: Data set id; the source's own where absent.
        revision: Commit, tag or branch of that other repository; ``main`` where absent.
        config: Configuration name, may hold the placeholders of ``FileSource``.
        split: Split name on the hub.
        where: Rows to keep, as column to value; a value may hold placeholders.
        id_prefix: Rows to keep by the beginning of their id, may hold placeholders.
        columns: Columns that differ from the source's.
    """

    repository: str | None = None
    revision: str | None = None
    config: str | None = None
    split: str
    where: dict[str, str] = {}
    id_prefix: str | None = None
    columns: dict[str, str] = {}


class HubSource(SpecModel):
    """Tables on the Hugging Face hub, read through ``datasets``.

    Attributes:
        repository: Data set id.
        revision: Commit, tag or branch; the record holds the commit that it resolved to.
        format: Name of the row reader, see ``xharness.data.hub``.
        train: The training table.
        dev: The development table.
        test: The test table.
        columns: Column of each field of an example.
        names: What ``{name}`` stands for in each language.
        note: How these data differ from the official files; kept in the record.
    """

    repository: str
    revision: str = "main"
    format: str
    train: HubTable | None = None
    dev: HubTable | None = None
    test: HubTable
    columns: dict[str, str] = {}
    names: dict[LanguageCode, str] = {}
    note: str | None = None


class Sources(SpecModel):
    """Where the data come from; at least one of the two, but for tasks that are only scored."""

    files: FileSource | None = None
    hub: HubSource | None = None


def placeholders(language: str, names: dict[str, str]) -> dict[str, str]:
    """Return what the placeholders of a pattern stand for in a language."""
    entry = language_table()[language]
    return {
        "language": language,
        "iso3": entry.iso3,
        "english": entry.name,
        "name": names.get(language, language),
    }
