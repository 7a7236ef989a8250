"""Results through a URL, for machines that share no folder: S3, GCS, HDFS and whatever else fsspec opens."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import fsspec

from xharness.errors import InputError
from xharness.files import written_aside
from xharness.runs.plan import Unit
from xharness.runs.receipts import Receipt, ReceiptStore, receipt_name


class Store:
    """A folder behind a URL that mirrors a run's folder.

    A stage's files are sent before its receipt, which holds their digests, so that half a transfer is never
    taken for a whole one.

    Args:
        url: Such as ``s3://bucket/runs/xlmr``.

    Raises:
        InputError: The URL's protocol is unknown, or its package is not installed.
    """

    def __init__(self, url: str):
        self.url = url
        try:
            self._files, self._root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise InputError(f"cannot be opened: {error}", where=url) from error

    def send(self, folder: Path, names: Iterable[str]) -> None:
        """Copy files, named by their paths below the run's folder, into the store.

        Raises:
            InputError: The store refuses.
        """
        for name in names:
            target = self._path(name)
            try:
                self._files.makedirs(str(PurePosixPath(target).parent), exist_ok=True)
                self._files.put_file(str(folder / name), target)
            except OSError as error:
                raise InputError(f"cannot be written: {error}", where=target) from error

    def fetch(self, folder: Path, names: Iterable[str]) -> None:
        """Copy those of the files that the store has into the run's folder.

        Raises:
            InputError: The store refuses, or a name leads out of the folder.
        """
        for name in names:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts:
                raise InputError(f"{name!r} leads out of the folder", where=self.url)
            try:
                if not self._files.isfile(self._path(name)):
                    continue
                with written_aside(folder / name) as aside:
                    self._files.get_file(self._path(name), str(aside))
            except OSError as error:
                raise InputError(f"cannot be read: {error}", where=self._path(name)) from error

    def keep(self, folder: Path, stage: str, receipt: Receipt) -> None:
        """Send what a finished stage left, its receipt last."""
        self.send(folder, (*receipt.outputs, receipt_name(stage)))

    def fetch_unit(self, folder: Path, unit: Unit, *, checkpoints: bool) -> None:
        """Fetch what a unit has finished so far.

        Args:
            folder: The run's folder on this machine.
            unit: The unit.
            checkpoints: Whether to fetch fine-tuned models too, which only their unit needs.
        """
        receipts = ReceiptStore(folder)
        for stage in unit.stages():
            if stage.kind == "score":
                continue
            self.fetch(folder, [receipt_name(stage.name)])
            if checkpoints or stage.kind == "predict":
                self.fetch(folder, receipts.missing_of(stage.name))

    def _path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"
