"""Writing token ids into shard files."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from xharness.errors import InputError
from xharness.pretraining.shards import ShardFile, TokenArray


class ShardWriter:
    """Writes ids into files of a given length, each aside until it is whole; a context manager.

    Args:
        into: The folder.
        stem: Files are called ``<stem>.<number>.bin``.
        shard_tokens: Ids in one file; the last has fewer.

    Attributes:
        files: Those that are finished.

    Raises:
        InputError: A file cannot be written. Half a file is removed.
    """

    def __init__(self, into: Path, stem: str, shard_tokens: int):
        self.files: list[ShardFile] = []
        self._into = into
        self._stem = stem
        self._shard_tokens = shard_tokens
        self._open: BinaryIO | None = None
        self._hash = hashlib.sha256()
        self._tokens = 0

    @property
    def _path(self) -> Path:
        return self._into / f"{self._stem}.{len(self.files)}.bin"

    @property
    def _aside(self) -> Path:
        return self._into / f".{self._path.name}.partial"

    def write(self, ids: TokenArray) -> None:
        """Append ids."""
        try:
            while len(ids):
                if self._open is None:
                    self._open = self._aside.open("wb")
                taken = ids[: self._shard_tokens - self._tokens]
                content = taken.tobytes()
                self._open.write(content)
                self._hash.update(content)
                self._tokens += len(taken)
                ids = ids[len(taken) :]
                if self._tokens == self._shard_tokens:
                    self._finish()
        except OSError as error:
            raise self._unwritable(error) from error

    def _finish(self) -> None:
        if self._open is None:
            return
        self._open.close()
        self._open = None
        self._aside.replace(self._path)
        self.files.append(
            ShardFile(name=self._path.name, tokens=self._tokens, sha256=self._hash.hexdigest())
        )
        self._hash = hashlib.sha256()
        self._tokens = 0

    def _unwritable(self, error: OSError) -> InputError:
        return InputError(
            f"cannot be written: {error.strerror}",
            where=self._path,
            mend="free disk space or take another folder; finished languages are kept",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self._finish()
        except OSError as failure:
            raise self._unwritable(failure) from failure
        finally:
            if self._open is not None:
                with suppress(OSError):  # a full disk shows again when the buffer is emptied
                    self._open.close()
                self._aside.unlink(missing_ok=True)
