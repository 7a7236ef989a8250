"""Reading and writing records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from xharness.data.lines import decode, read_bytes
from xharness.data.readers.json_text import parse_json
from xharness.errors import InputError
from xharness.files import write_text
from xharness.records.record import SCHEMA_VERSION, Record


def file_name(task: str, seed: int) -> str:
    """Return the name of a record's file."""
    return f"{task}-seed-{seed}.json"


def write_record(record: Record, folder: Path) -> Path:
    """Seal a record and write it aside, then rename."""
    path = folder / file_name(record.task, record.seed)
    try:
        text = record.sealed().model_dump_json(indent=2) + "\n"
    except PydanticSerializationError as error:
        raise InputError("holds half a character, which no file takes", where=path) from error
    write_text(path, text)
    return path


def read_record(path: Path) -> Record:
    """Read one record.

    Raises:
        InputError: It is no record of this schema version, or was changed after it was written.
    """
    try:
        raw = parse_json(decode(read_bytes(path), path, Counter()), path)
    except InputError as error:
        raise InputError(f"no readable record: {error.what}", where=error.where) from error
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if version != SCHEMA_VERSION:
        raise InputError(
            f"schema version {version!r}, this xharness reads {SCHEMA_VERSION}", where=path
        )
    try:
        record = Record.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise InputError(f"{key}: {first['msg']}", where=path) from error
    if record.digest() != record.content_sha256:
        raise InputError(
            "the content does not fit its digest: the record was changed by hand",
            where=path,
            mend="make it again with the command it holds",
        )
    return record


def read_records(paths: Iterable[Path]) -> list[Record]:
    """Read records from files, from ``records`` folders and from run folders, in a fixed order.

    Raises:
        InputError: A path holds no record.
    """
    records = []
    for path in paths:
        folder = path / "records" if (path / "records").is_dir() else path
        files = sorted(folder.glob("*.json")) if folder.is_dir() else [folder]
        if not files:
            raise InputError("no record here", where=path, mend="give a run folder or record files")
        records += [read_record(file) for file in files]
    return records
