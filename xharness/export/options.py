"""What a record does not know and an export may say: when, where and by whom."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal, get_args
from urllib.parse import urlsplit

from xharness.errors import InputError

Relationship = Literal["first_party", "third_party", "collaborative", "other"]
_DATASET_ID = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_RELATIONSHIPS: tuple[Relationship, ...] = get_args(Relationship)


@dataclass(frozen=True)
class ExportOptions:
    """Options of an export.

    Attributes:
        date: When the evaluation was run, ISO 8601.
        source_url: Where the records or the paper can be read.
        developer: Who made the models whose reference does not tell it.
        organization: Who ran the evaluation.
        dataset: Id on the hub of the data set of tasks whose specification names none.
        relationship: What that is to the developer.
    """

    date: str | None = None
    source_url: str | None = None
    developer: str | None = None
    organization: str | None = None
    dataset: str | None = None
    relationship: Relationship = "other"

    @classmethod
    def checked(
        cls,
        *,
        date: str | None = None,
        source_url: str | None = None,
        developer: str | None = None,
        organization: str | None = None,
        dataset: str | None = None,
        relationship: str = "other",
    ) -> ExportOptions:
        """Make options from what was typed.

        Raises:
            InputError: A value is of the wrong form.
        """
        if date is not None:
            _moment(date)
        if source_url is not None:
            parts = urlsplit(source_url)
            if parts.scheme not in ("http", "https") or not parts.netloc:
                raise InputError(
                    f"{source_url!r} is no web address", where="--source-url", mend="https://..."
                )
        for flag, value in (("--developer", developer), ("--organization", organization)):
            if value is not None and not value.strip():
                raise InputError("the name is empty", where=flag)
        if developer is not None and "/" in developer:
            raise InputError(f"{developer!r} holds a slash", where="--developer")
        if dataset is not None and not _DATASET_ID.fullmatch(dataset):
            raise InputError(f"{dataset!r} is no data set id", where="--dataset", mend="owner/name")
        known = next((name for name in _RELATIONSHIPS if name == relationship), None)
        if known is None:
            raise InputError(
                f"unknown relationship {relationship!r}",
                where="--relationship",
                mend=f"one of {', '.join(_RELATIONSHIPS)}",
            )
        return cls(date, source_url, developer, organization, dataset, known)

    @property
    def timestamp(self) -> float | None:
        """The date as seconds since 1970, UTC where it names no zone."""
        return None if self.date is None else _moment(self.date).timestamp()


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(
            f"{text!r} is no ISO 8601 date",
            where="--date",
            mend=f"for example {date(2025, 1, 31)} or 2025-01-31T10:30:00Z",
        ) from error
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
