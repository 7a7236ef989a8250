"""Local data need no network, and a file that is not the expected one is refused by its digest."""

from __future__ import annotations

import hashlib
import socket
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.data.files import task_of
from tests.pitfalls.submission import write
from tests.small_run import command
from xharness.data.sources import FileDataSource
from xharness.errors import InputError
from xharness.records.store import read_records
from xharness.sample import DATA


def test_a_run_opens_no_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **_: Any) -> NoReturn:
        raise AssertionError(f"reached out: {arguments}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    run = command(
        tmp_path,
        suite=None,
        tasks=("sample_nli", "sample_retrieval"),
        languages="de,en",
        limit=3,
        limit_train=8,
    )
    run.execute()
    records = read_records([tmp_path])
    assert {record.languages["de"].status for record in records} == {"scored"}
    # The record holds the digest of every file that was read.
    name = "sample_nli/test-de.tsv"
    (nli,) = [record for record in records if record.task == "sample_nli"]
    digest = hashlib.sha256((DATA / name).read_bytes()).hexdigest()
    assert nli.data.test["de"] == {name: digest}
    assert set(nli.data.train) == {"sample_nli/train-en.tsv"}


def test_a_wrong_digest_names_file_expected_and_found(tmp_path: Path) -> None:
    path = write(tmp_path / "xnli/test-de.tsv", "a\tb\tneutral\n")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    expected = hashlib.sha256(b"the official file").hexdigest()
    task = task_of("xnli", sha256={"xnli/test-de.tsv": expected})
    with pytest.raises(InputError) as caught:
        FileDataSource(tmp_path).read(task, "test", "de", None)
    message = str(caught.value)
    assert str(path) in message
    assert found in message
    assert expected in message
